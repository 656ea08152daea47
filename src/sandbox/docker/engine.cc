#include "sandbox/docker/engine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>

#include "base/text.h"

namespace cordon::sandbox::docker {

namespace {

// The version whose answers were read for this; an engine that has dropped it is spoken to in its oldest.
constexpr int wanted_minor = 41;

bool is_id(const std::string& text) {
  const std::string_view hex = std::string_view(text).substr(text.starts_with("sha256:") ? 7 : 0);
  return hex.size() >= 12 && hex.size() <= 64 &&
         std::ranges::all_of(hex, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<std::string> id_in(const Answer& answer, const char* key) {
  const Json json = parse_json(answer.body);
  if (json.is_object() && json.contains(key) && json[key].is_string()) {
    if (std::string id = json[key]; is_id(id)) return id;
  }
  return fail(Fault::unavailable, "the container engine's answer has no {}", key);
}

/// What it says itself, for a person.
std::string message_in(const Answer& answer) {
  const Json json = parse_json(answer.body);
  std::string text = json.is_object() && json.contains("message") && json["message"].is_string()
                         ? json["message"].get<std::string>()
                         : answer.body;
  constexpr std::size_t enough = 400;
  return visible(text.substr(0, enough), Lines::escape);
}

Result<Answer> expect(Answer answer, std::initializer_list<int> good, std::string_view what) {
  if (std::ranges::find(good, answer.status) != good.end()) return answer;
  return fail(Fault::unavailable, "the container engine refused to {} ({}): {}", what, answer.status,
              message_in(answer));
}

int minor_of(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return 0;
  const std::string text = json[key];
  int minor = 0;
  if (text.starts_with("1.")) std::from_chars(text.data() + 2, text.data() + text.size(), minor);
  return minor;
}

bool has_component(const Json& json, std::string_view name) {
  if (!json.is_object() || !json.contains("Components") || !json["Components"].is_array()) return false;
  return std::ranges::any_of(json["Components"], [&](const Json& one) {
    return one.is_object() && one.contains("Name") && one["Name"].is_string() && one["Name"].get<std::string>() == name;
  });
}

bool flag(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_boolean() && json[key].get<bool>();
}

std::uint64_t number(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number_integer()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, json[key].get<std::int64_t>()));
}

std::map<std::string, std::string> labels_in(const Json& json) {
  std::map<std::string, std::string> labels;
  if (!json.is_object()) return labels;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) labels[name] = value;
  }
  return labels;
}

}  // namespace

std::vector<std::string> usual_sockets(const std::vector<std::string>& named) {
  if (!named.empty()) return named;  // who names one means that one
  std::vector<std::string> sockets;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    sockets.push_back(std::string(runtime) + "/docker.sock");
    sockets.push_back(std::string(runtime) + "/podman/podman.sock");
  }
  sockets.emplace_back("/run/docker.sock");
  sockets.emplace_back("/var/run/docker.sock");
  sockets.emplace_back("/run/podman/podman.sock");
  return sockets;
}

