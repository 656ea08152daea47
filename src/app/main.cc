#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string_view>
#include <vector>

#include "app/command_line.h"

int main(int argc, char** argv) {
  std::string_view called_as = argc > 0 ? argv[0] : "cordon";
  called_as.remove_prefix(called_as.rfind('/') + 1);
  cordon::app::CommandLine line;
  cordon::app::define_all(line);
  const int code = line.run(called_as, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  // All that is left is to free memory, and the kernel does that faster.
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);
}
