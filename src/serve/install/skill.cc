#include "serve/install/skill.h"

#include "base/json.h"

namespace cordon::serve::install {

extern const char* const skill_file;  // skills/cordon/SKILL.md, put in by the build

namespace {

constexpr const char* plugin_body = R"js(
// Asks Cordon before every tool call. Whatever goes wrong is a no.
import { spawnSync } from "node:child_process";

function ask(event, ctx) {
  const sent = JSON.stringify({ toolName: event.toolName, params: event.params ?? {}, cwd: ctx?.workspaceDir ?? process.cwd() });
  const done = spawnSync(program, ["hook", "openclaw"], { input: sent, encoding: "utf8", maxBuffer: 64 << 20, timeout: 60000 });
  if (done.error || done.status !== 0) {
    return { block: true, blockReason: (done.stderr || String(done.error) || "Cordon did not answer").trim() };
  }
  const answer = JSON.parse(done.stdout);
  return Object.keys(answer).length === 0 ? undefined : answer;
}

export default {
  id: "cordon",
  name: "Cordon",
  register(api) {
    api.on("before_tool_call", (event, ctx) => {
      try {
        return ask(event, ctx);
      } catch (error) {
        return { block: true, blockReason: `Cordon could not be asked: ${error}` };
      }
    });
  },
};
)js";

}  // namespace

std::string skill_text(const std::string& program) {
  return std::string(skill_file) + "\nThe program is `" + program +
         "`; `sandbox-exec` and `sandbox-check` lie beside it.\n";
}

std::string openclaw_manifest() {
  return Json{{"id", "cordon"},
              {"name", "Cordon"},
              {"description", "Judges every tool call; commands run isolated and are recorded."},
              {"configSchema", {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}}}
             .dump(2) +
         "\n";
}

std::string openclaw_plugin(const std::string& program) {
  return "const program = " + Json(program).dump() + ";\n" + (plugin_body + 1);
}

}  // namespace cordon::serve::install
