#include "serve/install/skill.h"

#include "base/json.h"

namespace cordon::serve::install {

extern const char* const skill_file;  // skills/cordon/SKILL.md, put in by the build

namespace {

constexpr const char* plugin_body = R"js(
// Asks Cordon before every tool call. Whatever goes wrong is a no.
import { spawnSync } from "node:child_process";

// The gateway may run anywhere; its agents work in their workspaces.
function workspace(api, ctx) {
  return ctx?.workspaceDir ?? api.runtime.agent.resolveAgentWorkspaceDir(api.runtime.config.current(), ctx.agentId);
}

function ask(api, event, ctx) {
  const sent = JSON.stringify({ toolName: event.toolName, params: event.params ?? {}, cwd: workspace(api, ctx) });
  // Longer than the hook's own limit, after which it says no itself.
  const done = spawnSync(program, ["hook", "openclaw"], { input: sent, encoding: "utf8", maxBuffer: 64 << 20, timeout: 60000, killSignal: "SIGKILL" });
  if (done.error || done.status !== 0 || !done.stdout) {
    return { block: true, blockReason: (done.stderr || String(done.error ?? "Cordon did not answer")).trim() };
  }
  const answer = JSON.parse(done.stdout);
  return Object.keys(answer).length === 0 ? undefined : answer;
}

export default {
  id: "cordon",
  name: "Cordon",
  register(api) {
    const answer = (event, ctx) => {
      // The script of code mode touches nothing but by tools, which are asked about one by one.
      if (event.toolKind === "code_mode_exec") return undefined;
      try {
        return ask(api, event, ctx);
      } catch (error) {
        return { block: true, blockReason: `Cordon could not be asked: ${error}` };
      }
    };
    // After all others: what they make of a call is what is judged.
    api.on("before_tool_call", answer, { priority: -1000000 });
  },
};
)js";

// By its text, because only OpenClaw's own loader knows that the file is a module.
constexpr const char* probe_body = R"js(
const { readFileSync } = await import("node:fs");
const text = readFileSync(process.argv[1]).toString("base64");
const plugin = (await import("data:text/javascript;base64," + text)).default;
const sent = JSON.parse(readFileSync(0));
plugin.register({
  on: (name, ask) => name === "before_tool_call" && console.log(JSON.stringify(ask(sent, { workspaceDir: process.cwd() }) ?? {})),
});
)js";

}  // namespace

std::string openclaw_probe() { return probe_body; }

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
