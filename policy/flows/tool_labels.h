#pragma once

#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/config/flow_rules.h"

/// Determines the labels of a server's tools. Pure.
///
/// A declared list decides; without one, what the cell permits. A server whose cell reaches no
/// other never has `egress`, whatever is declared.
namespace cellblock {

/// "untrusted", the word in the configuration and the log.
std::string_view name_of(FlowLabel label);

bool names_tool(const NamePattern& pattern, std::string_view tool);

/// Whether the cell can send data to others.
bool can_send(const Server& server);

FlowLabels labels_of_tool(const Server& server, std::string_view tool);
/// The labels of a resource or prompt: those of any tool of the server, since no list names
/// resources and prompts; without `destructive`, since reading deletes nothing.
FlowLabels labels_of_content(const Server& server);

/// The tools of the server that have the label, and why: "all of its tools: its network reaches
/// others".
std::string label_sentence(const Server& server, FlowLabel label);

}  // namespace cellblock
