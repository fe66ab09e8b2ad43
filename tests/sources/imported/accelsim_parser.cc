// Reads what `memsim export accelsim` wrote with the Accel-Sim framework's own parser, and prints for each opcode the
// instructions, their active lanes, and the bytes and the sum of the addresses that these access.
#include <array>
#include <bitset>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "trace_parser.h"

int main(int, char** arguments) {
  trace_parser parser(arguments[1]);
  std::map<std::string, std::array<unsigned long, 4>> counts;
  for (auto& command : parser.parse_commandlist_file()) {
    if (command.m_type != kernel_launch) continue;
    kernel_trace_t* kernel = parser.parse_kernel_info(command.command_string);
    unsigned warps = (kernel->tb_dim_x * kernel->tb_dim_y * kernel->tb_dim_z + 31) / 32;
    unsigned long blocks = 1ul * kernel->grid_dim_x * kernel->grid_dim_y * kernel->grid_dim_z;
    for (unsigned long block = 0; block < blocks; ++block) {
      std::vector<std::vector<inst_trace_t>> instructions(warps);
      std::vector<std::vector<inst_trace_t>*> places;
      for (auto& warp : instructions) places.push_back(&warp);
      parser.get_next_threadblock_traces(places, kernel->trace_verion, kernel->ifs);
      for (auto& warp : instructions)
        for (auto& one : warp) {
          auto& count = counts[one.opcode];
          std::bitset<WARP_SIZE> mask(one.mask);
          count[0]++, count[1] += mask.count();
          if (one.memadd_info == nullptr) continue;
          count[2] += mask.count() * one.memadd_info->width;
          for (int lane = 0; lane < WARP_SIZE; ++lane)
            if (mask.test(lane)) count[3] += one.memadd_info->addrs[lane];
        }
    }
  }
  for (auto& [opcode, count] : counts) {
    std::cout << "opcode " << opcode;
    for (unsigned long each : count) std::cout << " " << each;
    std::cout << "\n";
  }
}
