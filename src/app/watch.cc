#include "app/watch.h"

#include <algorithm>
#include <iostream>

#include "app/decision.h"
#include "app/entry_text.h"
#include "app/screen.h"
#include "app/terminal.h"
#include "base/text.h"

namespace cordon::app {

namespace {

constexpr auto refresh = std::chrono::milliseconds(500);

Style style_of(const approve::Entry& entry) {
  if (entry.state == approve::State::drifted || entry.request.risk >= Risk::critical) return Style::red;
  return entry.request.risk == Risk::dangerous ? Style::yellow : Style::plain;
}

/// Long lines go on below: in the details nothing is hidden by the width of a terminal.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = decode_utf8(text, at);
    const std::size_t length = character ? character->length : 1;
    if (text[at] == '\n' || width >= columns) {
      lines.push_back(std::exchange(line, {}));
      width = 0;
      if (text[at] == '\n') {
        ++at;
        continue;
      }
    }
    // A tab would jump by more than one column.
    if (text[at] == '\t') {
      line += "\\t";
      width += 2;
    } else {
      line += text.substr(at, length);
      // Wide letters take two columns; taking them all for wide only wraps earlier.
      width += length > 2 ? 2 : 1;
    }
    at += length;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

class Watch {
 public:
  Watch(const GlobalOptions& global, const PresenceOptions& presence, approve::Queue queue, const Clock& clock)
      : global_(global), presence_(presence), queue_(std::move(queue)), clock_(clock) {
    // What is decided here is told on the screen.
    global_.json = false;
  }

  Result<int> run() {
    Screen screen = TRY(Screen::open());
    for (;;) {
      CHECK_OK(look());
      draw(screen);
      const Input input = screen.wait(refresh);
      if (input.kind == Input::Kind::stop) return exit_code::done;
      if (input.kind == Input::Kind::key && !press(screen, input)) return exit_code::done;
    }
  }

