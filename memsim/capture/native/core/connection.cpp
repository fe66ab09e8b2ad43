// The connection to the server: hello, requests, what happens after fork.

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "state.h"

namespace memsim {

State& state() {
  static State* only = new State;
  return *only;
}

namespace {

struct Header {
  uint32_t kind, status;
  uint64_t bytes;
};
static_assert(sizeof(Header) == 16);

bool write_all(int socket, const void* from, size_t n) {
  const auto* at = static_cast<const char*>(from);
  while (n) {
    ssize_t done = send(socket, at, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    n -= size_t(done);
  }
  return true;
}

bool read_all(int socket, void* to, size_t n) {
  auto* at = static_cast<char*>(to);
  while (n) {
    ssize_t done = recv(socket, at, n, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    n -= size_t(done);
  }
  return true;
}

// The first frame carries the memfd: its header is one message with ancillary data.
bool send_with_descriptor(int socket, const Header& header, int descriptor) {
  iovec part{const_cast<Header*>(&header), sizeof header};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* first = CMSG_FIRSTHDR(&message);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = SCM_RIGHTS;
  first->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(first), &descriptor, sizeof descriptor);
  ssize_t done;
  do done = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (done < 0 && errno == EINTR);
  return done == ssize_t(sizeof header);
}

void disconnect() {
  State& s = state();
  if (s.socket >= 0) close(s.socket);
  s.socket = -1;
}

bool read_reply(Reply& reply) {
  Header header{};
  if (!read_all(state().socket, &header, sizeof header)) return false;
  if (header.status == protocol::stop) {
    fflush(nullptr);
    _exit(0);
  }
  reply.status = Status(header.status);
  reply.payload.resize(header.bytes);
  return read_all(state().socket, reply.payload.data(), header.bytes);
}

std::string program_name() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, size_t(n)) : std::string();
}

// The child of a fork has no device. Its arena becomes a private copy, so that what it writes (into pinned memory, say)
// does not reach the parent; the preloaded malloc copies its half itself.
void become_child() {
  State& s = state();
  new (&s.lock) std::recursive_mutex;
  s.forked = true;
  s.connected = false;
  disconnect();
  forget_host_registrations();
  if (!s.arena) return;
  bool preloaded = memsim_host_memory_arena && memsim_host_memory_arena();
  uint64_t bytes = preloaded ? s.arena->bytes / 2 : s.arena->bytes;
  mmap(reinterpret_cast<void*>(s.arena->base), bytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, s.arena->descriptor, 0);
}

bool say_hello(const char* path) {
  State& s = state();
  s.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s.socket < 0) return false;
  int high = fcntl(s.socket, F_DUPFD_CLOEXEC, 600);
  if (high >= 0) {
    close(s.socket);
    s.socket = high;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return false;
  strcpy(address.sun_path, path);
  if (connect(s.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
  Arena& memory = arena();
  if (!memory.base) return false;
  Writer hello;
  hello.u32(protocol::version).u32(uint32_t(getpid())).u64(memory.base).u64(memory.bytes).text(program_name());
  Header header{protocol::hello, 0, hello.data().size()};
  if (!send_with_descriptor(s.socket, header, memory.descriptor)) return false;
  if (!write_all(s.socket, hello.data().data(), hello.data().size())) return false;
  Reply reply;
  if (!read_reply(reply) || reply.status) return false;
  Reader fields(reply.payload);
  parse_properties(fields.text());
  return true;
}

}  // namespace

bool connect_once() {
  State& s = state();
  Lock hold(s.lock);
  if (s.tried) return s.connected;
  s.tried = true;
  const char* path = getenv("MEMSIM_GPU_SOCKET");
  if (!path || !*path || s.forked) return false;
  pthread_atfork([] { state().lock.lock(); }, [] { state().lock.unlock(); }, become_child);
  s.connected = say_hello(path);
  if (!s.connected) disconnect();
  return s.connected;
}

bool has_device() { return connect_once(); }

Status ready() {
  if (!connect_once()) return status::no_device;
  return state().fault;
}

Status sticky_error() { return state().fault; }

Reply request(protocol::Kind kind, const Writer& payload) {
  State& s = state();
  Lock hold(s.lock);
  Reply reply;
  if (!connect_once()) {
    reply.status = status::no_device;
    return reply;
  }
  Header header{kind, 0, payload.data().size()};
  if (s.socket >= 0 && write_all(s.socket, &header, sizeof header) &&
      write_all(s.socket, payload.data().data(), payload.data().size()) && read_reply(reply))
    return reply;
  disconnect();
  s.fault = status::unknown;  // the server ended: nothing works any more
  reply.status = status::unknown;
  return reply;
}

void send_only(protocol::Kind kind, const Writer& payload) {
  State& s = state();
  Lock hold(s.lock);
  if (!connect_once() || s.socket < 0) return;
  Header header{kind, 0, payload.data().size()};
  if (!write_all(s.socket, &header, sizeof header) || !write_all(s.socket, payload.data().data(), payload.data().size()))
    disconnect();
}

Status unsupported(const char* name) {
  State& s = state();
  Lock hold(s.lock);
  if (s.reported.insert(name).second) send_only(protocol::unsupported, Writer().text(name));
  return status::not_supported;
}

void note(const std::string& line) { send_only(protocol::note, Writer().text(line)); }

}  // namespace memsim

// What stand-in libraries look up with dlsym.
extern "C" MEMSIM_API void memsim_note(const char* line) { memsim::note(line); }
// How often device memory was written so far, of which `more` just now by what the host computes for the GPU. Who
// repeats a computation with the same arguments finds its result if the number is the same.
extern "C" MEMSIM_API uint64_t memsim_device_writes(unsigned more) {
  memsim::Lock hold(memsim::state().lock);
  return memsim::state().writes += more;
}
extern "C" MEMSIM_API void memsim_unsupported(const char* function) { memsim::unsupported(function); }

int memsim_benchmark(unsigned op, unsigned flags, double* milliseconds, unsigned* launches) {
  memsim::Reply reply = memsim::request(memsim::protocol::benchmark, memsim::Writer().u32(op).u32(flags));
  if (reply.status) return reply.status;
  if (op == 1) {
    memsim::Reader fields(reply.payload);
    double ms = fields.f64();
    unsigned n = fields.u32();
    if (milliseconds) *milliseconds = ms;
    if (launches) *launches = n;
  }
  return 0;
}

int memsim_tuned(const char* report) {
  return memsim::request(memsim::protocol::tuned, memsim::Writer().text(report)).status;
}
