#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/common/server_request.h"

/// Requests of either era: what is around one, what 2026-07-28 asks in the answer, and what is
/// shown of both.
namespace cellblock::cli {

enum class Era : std::uint8_t { legacy, modern };

/// With a terminal the server's questions are answered, and what it says meanwhile is shown.
enum class Interaction : std::uint8_t { none, terminal };

/// MCP client capabilities: without a terminal the server may ask nothing.
std::string capabilities_for(Interaction interaction);

/// Adds what is missing: a modern request has version, client and capabilities itself. With a
/// terminal a call also asks for its progress under that token.
void stamp(nlohmann::ordered_json& params, Era era, Interaction interaction,
           std::string_view method, std::uint64_t progress_token);

/// The questions of an `input_required` result by their keys, and the state that the retry brings
/// back. Nothing for any other result.
struct InputNeeded {
  nlohmann::ordered_json questions = nlohmann::ordered_json::object();
  nlohmann::ordered_json state;  ///< null: none
};
std::optional<InputNeeded> input_needed(std::string_view result);

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