 private:
  Result<void> look() {
    entries_ = TRY(queue_.list(all_ ? std::nullopt : std::optional(approve::State::pending)));
    // The choice is by id: a new entry above must not slide under the finger.
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.id == chosen_; });
    if (found == entries_.end() && !details_.empty()) close_details();
    // What was being made when it was opened may be there now.
    if (found != entries_.end() && !details_.empty() && unfinished_) show_details(*found);
    if (found == entries_.end()) chosen_ = entries_.empty() ? "" : entries_[std::min(index_, entries_.size() - 1)].id;
    const auto now =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.id == chosen_; });
    index_ = static_cast<std::size_t>(now - entries_.begin());
    return {};
  }

  void draw(const Screen& screen) const {
    const Screen::Size size = screen.size();
    std::vector<Row> rows;
    const auto pending = std::count_if(entries_.begin(), entries_.end(),
                                       [](const auto& entry) { return entry.state == approve::State::pending; });
    rows.push_back({fmt::format("cordon queue: {} pending{}", pending, all_ ? ", all shown" : ""), Style::bold});
    const std::size_t room = size.rows > 4 ? size.rows - 3 : 1;
    if (details_.empty())
      add_list(rows, room, size.columns);
    else
      add_details(rows, room, size.columns);
    rows.resize(std::max(rows.size(), size.rows > 2 ? size.rows - 2 : 1));
    rows.push_back({in_one_line(message_, size.columns), Style::green});
    rows.push_back(
        {in_one_line(
             details_.empty()
                 ? "up/down choose   enter details   p preview   a approve   c commit   r reject   s all   q quit"
                 : "up/down scroll   p preview   a approve   c commit preview   r reject   esc back   q quit",
             size.columns),
         Style::dim});
    screen.draw(rows);
  }

  void add_list(std::vector<Row>& rows, std::size_t room, std::size_t columns) const {
    if (entries_.empty()) rows.push_back({"Nothing waits for approval."});
    const std::size_t first = index_ >= room ? index_ - room + 1 : 0;
    for (std::size_t i = first; i < entries_.size() && i < first + room; ++i) {
      const approve::Entry& entry = entries_[i];
      // A narrow terminal leaves out who and when rather than the command.
      const std::string who =
          columns < 100 ? "" : fmt::format("{:<8} {:<16} ", distance(entry.created_at, clock_.now()), asker_of(entry));
      const std::string head = fmt::format("{:<16} {:<8} {:<10} {}", entry.id, approve::name_of(entry.state),
                                           name_of(entry.request.risk), who);
      const std::size_t left = columns > head.size() ? columns - head.size() : 1;
      rows.push_back({head + in_one_line(entry.request.command, left), style_of(entry), i == index_});
    }
  }

  void add_details(std::vector<Row>& rows, std::size_t room, std::size_t columns) const {
    const auto lines = wrapped(details_, columns);
    const std::size_t first = std::min(scroll_, lines.size() > room ? lines.size() - room : 0);
    const std::size_t last = std::min(lines.size(), first + room);
    rows.front().text += fmt::format("   lines {}-{} of {}{}", first + 1, last, lines.size(),
                                     last < lines.size() ? "   MORE BELOW" : "");
    for (std::size_t i = first; i < last; ++i) rows.push_back({lines[i]});
  }

  /// False: that was the key to end.
  bool press(Screen& screen, const Input& input) {
    const std::size_t page = std::max<std::size_t>(screen.size().rows / 2, 1);
    switch (input.key) {
      case Key::up:
        move(-1);
        break;
      case Key::down:
        move(1);
        break;
      case Key::page_up:
        move(-static_cast<std::ptrdiff_t>(page));
        break;
      case Key::page_down:
        move(static_cast<std::ptrdiff_t>(page));
        break;
      case Key::enter:
        open_details();
        break;
      case Key::back:
        close_details();
        break;
      case Key::character:
        return press_letter(screen, input.character);
      case Key::none:
        break;
    }
    return true;
  }

  bool press_letter(Screen& screen, char letter) {
    switch (letter) {
      case 'q':
        return false;
      case 'k':
        move(-1);
        break;
      case 'j':
        move(1);
        break;
      case 'd':
        open_details();
        break;
      case 's':
        all_ = !all_;
        break;
      case 'a':
        answer(screen, [this](const approve::Entry& entry) {
          ApproveOptions options;
          options.presence = presence_;
          return approve_entry(global_, options, entry, clock_);
        });
        break;
      case 'c':
        answer(screen, [this](const approve::Entry& entry) {
          ApproveOptions options;
          options.presence = presence_;
          options.commit = true;
          return approve_entry(global_, options, entry, clock_);
        });
        break;
      case 'p':
        answer(screen, [this](const approve::Entry& entry) { return preview_entry(global_, entry, clock_); });
        break;
      case 'r':
        answer(screen, [this](const approve::Entry& entry) -> Result<int> {
          const std::string reason = TRY(ask_line(fmt::format("Why is {} rejected? ", entry.id)));
          if (trim(reason).empty()) return fail(Fault::invalid_input, "no reason, so nothing was rejected");
          return reject_entry(global_, entry, "", reason, clock_);
        });
        break;
      default:
        break;
    }
    return true;
  }

  void move(std::ptrdiff_t by) {
    if (!details_.empty()) {
      scroll_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(scroll_) + by));
      return;
    }
    if (entries_.empty()) return;
    const auto last = static_cast<std::ptrdiff_t>(entries_.size()) - 1;
    index_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(index_) + by, 0, last));
    chosen_ = entries_[index_].id;
  }

  void open_details() {
    if (index_ >= entries_.size()) return;
    show_details(entries_[index_]);
    scroll_ = 0;
  }

  void show_details(const approve::Entry& entry) {
    std::vector<std::string> drift;
    if (entry.state == approve::State::pending || entry.state == approve::State::approved) {
      auto guard = guard_of(global_, entry, clock_);
      drift = guard ? drift_of(*guard, entry) : std::vector{"it would not run now: " + guard.error().sentence};
    }
    const EntryPreview preview = preview_for(global_, entry, clock_);
    unfinished_ = !preview.made && preview.instead == "being made";
    details_ = describe(entry, drift, clock_.now(), preview);
  }

  void close_details() {
    details_.clear();
    scroll_ = 0;
  }

  /// On the plain screen, where the whole request is shown and the passphrase is asked for.
  template <class Answer>
  void answer(Screen& screen, const Answer& decide) {
    if (index_ >= entries_.size()) return;
    const approve::Entry entry = entries_[index_];
    screen.leave();
    const Result<int> result = decide(entry);
    if (!result) complain(result.error());
    message_ = result ? fmt::format("{}: answered", entry.id) : visible(result.error().sentence, Lines::escape);
    std::cout << std::flush;
    static_cast<void>(ask_line("\nPress enter to go back to the queue. "));
    close_details();
    screen.enter();
  }

  GlobalOptions global_;
  PresenceOptions presence_;
  approve::Queue queue_;
  const Clock& clock_;
  std::vector<approve::Entry> entries_;
  std::size_t index_ = 0;
  std::string chosen_;
  bool all_ = false;
  std::string details_;
  bool unfinished_ = false;  // its preview is being made
  std::size_t scroll_ = 0;
  std::string message_;
};

}  // namespace

Result<int> watch(const GlobalOptions& global, const PresenceOptions& presence) {
  const SystemClock clock;
  if (global.json) return fail(Fault::invalid_input, "watch is for a person; for programs: sandbox-queue list --json");
  return Watch(global, presence, TRY(open_queue(global, clock)), clock).run();
}

}  // namespace cordon::app
