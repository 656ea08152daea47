// cordon-exec: what sandbox-exec becomes where no daemon does the work: `cordon exec` without all that no run needs,
// which would cost each of them a part of its start.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/verbs.h"

int main(int argc, char** argv) {
  // Its few threads hardly allocate; a heap for each of them would cost calls and pages.
  ::mallopt(M_ARENA_MAX, 1);
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
