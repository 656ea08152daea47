#include "risk/checks.h"

#include <array>
#include <utility>

namespace cordon::risk {

Check check_named(std::string_view name) {
  using namespace checks;
  if (name == "none") return nullptr;
  static constexpr std::array<std::pair<std::string_view, Check>, 31> all{{
      {"mode", change_mode},        {"owner", change_owner},       {"find", find_files},
      {"move", move},               {"copy", copy},                {"archive", archive},
      {"in_place", in_place},       {"interpreter", interpreter},  {"xargs", arguments_from_input},
      {"env", set_environment},     {"eval", evaluate},            {"source", source},
      {"parallel", parallel},       {"elevate", elevate},          {"filter", filter_script},
      {"module", run_module},       {"runner", package_runner},    {"task", task_runner},
      {"fetch", fetch},             {"ssh", remote_shell},         {"remote_copy", remote_copy},
      {"relay", socket_relay},      {"connect", connect},          {"git_config", git_config},
      {"git_push", git_push},       {"git_checkout", git_checkout}, {"git_clone", git_clone},
      {"container", container},     {"service", service},          {"signal", signal},
      {"database", database},
  }};
  for (const auto& [known, check] : all) {
    if (known == name) return check;
  }
  if (name == "object_copy") return object_copy;
  if (name == "cloud_verb") return cloud_verb;
  if (name == "cloud_tree") return cloud_tree;
  return nullptr;
}

}  // namespace cordon::risk
