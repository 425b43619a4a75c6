#pragma once

#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/config/flow_rules.h"

/// Which labels a server's tools have. Pure.
///
/// The declaration decides where it has a list; else what the cell permits: who can reach nobody
/// sends nothing, whatever is declared.
namespace cellblock {

/// "untrusted", as the configuration and the log have it.
std::string_view name_of(FlowLabel label);

bool names_tool(const NamePattern& pattern, std::string_view tool);

/// Whether something leaves its cell for others.
bool can_send(const Server& server);

FlowLabels labels_of_tool(const Server& server, std::string_view tool);
/// Of a resource or prompt: what any tool of the server may have, since no list names them. To read
/// one deletes nothing.
FlowLabels labels_of_content(const Server& server);

/// Which of its tools have the label, and why: "all of its tools: its network reaches others".
std::string label_sentence(const Server& server, FlowLabel label);

}  // namespace cellblock
