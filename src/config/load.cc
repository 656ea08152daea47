#include "config/load.h"

#include <algorithm>

#include "config/bind.h"
#include "config/difference.h"
#include "config/preset.h"
#include "config/sandbox_md.h"
#include "config/settings_file.h"
#include "config/source_file.h"

namespace cordon::config {
namespace {

using State = SourceFile::State;

constexpr std::string_view sandbox_md_name = "SANDBOX.md";
constexpr std::string_view workspace_settings_name = ".cordon/config.json5";

enum class Syntax { markdown, json5, json5_or_openclaw };

BindRules rules_of(const Sources& sources) {
  std::vector<std::string> own = {sources.state_dir};
  if (!sources.user_file.empty()) own.push_back(sources.user_file);
  return BindRules::create(sources.home, own, sources.engine_sockets);
}

/// What a change has to do with the file system. One that cannot be resolved was refused already, or is as written.
void note_places(const std::vector<Change>& changes, std::string_view workspace, std::vector<Seen>& seen) {
  const auto resolved = [](const std::string& path) { return resolve_links(path).value_or(path); };
  for (const Change& change : changes) {
    if (change.field->form == Form::words && !change.items.empty()) {
      const std::string program = change.items.front().text();
      seen.push_back({program, resolved(program)});
    }
    for (const Item& item : change.items) {
      if (const auto* bind = std::get_if<BindSetting>(&item.value))
        seen.push_back({bind->source, bind->resolved, true});
      const auto* rule = std::get_if<PathRule>(&item.value);
      if (rule == nullptr) continue;
      std::string real = resolved(rule->path);
      const bool inside = is_within(real, workspace) && is_within(rule->path, workspace);
      seen.push_back({rule->path, std::move(real), rule->access != PathAccess::none && !inside});
    }
  }
}

/// Gathers the layers in the order in which files count.
class Loader {
 public:
  Loader(const Sources& sources, std::string workspace, TrustRecords trusted)
      : sources_(sources), trusted_(std::move(trusted)) {
    around_ = {std::move(workspace), sources.home, rules_of(sources)};
  }

  Result<Loaded> run() {
    CHECK_OK(add_own(sources_.user_file, Standing::own, Syntax::json5));
    CHECK_OK(add_workspace_file(std::string(workspace_settings_name), Syntax::json5));
    for (const std::string& file : sources_.extra_files) {
      CHECK_OK(add_own(file, Standing::asked, Syntax::json5_or_openclaw));
      if (loaded_.files.back().state == State::missing) {
        return fail(Fault::invalid_input, "{}: no such file (given by --config)", file);
      }
    }
    CHECK_OK(add_workspace_file(std::string(sandbox_md_name), Syntax::markdown));
    for (const Layer& layer : layers_) note_places(layer.changes, around_.workspace, loaded_.seen);
    Merged merged = merge(layers_, around_.workspace);
    loaded_.settings = std::move(merged.settings);
    loaded_.ignored = std::move(merged.ignored);
    return std::move(loaded_);
  }

  const Surroundings& around() const { return around_; }

 private:
  Result<std::vector<Change>> parse(std::string_view text, std::string_view name, Syntax syntax) {
    if (syntax == Syntax::markdown) return read_sandbox_md(text, name, around_, loaded_.remarks);
    const Dialect dialect = syntax == Syntax::json5 ? Dialect::cordon : Dialect::any;
    return read_settings_file(text, name, dialect, around_, loaded_.remarks);
  }

  Result<void> add_own(const std::string& path, Standing standing, Syntax syntax) {
    if (path.empty()) return {};
    SourceFile file{path, path, State::missing, {}};
    const std::optional<std::string> text = TRY(read_source(path, path));
    if (text) {
      file.state = State::own;
      file.digest = sha256(*text);
      layers_.push_back({standing, TRY(parse(*text, path, syntax)), "", false});
    }
    loaded_.files.push_back(std::move(file));
    return {};
  }

  Result<void> add_workspace_file(const std::string& name, Syntax syntax) {
    SourceFile file{around_.workspace + "/" + name, name, State::missing, {}};
    const std::optional<std::string> text = TRY(read_source(file.path, name));
    const auto record = trusted_.find(TRY(resolve_links(file.path)));
    const bool known = record != trusted_.end();
    if (text) {
      file.digest = sha256(*text);
      const bool same = known && record->second.digest == file.digest;
      file.state = same ? State::trusted : known ? State::changed : State::untrusted;
      Layer layer{same ? Standing::trusted : Standing::tighten, TRY(parse(*text, name, syntax)), "", false};
      layer.why_not = known ? fmt::format("{} has changed since it was trusted; run: cordon trust", name)
                            : fmt::format("{} is not trusted; run: cordon trust", name);
      layers_.push_back(std::move(layer));
    } else if (known) {
      file.state = State::gone;
    }
    if (file.state == State::changed || file.state == State::gone)
      CHECK_OK(keep_tightenings(record->second, name, syntax));
    loaded_.files.push_back(std::move(file));
    return {};
  }

