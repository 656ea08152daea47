// One function per verb: it adds the verb to the command line. Each stands in the file of its name.
#pragma once

#include "app/command_line.h"

namespace cordon::app {

void define_check(CommandLine& line);
void define_exec(CommandLine& line);
void define_runs(CommandLine& line);
void define_preview(CommandLine& line);
void define_mass(CommandLine& line);
void define_run(CommandLine& line);
void define_serve(CommandLine& line);
void define_image(CommandLine& line);
void define_explain(CommandLine& line);
void define_audit(CommandLine& line);
void define_queue(CommandLine& line);
void define_allowlist(CommandLine& line);
void define_config(CommandLine& line);
void define_trust(CommandLine& line);
void define_init(CommandLine& line);
void define_doctor(CommandLine& line);
void define_approver(CommandLine& line);
void define_token(CommandLine& line);
void define_hook(CommandLine& line);
void define_install(CommandLine& line);
void define_mcp(CommandLine& line);
void define_version(CommandLine& line);
void define_manual(CommandLine& line);
void define_completion(CommandLine& line);

}  // namespace cordon::app
