#pragma once

#include <chrono>
#include <string>

namespace cellblock::cli {

/// Which server, and how it is reached.
struct ServerRequest {
  std::string server;
  std::string workspace;  ///< a directory, or empty
  std::string role;       ///< to be narrowed to, or empty
  std::chrono::milliseconds timeout{60'000};
};

}  // namespace cellblock::cli
