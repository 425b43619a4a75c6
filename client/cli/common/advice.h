#pragma once

#include <cstdint>
#include <string>

#include "cellblock/error.h"

/// What the user can do about an error, in the situation in which it is printed. The texts are
/// ours: advice that a server sends is never shown.
namespace cellblock::cli {

/// Whether the command has a --timeout.
enum class Patience : std::uint8_t { fixed, asked_for };

struct Situation {
  std::string socket;      ///< that was connected to
  std::string whose = {};  ///< the user whose gateway is behind it; empty: it is the daemon's
  Patience patience = Patience::fixed;
};

/// Lines without a last newline, escaped; empty: there is nothing to advise.
std::string advice_on(const client::Error& error, const Situation& situation);

/// What `cellblock errors` has about it: the verdict of a server that failed, else the failure's
/// code, else what became of the connection. Empty: nothing.
std::string topic_of(const client::Error& error);

/// The error's text without the advice that a tool's answer has behind it, for the model.
std::string sentence_of(const client::Error& error);

}  // namespace cellblock::cli
