// What rows of the tables cannot say. Each is named by `check` in data/programs/*.json5.
#pragma once

#include "risk/judge.h"

namespace cordon::risk::checks {

// files
void change_mode(Judge& judge, Run& run);
void change_owner(Judge& judge, Run& run);
void find_files(Judge& judge, Run& run);
void move(Judge& judge, Run& run);
void copy(Judge& judge, Run& run);
void archive(Judge& judge, Run& run);
void to_stdout(Judge& judge, Run& run);
void later_job(Judge& judge, Run& run);

// shells, wrappers, interpreters
void interpreter(Judge& judge, Run& run);
void arguments_from_input(Judge& judge, Run& run);
void set_environment(Judge& judge, Run& run);
void evaluate(Judge& judge, Run& run);
void source(Judge& judge, Run& run);
void parallel(Judge& judge, Run& run);
void elevate(Judge& judge, Run& run);
void filter_script(Judge& judge, Run& run);
void run_module(Judge& judge, Run& run);
void package_runner(Judge& judge, Run& run);
void task_runner(Judge& judge, Run& run);

void found_operands(Judge& judge, Run& run);
void pattern_operands(Judge& judge, Run& run);
void after_dashes(Judge& judge, Run& run);
void shell_operands(Judge& judge, Run& run);
void recorded_session(Judge& judge, Run& run);
void switch_user(Judge& judge, Run& run);
void terminal_multiplexer(Judge& judge, Run& run);
void command_builtin(Judge& judge, Run& run);
void rerun_on_change(Judge& judge, Run& run);
void make_link(Judge& judge, Run& run);
void makes_environment(Judge& judge, Run& run);
void version_manager(Judge& judge, Run& run);
void run_in_project(Judge& judge, Run& run);
void of_process(Judge& judge, Run& run);
void alias(Judge& judge, Run& run);
void locate_names(Judge& judge, Run& run);
void npm_setting(Judge& judge, Run& run);
void package_script(Judge& judge, Run& run);
void go_package(Judge& judge, Run& run);
void perl(Judge& judge, Run& run);
void lines_that_run(Judge& judge, Run& run);
void big_sizes(Judge& judge, Run& run);
void directory_listing_server(Judge& judge, Run& run);
void git_remote(Judge& judge, Run& run);
void git_add(Judge& judge, Run& run);
void documents(Judge& judge, Run& run);
void truncation(Judge& judge, Run& run);

// network
void wget(Judge& judge, Run& run);
void request_items(Judge& judge, Run& run);
void scan_scripts(Judge& judge, Run& run);
void fetch(Judge& judge, Run& run);
void remote_shell(Judge& judge, Run& run);
void remote_copy(Judge& judge, Run& run);
void socket_relay(Judge& judge, Run& run);
void connect(Judge& judge, Run& run);

// git
void git_config(Judge& judge, Run& run);
void git_push(Judge& judge, Run& run);
void git_checkout(Judge& judge, Run& run);
void git_clone(Judge& judge, Run& run);
void git_diff(Judge& judge, Run& run);

void git_fetch(Judge& judge, Run& run);
void git_rm(Judge& judge, Run& run);

// systems
void cluster_query(Judge& judge, Run& run);
void redis(Judge& judge, Run& run);
void device(Judge& judge, Run& run);
void container(Judge& judge, Run& run);
void container_copy(Judge& judge, Run& run);
void remote_engine(Judge& judge, Run& run);
void engine_variable(Judge& judge, Run& run, const Arg& value);
void service(Judge& judge, Run& run);
void signal(Judge& judge, Run& run);
void counting(Judge& judge, Run& run);
void database(Judge& judge, Run& run);
void object_copy(Judge& judge, Run& run);
void cloud_verb(Judge& judge, Run& run);
void cloud_tree(Judge& judge, Run& run);

}  // namespace cordon::risk::checks
