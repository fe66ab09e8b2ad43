// Runs the real ptxas and adds the PTX to the machine code that it made, as an ELF section.
//
// Packages that hand only machine code to the driver (Triton) are configured to use this program. The server executes the PTX.
// The real program is named by MEMSIM_PTXAS, or MEMSIM_PTXAS_BLACKWELL where this program is called ...-blackwell;
// without a name it is the ptxas found on PATH.

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

constexpr char section_name[] = ".memsim_ptx";  // fatbin.py looks for it

bool read_file(const std::string& path, std::string* content) {
  FILE* file = fopen(path.c_str(), "rb");
  if (!file) return false;
  char part[1 << 16];
  for (size_t n; (n = fread(part, 1, sizeof part, file));) content->append(part, n);
  fclose(file);
  return true;
}

bool write_file(const std::string& path, const std::string& content) {
  FILE* file = fopen(path.c_str(), "wb");
  if (!file) return false;
  const bool whole = fwrite(content.data(), 1, content.size(), file) == content.size();
  return !fclose(file) && whole;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && !text.compare(text.size() - end.size(), end.size(), end);
}

int run(const std::string& program, char** arguments) {
  const pid_t child = fork();
  if (!child) {
    execvp(program.c_str(), arguments);
    fprintf(stderr, "memsim: %s does not start: %s\n", program.c_str(), strerror(errno));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The ELF file with one more section; empty if it is no 64-bit ELF file with a table of sections.
std::string with_section(std::string elf, const std::string& content) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof header || memcmp(elf.data(), ELFMAG, SELFMAG)) return "";
  memcpy(&header, elf.data(), sizeof header);
  const size_t table_bytes = size_t(header.e_shnum) * sizeof(Elf64_Shdr);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff + table_bytes > elf.size()) return "";
  std::vector<Elf64_Shdr> sections(header.e_shnum + 1u);
  memcpy(sections.data(), elf.data() + header.e_shoff, table_bytes);
  Elf64_Shdr& names = sections[header.e_shstrndx];
  if (names.sh_offset + names.sh_size > elf.size()) return "";
  const std::string old_names = elf.substr(names.sh_offset, names.sh_size);
  Elf64_Shdr& added = sections.back();
  memset(&added, 0, sizeof added);
  added.sh_type = SHT_PROGBITS;
  added.sh_addralign = 1;
  added.sh_name = uint32_t(names.sh_size);
  added.sh_offset = elf.size();
  added.sh_size = content.size();
  elf += content;
  names.sh_offset = elf.size();
  names.sh_size += sizeof section_name;
  elf += old_names;
  elf.append(section_name, sizeof section_name);
  elf.resize((elf.size() + 7) / 8 * 8);
  header.e_shoff = elf.size();
  header.e_shnum += 1;
  elf.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  memcpy(&elf[0], &header, sizeof header);
  return elf;
}

std::string real_program(const std::string& name) {
  const char* variable = ends_with(name, "-blackwell") ? "MEMSIM_PTXAS_BLACKWELL" : "MEMSIM_PTXAS";
  for (const char* one : {variable, "MEMSIM_PTXAS"})
    if (const char* path = getenv(one)) return path;
  return "ptxas";
}

}  // namespace

int main(int count, char** arguments) {
  std::string input, output;
  for (int i = 1; i < count; ++i) {
    const std::string one = arguments[i];
    if ((one == "-o" || one == "--output-file") && i + 1 < count) {
      output = arguments[++i];
    } else if (one[0] != '-') {
      input = one;
    }
  }
  const int code = run(real_program(arguments[0]), arguments);
  std::string machine_code, text;
  if (code || output.empty() || !read_file(output, &machine_code) || !read_file(input, &text)) return code;
  const std::string both = with_section(machine_code, text);
  if (both.empty() || write_file(output, both)) return 0;
  fprintf(stderr, "memsim: %s cannot be written\n", output.c_str());
  return 1;
}
