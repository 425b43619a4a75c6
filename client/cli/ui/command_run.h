#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Runs `cellblock` and reads its output. The calling thread waits.
namespace cellblock::cli::ui {

struct CommandEnd {
  int exit = 0;     ///< its exit code; 128 and the signal where one ended it
  std::string out;  ///< at most 8 MiB
  std::string err;  ///< at most 64 KiB
};

/// Killed once `reader`, a socket, has closed, or after 30 s.
CommandEnd command_output(const std::vector<std::string>& words, int reader);

/// Passes the output to `take` as it comes, until `take` returns false, `reader` has closed or the
/// command ends. Without output `take` gets an empty text every 10 s.
CommandEnd follow_command(const std::vector<std::string>& words, int reader,
                          const std::function<bool(std::string_view)>& take);

}  // namespace cellblock::cli::ui
