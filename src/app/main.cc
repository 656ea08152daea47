#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.h"

int main(int argc, char** argv) {
  std::vector<std::string> arguments = cordon::app::typed(argc, argv);
  cordon::app::CommandLine line;
  cordon::app::define_for(line, arguments.empty() ? "" : arguments.front());
  const int code = line.run(std::move(arguments));
  // All that is left is to free memory, and the kernel does that faster.
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);
}
