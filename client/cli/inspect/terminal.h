#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lines typed at the terminal that stdin is, with editing, history and completion, while an Asio
/// context goes on running. Nothing else includes libedit. One at a time in a process: it takes
/// SIGINT for itself.
namespace cellblock::cli {

enum class LineEnd : std::uint8_t { typed, interrupted, ended };

struct TypedLine {
  LineEnd end = LineEnd::ended;
  std::string text;
};

class Terminal {
 public:
  struct Handlers {
    /// Ctrl-C: false, if there was nothing to cancel; then it ends the line that is being typed.
    std::function<bool()> cancel;
    /// All words that may stand at the end of this text.
    std::function<std::vector<std::string>(std::string_view before_cursor)> complete;
  };

  Terminal(boost::asio::io_context& context, Handlers handlers);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// The next command. The context runs meanwhile.
  TypedLine command(const std::string& prompt);

  /// Ends the command that is being typed, as Ctrl-C does; from inside the context.
  void interrupt();

  /// A line in answer to this text, which is escaped; nothing at Ctrl-C and at the end of input.
  /// The context stands still: this may be called from inside it.
  std::optional<std::string> answer(const std::string& question);

  /// Escaped text on lines of its own, above what is being typed.
  void show(const std::string& text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellblock::cli
