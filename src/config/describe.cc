#include "config/describe.h"

#include <algorithm>

#include "config/field.h"
#include "config/merge.h"

namespace cordon::config {
namespace {

Json json_of(const Field& field, const Scalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const std::int64_t number = std::get<std::int64_t>(value);
  switch (field.form) {
    case Form::choice:
      return shown(field, value);
    case Form::boolean:
      return number != 0;
    case Form::processors:
      return static_cast<double>(number) / 1000;
    default:
      return number;
  }
}

std::vector<Described> rows_of(const Field& field, const Target& target, std::string_view agent) {
  const std::string key = full_key(field, agent);
  if (!is_list(field.form)) {
    const Setting<Scalar> setting = field.get(target);
    return {{key, json_of(field, setting.value), shown(field, setting.value), setting.origin}};
  }
  std::vector<Described> made;
  for (const Item& item : field.items(target)) made.push_back({key, item.text(), item.text(), item.origin()});
  if (!made.empty()) return made;
  const Origin origin = field.form == Form::network ? target.agent.sandbox.network_origin : Origin{};
  return {{key, Json::array(), "none", origin}};
}

}  // namespace

std::string Described::origin_text() const { return origin.file.empty() ? "default" : origin.text(); }

std::vector<Described> describe(const Settings& settings) {
  // Rows read through the same accessors that write, hence a copy.
  Settings copy = settings;
  std::vector<Described> made;
  const auto add = [&](std::vector<Described> rows) {
    for (Described& row : rows) made.push_back(std::move(row));
  };
  for (const Field& field : fields()) add(rows_of(field, {copy, copy.defaults}, ""));
  for (auto& [id, agent] : copy.agents) {
    for (const Field& field : fields()) {
      if (!field.per_agent) continue;
      std::vector<Described> own = rows_of(field, {copy, agent}, id);
      const std::vector<Described> common = rows_of(field, {copy, copy.defaults}, "");
      const bool same = std::ranges::equal(own, common, [](const Described& left, const Described& right) {
        return left.value == right.value && left.origin == right.origin;
      });
      if (!same) add(std::move(own));
    }
  }
  for (const auto& [name, hosts] : settings.presets) {
    Json list = hosts;
    std::string text;
    for (const std::string& host : hosts) text += (text.empty() ? "" : ", ") + host;
    made.push_back({"presets." + name, list, text.empty() ? "none" : text, {"presets.json", 0, 0}});
  }
  return made;
}

}  // namespace cordon::config
