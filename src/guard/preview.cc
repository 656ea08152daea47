#include "guard/preview.h"

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "guard/guard_state.h"
#include "sandbox/preview/collect.h"
#include "sandbox/preview/describe.h"
#include "sys/tree.h"

namespace cordon::guard {

namespace preview = sandbox::preview;

namespace {

/// Keeps what was written, and the memory that the run leaves.
class PreviewIo : public sandbox::CapturedIo {
 public:
  void left(sys::Fd memory) override { memory_.emplace(std::move(memory)); }
  std::optional<sys::Fd>& memory() { return memory_; }

 private:
  std::optional<sys::Fd> memory_;
};

/// What a throwaway view cannot stand for.
std::string why_not(const plan::Plan& plan, bool present) {
  if (plan.request.snippet) return "it is code, which only its asker can run";
  if (plan.where == Where::host) return "it runs on the host";
  if (plan.profile.backend != "native") return "the backend " + plan.profile.backend + " cannot show changes";
  if (plan.request.tty) return "it needs a terminal";
  if (plan.request.detached) return "it is to outlive whoever asked";
  if (plan.request.input_given) return "it reads what is typed, which can be read only once";
  for (const Need& grant : plan.grants) {
    if (grant.kind == Need::Kind::write_path) return "it writes outside of the workspace, to " + grant.target;
    if (grant.kind == Need::Kind::host) return "it needs the network, to reach " + grant.target;
    // A grant is given by approving: before that, not even its time may depend on what is behind it.
    if (!present) return "it needs " + grant.target + ", which only an approval opens; see: sandbox-queue preview";
  }
  return "";
}

/// Where a program of the host can be reached by a name: what it is told there stays. Through the overlay of a writable
/// workspace it cannot; everything else is the host's own.
std::string way_out(const Profile& profile) {
  constexpr std::size_t most_looked_at = 20'000;
  std::vector<std::string> places;
  for (const Bind& bind : profile.binds) places.push_back(bind.source);
  if (profile.workspace.access == WorkspaceAccess::ro) places.push_back(profile.workspace.path);
  std::size_t looked_at = 0;
  const auto is_way = [](const std::filesystem::file_status& status) {
    return status.type() == std::filesystem::file_type::socket || status.type() == std::filesystem::file_type::fifo;
  };
  for (const std::string& place : places) {
    std::error_code error;
    if (is_way(std::filesystem::symlink_status(place, error))) return fmt::format("it could use {}", place);
    auto below = std::filesystem::recursive_directory_iterator(
        place, std::filesystem::directory_options::skip_permission_denied, error);
    for (; !error && below != std::filesystem::recursive_directory_iterator(); below.increment(error)) {
      if (is_way(below->symlink_status(error))) {
        return fmt::format("it could reach a program of the host through {}, and what it does there would stay",
                           below->path().string());
      }
      if (++looked_at > most_looked_at) {
        return fmt::format("{} is too large to be looked through for ways to programs of the host", place);
      }
      error.clear();
    }
  }
  return "";
}

/// Whoever queues much must not take the machine by it.
void tighten(Limits& limits) {
  constexpr std::uint64_t mebi = 1ULL << 20;
  const auto at_most = [](std::uint64_t& limit, std::uint64_t most) {
    limit = limit == 0 ? most : std::min(limit, most);
  };
  at_most(limits.wall_ms, 30'000);
  at_most(limits.memory_bytes, 1024 * mebi);
  at_most(limits.disk_bytes, 256 * mebi);
  at_most(limits.file_bytes, 256 * mebi);
  at_most(limits.inodes, 50'000);
  at_most(limits.output_bytes, mebi / 4);
  at_most(limits.output_kill_bytes, 64 * mebi);
}

/// What it did under tighter limits than its own may be half of what it would do: nobody is to take it for the whole.
std::string why_too_tight(const Execution& execution, const std::string& errors) {
  const char* more = "; with its own limits: sandbox-queue preview";
  if (const auto* killed = std::get_if<Killed>(&execution.report.outcome)) {
    return fmt::format("it was ended by a limit of previews that nobody asked for ({}){}", name_of(killed->why), more);
  }
  const auto says = [&](const char* text) { return errors.find(text) != std::string::npos; };
  const bool full = says("No space left on device") || says("ENOSPC") || says("File too large");
  return full ? fmt::format("it writes more than a preview that nobody asked for may{}", more) : "";
}

/// The same command in the same surroundings, but for what it could change there.
plan::Plan throwaway(const plan::Plan& plan, bool approved, bool unasked, std::vector<std::string>& notes) {
  plan::Plan copy = plan;
  Profile& profile = copy.profile;
  if (unasked) tighten(profile.limits);
  if (profile.workspace.access == WorkspaceAccess::rw) {
    profile.workspace.access = WorkspaceAccess::overlay;
    profile.workspace.handed_over = true;
  }
  profile.session.throwaway = true;
  profile.published.clear();
  // Before anybody has said yes, what it read may not leave, not even to a host that the settings name.
  if (!approved && profile.network == Network::rules) {
    profile.network = Network::none;
    profile.network_rules.clear();
    notes.emplace_back("it has its network in a run and none in a preview that nobody approved");
  }
  for (Bind& bind : profile.binds) {
    if (bind.access != Bind::Access::rw) continue;
    bind.access = Bind::Access::ro;
    notes.push_back(fmt::format("{} is writable in a run and read-only in a preview", bind.target));
  }
  return copy;
}

/// Rootless overlays cannot do two things, and programs that meet them say so. A program that does something else
/// instead (mv copies) is not met here, and its preview is true.
std::string why_overlay_failed(const Execution& execution, const std::string& errors) {
  const auto* exited = std::get_if<Exited>(&execution.report.outcome);
  if (exited != nullptr && exited->code == 0) return "";
  const auto says = [&](const char* text) { return errors.find(text) != std::string::npos; };
  if (says("Invalid cross-device link") || says("cross-device link not permitted") || says("EXDEV")) {
    return "a rename or link failed across layers; a directory of the workspace can be renamed in a real run only";
  }
  if (says("Value too large for defined data type") || says("EOVERFLOW")) {
    return "it met a file that belongs to somebody else, which a preview cannot take over";
  }
  return "";
}

void note_leftovers(const sys::Fd& memory, std::vector<std::string>& notes) {
  constexpr std::size_t enough = 10'000;
  for (const auto& [directory, name] : {std::pair("home", "HOME"), std::pair("tmp", "/tmp")}) {
    const auto place = sys::open_beneath(memory, directory, O_PATH | O_DIRECTORY);
    if (!place) continue;
    const std::size_t count = preview::count_entries(*place, enough).value_or(0);
    // The generated ~/.gitconfig is ours.
    const std::size_t own = name == std::string_view("HOME") && sys::stat_beneath(*place, ".gitconfig") ? 1 : 0;
    if (count > own)
      notes.push_back(fmt::format("{} files were changed in {}, which a commit leaves alone", count, name));
  }
}

Json result_of(const Execution& execution) {
  const RunReport& report = execution.report;
  Json result = {{"status", status_of(report.outcome)},
                 {"duration_ms", report.duration.count() / 1000},
                 {"isolation", {{"backend", report.isolation.backend}, {"level", report.isolation.level}}}};
  if (const auto* exited = std::get_if<Exited>(&report.outcome)) result["exit_code"] = exited->code;
  if (const auto* killed = std::get_if<Killed>(&report.outcome)) {
    result["killed_by"] = name_of(killed->why);
    result["exit_code"] = killed->why == Why::timeout ? 124 : 128 + killed->signal;
  }
  return result;
}

Result<preview::ChangeList> read_changes(const plan::Plan& plan, PreviewIo& io, std::int64_t begun_ns,
                                         const preview::Sink& keep) {
  if (plan.profile.workspace.access != WorkspaceAccess::overlay) return preview::ChangeList();
  if (!io.memory()) return fail(Fault::unavailable, "the sandbox did not say what changed");
  const sys::Fd upper = TRY(sys::open_beneath(*io.memory(), "upper", O_PATH | O_DIRECTORY));
  const sys::Fd lower(::open(plan.profile.workspace.path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (lower.get() < 0) return fail(Fault::conflict, "the workspace is gone");
  preview::CollectLimits limits;
  if (plan.profile.limits.disk_bytes > 0) limits.content_bytes = plan.profile.limits.disk_bytes;
  return preview::collect(
      {.upper = upper, .lower = lower, .protected_paths = plan.profile.workspace.protected_paths, .begun_ns = begun_ns},
      limits, keep);
}

}  // namespace

void Guard::State::preview(const plan::Plan& plan, const PreviewOptions& wanted, Previewed& previewed,
                           std::stop_token stop) {
  previewed.cannot = why_not(plan, wanted.present);
  if (previewed.cannot.empty()) previewed.cannot = way_out(plan.profile);
  previewed.nothing_ran = !previewed.cannot.empty();
  if (previewed.nothing_ran) return;
  const preview::Store store = previews();
  std::optional<preview::Store::Draft> draft;
  std::vector<std::string> notes;
  if (wanted.keep || previewed.for_approver) {
    auto begun = store.begin();
    if (!begun) {
      previewed.cannot = begun.error().sentence;
      return;
    }
    draft.emplace(*std::move(begun));
  }
  const plan::Plan trial = throwaway(plan, !previewed.for_approver, wanted.unasked, notes);
  PreviewIo io;
  const std::int64_t begun_ns = preview::file_clock_ns();
  run_recorded(trial, previewed.execution, plain_deed(io, std::move(stop)),
               previewed.for_approver ? RunKind::preview_for_approver : RunKind::preview);
  if (!previewed.execution.ran()) {
    previewed.cannot = sentence_of(previewed.execution);
    return;
  }
  previewed.cannot = why_overlay_failed(previewed.execution, io.err);
  if (previewed.cannot.empty() && wanted.unasked) previewed.cannot = why_too_tight(previewed.execution, io.err);
  if (!previewed.cannot.empty()) return;
  auto list = read_changes(trial, io, begun_ns, draft ? draft->sink() : preview::Sink());
  if (!list) {
    previewed.cannot = list.error().sentence;
    return;
  }
  if (io.memory()) note_leftovers(*io.memory(), notes);
  list->notes.insert(list->notes.end(), notes.begin(), notes.end());
  previewed.preview = preview::Preview{.id = {},
                                       .workspace = trial.profile.workspace.path,
                                       .command = plan.request.text,
                                       .approval = previewed.for_approver ? previewed.execution.approval : "",
                                       .created = clock->now(),
                                       .expires = {},
                                       .plan = plan::to_json(plan),
                                       .result = result_of(previewed.execution),
                                       .out = std::move(io.out),
                                       .err = std::move(io.err),
                                       .list = *std::move(list)};
  if (!draft) return;
  const auto asked = wanted.present || wanted.unasked ? preview::Store::Asked::in_earnest : preview::Store::Asked::dry;
  if (auto kept = store.keep(*std::move(draft), *previewed.preview, asked); !kept) {
    previewed.cannot = kept.error().sentence;
    previewed.preview->id.clear();
  }
}

Previewed Guard::preview(const Request& request, const PreviewOptions& options, std::stop_token stop) {
  Previewed previewed{.execution = {.judgement = state_->judge(request)}};
  Execution& execution = previewed.execution;
  if (auto refused = state_->refusal(request, execution.judgement)) {
    execution.report.outcome = *std::move(refused);
    return previewed;
  }
  const auto plan = state_->freeze(request, execution.judgement, State::Entering::only_looking);
  if (!plan) {
    execution.report.outcome = Broken{plan.error()};
    return previewed;
  }
  previewed.plan = plan::to_json(*plan);
  previewed.plan.erase("request");
  const bool asks = execution.judgement.verdict.action == Action::ask;
  previewed.would = asks ? "queue" : "execute";
  previewed.for_approver = asks && !options.present;
  if (!previewed.for_approver) {
    state_->preview(*plan, options, previewed, std::move(stop));
    return previewed;
  }
  const auto entry = state_->submit(request, *plan, execution);
  if (!entry || !*entry) {
    if (!entry) execution.report.outcome = Broken{entry.error()};
    previewed.cannot = entry ? "the queue is full" : entry.error().sentence;
    return previewed;
  }
  auto making = previews().begin_making((*entry)->id);
  if (!making || !*making) return previewed;  // it is being made
  state_->preview_for_queue(*plan, options, previewed, **making, std::move(stop));
  if (!execution.merged) {
    state_->alarm(Alert::Kind::approval_wanted, request, "a dry run; its preview is in the queue", (*entry)->id);
  }
  return previewed;
}

Result<Previewed> Guard::preview(const approve::Entry& entry, std::stop_token stop) {
  const Request request = TRY(plan::request_of(entry.request.plan));
  if (request.asker.uid != ::geteuid()) return fail(Fault::denied, "{} was asked for by another user", entry.id);
  Previewed previewed{.execution = {.judgement = state_->judge(request)}, .would = "queue", .for_approver = true};
  if (const auto refused = state_->refusal(request, previewed.execution.judgement)) {
    return fail(Fault::denied, "{} would be refused now: {}", entry.id, refused->reason);
  }
  const plan::Plan plan = TRY(state_->freeze(request, previewed.execution.judgement, State::Entering::only_looking));
  // What the approver is shown must be what they vote on.
  if (plan.digest() != entry.request.digest) {
    return fail(Fault::conflict, "{} would not run as it was asked: something changed since", entry.id);
  }
  previewed.execution.approval = entry.id;
  auto making = TRY(previews().begin_making(entry.id));
  if (!making) return fail(Fault::conflict, "the preview of {} is being made", entry.id);
  if (TRY(previews().find_for_approval(entry.id))) {
    making->done();
    return fail(Fault::conflict, "{} carries a preview", entry.id);
  }
  state_->preview_for_queue(plan, {.keep = true, .present = true}, previewed, *making, std::move(stop));
  return previewed;
}

namespace {

/// Asks a running preview to end once nobody can approve it any more.
class WhileItWaits {
 public:
  WhileItWaits(const std::string& state_dir, const Clock& clock, std::string id)
      : state_dir_(state_dir),
        clock_(clock),
        id_(std::move(id)),
        thread_([this](const std::stop_token& over) { watch(over); }) {}
  std::stop_token token() const { return answered_.get_token(); }
  bool waits() const {
    auto queue = approve::Queue::open(state_dir_, clock_, {});
    const auto entry = queue ? queue->find(id_) : tl::make_unexpected(queue.error());
    return entry && (entry->state == approve::State::pending || entry->state == approve::State::approved);
  }

 private:
  void watch(const std::stop_token& over) {
    constexpr auto pause = std::chrono::milliseconds(200);
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!over.stop_requested()) {
      if (!waits()) answered_.request_stop();
      ended.wait_for(lock, over, pause, [] { return false; });
    }
  }

  std::string state_dir_;
  const Clock& clock_;
  std::string id_;
  std::stop_source answered_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

void Guard::make_preview(const approve::Entry& entry, preview::Making making) {
  const preview::Store store = previews();
  const auto turn = store.wait_for_turn(entry.id);
  if (!turn) return making.failed(turn.error().sentence);
  const WhileItWaits life(sources().state_dir, *state_->clock, entry.id);
  if (!life.waits()) return making.done();
  const auto request = plan::request_of(entry.request.plan);
  if (!request) return making.failed(request.error().sentence);
  if (request->asker.uid != ::geteuid()) return making.failed("it was asked for by another user");
  Previewed previewed{.execution = {.judgement = state_->judge(*request)}, .would = "queue", .for_approver = true};
  if (const auto refused = state_->refusal(*request, previewed.execution.judgement)) {
    return making.failed("it would be refused now: " + refused->reason);
  }
  const auto plan = state_->freeze(*request, previewed.execution.judgement, State::Entering::only_looking);
  if (!plan) return making.failed(plan.error().sentence);
  // What the approver is shown must be what they vote on.
  if (plan->digest() != entry.request.digest) return making.failed("something changed since it was asked for");
  previewed.execution.approval = entry.id;
  state_->preview_for_queue(*plan, {.keep = true, .unasked = true}, previewed, making, life.token());
  if (life.waits()) return;
  making.done();
  store.let_go(entry.id);
}

void Guard::State::preview_for_queue(const plan::Plan& plan, const PreviewOptions& wanted, Previewed& previewed,
                                     preview::Making& making, std::stop_token stop) {
  // One preview for each request that waits: what an approver looked at is not exchanged for another.
  const auto earlier = previews().find_for_approval(previewed.execution.approval);
  if (earlier && *earlier) return making.done();
  preview(plan, wanted, previewed, std::move(stop));
  if (previewed.cannot.empty()) return making.done();
  making.failed(previewed.cannot);
}

void Guard::State::start_preview(const plan::Plan& plan, const approve::Entry& entry, const Asking& asking) const {
  const preview::Store store = previews();
  if (!asking.preview.empty()) {
    static_cast<void>(store.attach(asking.preview, entry.id));
    return;
  }
  if (!options.make_preview) return;
  auto making = store.begin_making(entry.id);
  if (!making || !*making) return;
  const Setting<QueuePreview>& wanted = rules->settings.approval.preview;
  std::string why = why_not(plan, false);
  if (wanted.value == QueuePreview::off) {
    why = fmt::format("{} turns previews off; make one: sandbox-queue preview {}", wanted.origin.text(), entry.id);
  }
  if (why.empty()) {
    const auto started = options.make_preview(entry.id, **making);
    if (started) return;
    why = started.error().sentence;
  }
  (*making)->failed(why);
}

Json to_json(const Previewed& previewed) {
  const bool shown = previewed.preview && !previewed.for_approver;
  const bool blocked = std::string_view(previewed.would) == "block";
  Output output;
  if (shown) output = {previewed.preview->out, previewed.preview->err};
  Json object = to_json(previewed.execution, output);
  if (!shown && !blocked) {
    // How it ended says something about what it read.
    for (const char* key : {"exit_code", "killed_by", "isolation"}) object[key] = nullptr;
    object["duration_ms"] = 0;
    object["usage"] = nullptr;
    object["truncated"] = {{"stdout", false}, {"stderr", false}};
    object["violations"] = Json::array();
    object["error"] = nullptr;
  }
  object["success"] = !blocked;
  object["executed"] = false;
  object["queued"] = previewed.for_approver && !previewed.execution.approval.empty();
  object["dry_run"] = true;
  object["would"] = previewed.would;
  object["changes"] = shown ? preview::changes_json(previewed.preview->list) : Json();
  object["changes_omitted"] = shown ? previewed.preview->list.changes.size() -
                                          std::min(previewed.preview->list.changes.size(), preview::most_listed)
                                    : 0;
  object["notes"] = shown ? Json(previewed.preview->list.notes) : Json::array();
  object["preview"] = shown && !previewed.preview->id.empty() ? Json(previewed.preview->id) : Json();
  object["cannot_preview"] = previewed.cannot.empty() || (previewed.for_approver && !previewed.nothing_ran)
                                 ? Json()
                                 : Json("cannot preview: " + previewed.cannot);
  object["plan"] = previewed.plan;
  return object;
}

void Guard::State::note_earnest(const Execution& execution) const {
  if (execution.approval.empty()) return;
  const auto kept = previews().find_for_approval(execution.approval);
  if (kept && *kept) previews().set_earnest((*kept)->id);
}

preview::Store Guard::previews() const { return state_->previews(); }

}  // namespace cordon::guard
