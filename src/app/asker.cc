#include "app/asker.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "app/terminal.h"
#include "app/world.h"
#include "base/text.h"
#include "plan/environment.h"

namespace cordon::app {

namespace {

namespace fs = std::filesystem;

Result<std::string> real_directory(const std::string& path, const char* what) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return fail(Fault::invalid_input, "{} {}: {}", what, path, error.message());
  if (!fs::is_directory(real, error)) return fail(Fault::invalid_input, "{} {} is no directory", what, path);
  return real.string();
}

Result<Variables> variables_of(const std::vector<std::string>& given) {
  Variables variables;
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    if (equals != std::string::npos) {
      variables.emplace_back(one.substr(0, equals), one.substr(equals + 1));
      continue;
    }
    const char* value = std::getenv(one.c_str());
    if (value == nullptr)
      return fail(Fault::invalid_input, "--env {}: there is no such variable here; write NAME=value", one);
    variables.emplace_back(one, value);
  }
  return variables;
}

}  // namespace

bool inside_sandbox() {
  const char* mark = std::getenv("CORDON_SANDBOX");
  return mark != nullptr && *mark != '\0';
}

Result<std::uint64_t> milliseconds_of(const std::string& text, const char* option) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  const auto duration = parse_duration(text);
  if (duration && duration->count() >= 1000) return static_cast<std::uint64_t>(duration->count() / 1000);
  return fail(Fault::invalid_input, "{} '{}': write a time like 30s, 5m or 1500 (milliseconds)", option, text);
}

Result<Request> request_from(const GlobalOptions& global, const RequestOptions& options) {
  Request request = TRY(nameless_request_from(global, options));
  request.asker.user = TRY(user_name());
  return request;
}

bool someone_is_here(const GlobalOptions& global, const Request& request) {
  return !request.asker.is_agent && is_terminal(STDERR_FILENO) && !global.json;
}

Result<Request> nameless_request_from(const GlobalOptions& global, const RequestOptions& options) {
  Request request;
  request.text = options.text;
  request.cwd =
      TRY(real_directory(options.cwd.empty() ? TRY(current_directory()) : options.cwd, "the working directory"));
  const config::Sources sources = TRY(sources_of(global, request.cwd));
  request.workspace = TRY(real_directory(sources.workspace, "the workspace"));
  request.home = sources.home;
  if (!sources.extra_files.empty()) request.config = sources.extra_files.front();
  request.environment = TRY(variables_of(options.environment));
  request.inherited = plan::inherited_variables(environ);
  request.of_host =
      plan::host_variables(environ, {request.workspace, sources.state_dir, "/tmp", "/var/tmp", "/dev/shm"});
  request.asker.uid = ::geteuid();
  if (!global.agent.empty()) request.asker.agent = global.agent;
  request.asker.session = global.session;
  request.asker.is_agent = !global.agent.empty() || !is_terminal(STDIN_FILENO) || inside_sandbox();
  return request;
}

}  // namespace cordon::app
