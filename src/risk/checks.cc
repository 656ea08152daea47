#include "risk/checks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cordon::risk {

Check check_named(std::string_view name) {
  using namespace checks;
  using Named = std::pair<std::string_view, Check>;
  static constexpr auto all = std::to_array<Named>({
      {"alias", alias},
      {"archive", archive},
      {"at", later_job},
      {"big", big_sizes},
      {"cloud_tree", cloud_tree},
      {"cloud_verb", cloud_verb},
      {"command", command_builtin},
      {"connect", connect},
      {"container", container},
      {"container_copy", container_copy},
      {"copy", copy},
      {"counting", counting},
      {"dashes", after_dashes},
      {"database", database},
      {"device", device},
      {"documents", documents},
      {"elevate", elevate},
      {"entr", rerun_on_change},
      {"env", set_environment},
      {"environment", makes_environment},
      {"eval", evaluate},
      {"fd", found_operands},
      {"fetch", fetch},
      {"filter", filter_script},
      {"find", find_files},
      {"git_add", git_add},
      {"git_checkout", git_checkout},
      {"git_clone", git_clone},
      {"git_config", git_config},
      {"git_diff", git_diff},
      {"git_fetch", git_fetch},
      {"git_push", git_push},
      {"git_remote", git_remote},
      {"git_rm", git_rm},
      {"go", go_package},
      {"grep", pattern_operands},
      {"httpie", request_items},
      {"interpreter", interpreter},
      {"kube_get", cluster_query},
      {"lines", lines_that_run},
      {"link", make_link},
      {"locate", locate_names},
      {"mode", change_mode},
      {"move", move},
      {"mux", terminal_multiplexer},
      {"nested_exec", version_manager},
      {"nmap", scan_scripts},
      {"npm_config", npm_setting},
      {"object_copy", object_copy},
      {"of_process", of_process},
      {"owner", change_owner},
      {"package_script", package_script},
      {"parallel", parallel},
      {"perl", perl},
      {"redis", redis},
      {"relay", socket_relay},
      {"remote_copy", remote_copy},
      {"remote_engine", remote_engine},
      {"run_script", run_in_project},
      {"runner", package_runner},
      {"server", directory_listing_server},
      {"service", service},
      {"session", recorded_session},
      {"shell_operands", shell_operands},
      {"signal", signal},
      {"source", source},
      {"ssh", remote_shell},
      {"stdout", to_stdout},
      {"su", switch_user},
      {"task", task_runner},
      {"truncate", truncation},
      {"wget", wget},
      {"xargs", arguments_from_input},
  });
  static_assert(
      std::is_sorted(all.begin(), all.end(), [](const Named& a, const Named& b) { return a.first < b.first; }));
  if (name == "none") return nullptr;
  auto found = std::lower_bound(all.begin(), all.end(), name,
                                [](const Named& each, std::string_view wanted) { return each.first < wanted; });
  return found != all.end() && found->first == name ? found->second : nullptr;
}

}  // namespace cordon::risk
