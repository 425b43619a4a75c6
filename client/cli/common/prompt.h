#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "client/cli/common/context.h"
#include "client/connection/fd.h"

/// Commands that ask the person at the terminal, and that can be stopped while they work. Questions
/// and progress are on stderr: stdout is the result.
namespace cellblock::cli {

/// While it lives, Ctrl-C, SIGTERM and SIGHUP end nothing by themselves, but ask for a stop: what
/// was begun is cleared away by the code that began it. One at a time; make it before other
/// threads.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Readable once a stop was asked for: for poll.
  int descriptor() const { return told_.get(); }

 private:
  std::stop_source stop_;
  client::OwnedFd signals_;
  client::OwnedFd told_;
  client::OwnedFd over_;  ///< an eventfd: the thread ends
  std::thread waits_;
};

/// One line about the current step; not with --json.
void tell(const Context& context, const std::string& line);

/// Whether the user can be asked: there is a terminal, and no --json.
bool can_ask(const Context& context);
inline constexpr const char* nobody_to_ask =
    "nobody can be asked here: --yes does it without a question";

/// Asks, and waits for a line or a stop. Nothing but "y" and "yes" is a yes.
bool agrees(const Interruption& interruption, const std::string& question);

enum class Echo : std::uint8_t { on, off };

/// One typed line, without its end; with echo off it is not shown. No value: a stop, the end of the
/// input, or more than 4095 bytes.
std::optional<std::string> answer_to(const Interruption& interruption, const std::string& question,
                                     Echo echo);

}  // namespace cellblock::cli
