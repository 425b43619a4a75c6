#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/style.h"

/// Definitions that servers show: which are pinned, which are withheld, and the decisions about
/// them.
namespace cellblock::cli {

struct PinRequest {
  std::string server;  ///< empty: all
  std::string name;    ///< of one definition; empty: all
  std::string digest;  ///< accept: what that of the one that is meant begins with
};

/// The daemon's answer: {"servers": [{"definitions": [...]}]}.
client::Result<std::string> ask_for_pins(const Context& context, const PinRequest& request);

/// An error: the server is not there.
client::Result<std::vector<Json>> servers_in(const Context& context, const std::string& pins,
                                             const PinRequest& request);

bool is_of_request(const Json& definition, const PinRequest& request);
/// Whether a server has shown a definition of that name, or none is named.
bool knows(const std::vector<Json>& servers, const PinRequest& request);
std::vector<Json> withheld_of(const Json& server);

/// All that is withheld there: {"id", "user", "server", "kind", "name", "text", "digest"}. None
/// where that cannot be had.
std::vector<Json> withheld_at(const Context& context);
void print_withheld(const Json& one);

client::Error unknown_definition(const PinRequest& request);
std::string advice_to_list(const Context& context, const PinRequest& request);
/// The option that a named command needs where another user's definitions are administered.
std::string for_flag(const Context& context);

/// What is wrong with the beginning of a digest; empty: nothing.
std::string digest_mistake(const std::string& digest);

/// Explains that a user does not decide about his own definitions.
Exit explain_decision(const Context& context, const client::Error& error);

/// Shows what is withheld and meant, beside what was pinned.
Exit show_withheld(const Context& context, const PinRequest& request);
/// Lets pass what is withheld and meant, as it is shown now, and prints what that is.
Exit accept_pins(const Context& context, const PinRequest& request);

/// What prints the text that `text` makes of each server, or `nothing`.
using PinText = std::string (*)(const Context& context, const Json& server,
                                const PinRequest& request, Style style);
Exit print_pins(const Context& context, const PinRequest& request, const char* nothing,
                PinText text);

}  // namespace cellblock::cli