Result<Engine> Engine::find(const std::vector<std::string>& sockets) {
  std::string tried;
  for (const std::string& socket : sockets) {
    Engine engine{HttpClient(socket)};
    const auto answer = engine.http_.ask(
        {.target = "/version", .body = {}, .patience = std::chrono::milliseconds(10'000), .most_body = 1U << 20});
    if (!answer) {
      tried += (tried.empty() ? "" : "; ") + answer.error().sentence;
      continue;
    }
    const Json json = parse_json(answer->body);
    const int newest = minor_of(json, "ApiVersion");
    if (answer->status != 200 || newest == 0) {
      tried += fmt::format("{}{}: no container engine", tried.empty() ? "" : "; ", socket);
      continue;
    }
    engine.version_ = fmt::format("1.{}", std::max(minor_of(json, "MinAPIVersion"), std::min(newest, wanted_minor)));
    engine.podman_ = has_component(json, "Podman Engine");
    return engine;
  }
  return fail(
      Fault::unavailable,
      "no container engine answers ({}); start one (apt install docker.io) and let this user use its socket, or "
      "use --backend native",
      tried);
}

Result<Answer> Engine::ask(const char* method, const std::string& target, const std::string& body) const {
  return http_.ask({.method = method, .target = path(target), .body = body});
}

Result<std::string> Engine::image_id(const std::string& name) const {
  const Answer answer = TRY(ask("GET", "/images/" + percent_encoded(name) + "/json"));
  if (answer.status == 404) {
    return fail(Fault::unavailable, "the container engine has no image '{}'; make it: cordon image build", name);
  }
  return id_in(TRY(expect(answer, {200}, "show the image")), "Id");
}

Result<std::string> Engine::import_image(const std::string& name, const std::vector<std::string>& changes,
                                         const std::function<Result<void>(const Sink&)>& produce) const {
  const std::size_t colon = name.rfind(':');
  std::string target = fmt::format("/images/create?fromSrc=-&repo={}&tag={}", percent_encoded(name.substr(0, colon)),
                                   colon == std::string::npos ? "latest" : percent_encoded(name.substr(colon + 1)));
  for (const std::string& change : changes) target += "&changes=" + percent_encoded(change);
  const Answer answer =
      TRY(http_.upload({.method = "POST", .target = path(target), .body = {}, .patience = std::chrono::minutes(20)},
                       "application/x-tar", produce));
  TRY(expect(answer, {200}, "import the image"));
  return image_id(name);
}

Result<std::string> Engine::create(const std::string& name, const Json& body) const {
  const Answer answer = TRY(ask("POST", "/containers/create?name=" + percent_encoded(name),
                                body.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return id_in(TRY(expect(answer, {201}, "make a container")), "Id");
}

Result<Hijacked> Engine::attach(const std::string& id, WithInput input) const {
  const char* wanted = input == WithInput::yes ? "stream=1&stdin=1&stdout=1&stderr=1" : "stream=1&stdout=1&stderr=1";
  return http_.hijack(
      {.method = "POST", .target = path(fmt::format("/containers/{}/attach?{}", id, wanted)), .body = {}});
}

Result<void> Engine::start(const std::string& id) const {
  TRY(expect(TRY(ask("POST", fmt::format("/containers/{}/start", id))), {204, 304}, "start the container"));
  return {};
}

Result<void> Engine::kill(const std::string& id) const {
  // Not running any more, or gone: as good.
  TRY(expect(TRY(ask("POST", fmt::format("/containers/{}/kill?signal=KILL", id))), {204, 404, 409},
             "kill the container"));
  return {};
}

Result<void> Engine::remove(const std::string& id) const {
  constexpr int attempts = 40;
  for (int attempt = 1;; ++attempt) {
    Answer answer = TRY(ask("DELETE", fmt::format("/containers/{}?force=1&v=1", id)));
    // Podman refuses for as long as the container is just ending by itself.
    if (answer.status != 500 || attempt == attempts) {
      TRY(expect(std::move(answer), {204, 200, 404, 409}, "remove the container"));
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<void> Engine::wait_until_removed(const std::string& id) const {
  TRY(expect(TRY(http_.ask({.method = "POST",
                            .target = path(fmt::format("/containers/{}/wait?condition=removed", id)),
                            .body = {},
                            .patience = std::chrono::seconds(30)})),
             {200, 404}, "wait for the container"));
  return {};
}

Result<std::optional<ContainerState>> Engine::inspect(const std::string& id) const {
  const Answer answer = TRY(ask("GET", fmt::format("/containers/{}/json", id)));
  if (answer.status == 404) return std::optional<ContainerState>();
  const Json json = parse_json(TRY(expect(answer, {200}, "show the container")).body);
  if (!json.is_object() || !json.contains("State")) {
    return fail(Fault::unavailable, "the container engine's answer has no State");
  }
  const Json& state = json["State"];
  ContainerState result{.id = TRY(id_in(answer, "Id")),
                        .labels = {},
                        .running = flag(state, "Running"),
                        .pid = 0,
                        .out_of_memory = flag(state, "OOMKilled"),
                        .memory_bytes = 0,
                        .processes = 0};
  if (json.contains("HostConfig")) {
    result.memory_bytes = number(json["HostConfig"], "Memory");
    result.processes = number(json["HostConfig"], "PidsLimit");
  }
  if (json.contains("Config") && json["Config"].is_object() && json["Config"].contains("Labels")) {
    result.labels = labels_in(json["Config"]["Labels"]);
  }
  if (state.is_object() && state.contains("Pid") && state["Pid"].is_number_integer()) {
    const auto pid = state["Pid"].get<std::int64_t>();
    result.pid = pid > 0 && pid < (1 << 30) ? static_cast<int>(pid) : 0;
  }
  return std::optional(result);
}

Result<std::vector<ListedContainer>> Engine::list(const std::string& label) const {
  const std::string filters = Json{{"label", {label}}}.dump();
  const Answer answer = TRY(ask("GET", "/containers/json?all=1&filters=" + percent_encoded(filters)));
  const Json json = parse_json(TRY(expect(answer, {200}, "list containers")).body);
  if (!json.is_array()) return fail(Fault::unavailable, "the container engine's answer is no list");
  std::vector<ListedContainer> list;
  for (const Json& one : json) {
    if (!one.is_object() || !one.contains("Id") || !one["Id"].is_string() || !is_id(one["Id"])) continue;
    ListedContainer container{.id = one["Id"], .labels = {}, .running = false};
    container.running = one.contains("State") && one["State"] == "running";
    if (one.contains("Labels")) container.labels = labels_in(one["Labels"]);
    list.push_back(std::move(container));
  }
  return list;
}

}  // namespace cordon::sandbox::docker
