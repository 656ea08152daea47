#include "serve/mcp/request_state.h"

namespace cordon::serve::mcp {

namespace {

constexpr std::size_t longest_state = 4096;

}  // namespace

Digest digest_of_call(const Caller& caller, std::string_view method, std::string_view name, const Json& arguments) {
  const Principal& who = caller.principal;
  Sha256 hash;
  hash.add_field(who.user).add_field(std::to_string(who.uid)).add_field(who.agent).add_field(who.session);
  hash.add_field(who.surface).add_field(name_of(caller.role)).add_field(method).add_field(name);
  return hash.add_field(arguments.dump(-1, ' ', false, Json::error_handler_t::replace)).finish();
}

Result<std::string> RequestStates::issue(const Json& state, const Digest& call, Duration lasts) {
  const Json payload = {{"nonce", to_hex(TRY(random_bytes(16)))},
                        {"state", state},
                        {"until", (clock_->now() + lasts).time_since_epoch().count()},
                        {"call", call.hex()}};
  const std::string text = payload.dump();
  return to_base64(text) + "." + hmac_sha256(key_, text).hex();
}

Result<Json> RequestStates::take(std::string_view text, const Digest& call) {
  const auto wrong = [](const char* why) {
    return fail(Fault::denied, "requestState {}; make the call again without it", why);
  };
  const std::size_t dot = text.rfind('.');
  if (text.size() > longest_state || dot == std::string_view::npos) return wrong("is none of ours");
  const auto payload = from_base64(text.substr(0, dot));
  const auto tag = Digest::from_hex(text.substr(dot + 1));
  if (!payload || !tag || !(hmac_sha256(key_, *payload) == *tag)) return wrong("is none of ours");
  // Ours from here on, so its members are what `issue` wrote.
  const Json sealed = parse_json(*payload);
  const Time until{Duration(sealed["until"].get<std::int64_t>())};
  const Time now = clock_->now();
  if (now >= until) return wrong("has expired");
  if (sealed["call"].get<std::string>() != call.hex()) return wrong("belongs to another call");
  const std::lock_guard lock(mutex_);
  std::erase_if(taken_, [&](const auto& entry) { return entry.second <= now; });
  if (!taken_.emplace(sealed["nonce"].get<std::string>(), until).second) return wrong("was used already");
  return Json(sealed["state"]);
}

}  // namespace cordon::serve::mcp
