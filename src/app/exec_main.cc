// sandbox-exec: the same as `cordon exec`, and a program of its own: agents start it thousands of times a day, and what no
// run needs, it does not carry.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/verbs.h"

int main(int argc, char** argv) {
  std::vector<std::string> arguments = {"exec"};
  if (argc > 1) arguments.insert(arguments.end(), argv + 1, argv + argc);
  cordon::app::CommandLine line;
  cordon::app::define_exec(line);
  const int code = line.run(std::move(arguments));
  // All that is left is to free memory, and the kernel does that faster.
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);
}
