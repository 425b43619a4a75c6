#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/cli/watch/page.h"

/// The whole terminal, as long as it lives. Nothing else includes ncurses. One at a time in a
/// process.
namespace cellblock::cli {

enum class Key : std::uint8_t { none, quit, sort, up, down, page_up, page_down, resized };

class Screen {
 public:
  /// Null: no terminal that ncurses knows.
  static std::unique_ptr<Screen> open();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  PageSize size() const;
  void draw(const std::vector<PageLine>& lines);
  /// A signal that ends the command counts as `quit`: signalled() says which.
  Key wait_for_key(std::chrono::milliseconds patience);
  /// SIGINT, SIGTERM, SIGHUP; 0: none came.
  static int signalled();

 private:
  struct Terminal;
  explicit Screen(std::unique_ptr<Terminal> terminal);
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace cellblock::cli
