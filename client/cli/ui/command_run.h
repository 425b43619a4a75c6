#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Runs `cellblock` for what it prints. The calling thread waits.
namespace cellblock::cli::ui {

struct CommandEnd {
  int exit = 0;     ///< its exit code; 128 and the signal where one ended it
  std::string out;  ///< at most 8 MiB
  std::string err;  ///< at most 64 KiB
};

/// Killed once `reader`, a socket, has closed, or after 30 s.
CommandEnd command_output(const std::vector<std::string>& words, int reader);

/// Hands on what it prints, as it comes, until `take` says false, `reader` has closed or it ends.
/// While nothing comes `take` is called with nothing, each 10 s.
CommandEnd follow_command(const std::vector<std::string>& words, int reader,
                          const std::function<bool(std::string_view)>& take);

}  // namespace cellblock::cli::ui