  /// An agent that changes or deletes the file must not get rid of what it forbade: that takes a person's new trust.
  Result<void> keep_tightenings(const Trusted& record, const std::string& name, Syntax syntax) {
    std::vector<Remark> heard_before;
    std::swap(heard_before, loaded_.remarks);
    auto changes = parse(record.text, name + " (as trusted)", syntax);
    std::swap(heard_before, loaded_.remarks);
    if (!changes) {
      return fail(Fault::corrupt, "{}; the trusted text can no longer be read: run cordon trust",
                  changes.error().sentence);
    }
    layers_.push_back({Standing::tighten, *std::move(changes), "", true});
    return {};
  }

  const Sources& sources_;
  TrustRecords trusted_;
  Surroundings around_;
  std::vector<Layer> layers_;
  Loaded loaded_;
};

Result<std::string> workspace_of(const Sources& sources) {
  if (!sources.workspace.starts_with('/')) {
    return fail(Fault::invalid_input, "the workspace \"{}\" is not an absolute path", sources.workspace);
  }
  return resolve_links(sources.workspace);
}

Result<Loaded> load_with(const Sources& sources, TrustRecords trusted) {
  Loader loader(sources, TRY(workspace_of(sources)), std::move(trusted));
  return loader.run();
}

}  // namespace

const char* name_of(SourceFile::State state) {
  switch (state) {
    case State::missing:
      return "missing";
    case State::own:
      return "own";
    case State::trusted:
      return "trusted";
    case State::untrusted:
      return "untrusted";
    case State::changed:
      return "changed since it was trusted";
    case State::gone:
      return "gone since it was trusted";
  }
  return "missing";
}

std::string sandbox_md_path(const Sources& sources) { return fmt::format("{}/{}", sources.workspace, sandbox_md_name); }

std::string workspace_settings_path(const Sources& sources) {
  return fmt::format("{}/{}", sources.workspace, workspace_settings_name);
}

Result<Loaded> load(const Sources& sources) {
  Loaded loaded = TRY(load_with(sources, TRY(TrustStore(sources.state_dir).load())));
  loaded.settings.presets = TRY(load_presets(sources.state_dir));
  return loaded;
}

std::vector<Consulted> consulted_by(const Sources& sources) {
  std::vector<Consulted> made = {{workspace_settings_path(sources), true}, {sandbox_md_path(sources), true}};
  if (!sources.user_file.empty()) made.push_back({sources.user_file});
  for (const std::string& file : sources.extra_files) made.push_back({file});
  made.push_back({TrustStore::file_in(sources.state_dir)});
  made.push_back({presets_file(sources.state_dir)});
  return made;
}

bool still_so(const std::vector<Seen>& seen, const Sources& sources) {
  return std::ranges::all_of(seen, [&](const Seen& one) {
    const auto now = resolve_links(one.path);
    if (!now || *now != one.resolved) return false;
    return !one.is_opened || rules_of(sources).check_source(one.path, one.path, {}).has_value();
  });
}

Result<std::vector<TrustPreview>> preview_trust(const Sources& sources) {
  const TrustRecords records = TRY(TrustStore(sources.state_dir).load());
  std::vector<TrustPreview> made;
  // A trusted text that can no longer be read must not keep a person from trusting a new one.
  const auto load_or_forget = [&](const TrustRecords& known) {
    auto loaded = load_with(sources, known);
    return loaded || loaded.error().fault != Fault::corrupt ? loaded : load_with(sources, {});
  };
  const Loaded now = TRY(load_or_forget(records));
  for (const SourceFile& file : now.files) {
    if (file.state == State::own || file.state == State::missing || file.state == State::gone) continue;
    const auto text = TRY(read_source(file.path, file.name));
    if (!text) continue;
    TrustPreview preview{file, *text, {}, "", {}};
    // Judged as if it had never been trusted: whatever is ignored then is what trust gives.
    TrustRecords others = records;
    const std::string real_path = TRY(resolve_links(file.path));
    const auto before = records.find(real_path);
    others.erase(real_path);
    Loaded without = TRY(load_or_forget(others));
    for (Ignored& ignored : without.ignored) {
      if (ignored.origin.file != file.name || ignored.reason == only_users) continue;
      ignored.reason.clear();
      preview.loosenings.push_back(std::move(ignored));
    }
    preview.difference = unified_difference(before == records.end() ? "" : before->second.text, *text, file.name);
    preview.remarks = std::move(without.remarks);
    made.push_back(std::move(preview));
  }
  return made;
}

Result<void> trust(const Sources& sources, const TrustPreview& preview, Time now) {
  return TrustStore(sources.state_dir).add(TRY(resolve_links(preview.file.path)), preview.bytes, now);
}

}  // namespace cordon::config
