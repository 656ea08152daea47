// A whole terminal to draw on, with keys as they are pressed. The terminal is given back whatever ends us but SIGKILL.
#pragma once

#include <signal.h>
#include <termios.h>

#include <chrono>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "base/result.h"

namespace cordon::app {

enum class Key { none, up, down, page_up, page_down, enter, back, character };

struct Input {
  enum class Kind { key, resized, time, stop } kind = Kind::time;
  Key key = Key::none;
  char character = 0;
};

struct Row {
  std::string text;  // no control characters
  Style style = Style::plain;
  bool chosen = false;
};

class Screen {
 public:
  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };

  /// Fails where stdin or stdout is no terminal.
  static Result<Screen> open();
  Screen(Screen&& other) noexcept;
  Screen& operator=(Screen&&) = delete;
  ~Screen();

  /// Gives the terminal back for a while, to ask something in the plain way.
  void leave();
  void enter();

  Size size() const;
  /// Rows beyond the last line of the terminal are not drawn; the caller says what is missing.
  void draw(const std::vector<Row>& rows) const;
  Input wait(std::chrono::milliseconds patience);

 private:
  Screen() = default;
  termios before_{};
  struct sigaction old_actions_[4]{};
  sigset_t old_mask_{};
  bool entered_ = false;
};

}  // namespace cordon::app
