// One function per verb: it adds the verb to the command line. Each stands in the file of its name.
#pragma once

#include "app/command_line.h"

namespace cordon::app {

void define_approver(CommandLine& line);
void define_version(CommandLine& line);
void define_manual(CommandLine& line);
void define_completion(CommandLine& line);

}  // namespace cordon::app
