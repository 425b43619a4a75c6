#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/common/server_request.h"
#include "client/cli/inspect/envelope.h"

namespace cellblock::cli {

enum class Frames : std::uint8_t { hidden, shown };
enum class Timings : std::uint8_t { hidden, shown };

struct InspectRequest {
  ServerRequest to;                ///< no server: all at once
  std::vector<std::string> words;  ///< the command; none: a prompt at the terminal
  Era era = Era::legacy;           ///< what is spoken to the server
  Frames frames = Frames::hidden;
  Timings timings = Timings::hidden;
};

}  // namespace cellblock::cli
