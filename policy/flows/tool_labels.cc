#include "policy/flows/tool_labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "policy/config/words.h"

namespace cellblock {
namespace {

constexpr std::array all_labels{FlowLabel::untrusted, FlowLabel::private_data, FlowLabel::egress,
                                FlowLabel::destructive};

using DeclaredTools = std::optional<std::vector<NamePattern>>;

const DeclaredTools& declared_for(const Server& server, FlowLabel label) {
  switch (label) {
    case FlowLabel::untrusted:
      return server.flows.untrusted;
    case FlowLabel::private_data:
      return server.flows.private_data;
    case FlowLabel::egress:
      return server.flows.egress;
    case FlowLabel::destructive:
      break;
  }
  return server.flows.destructive;
}

bool has_files(const Server& server) {
  return !server.binds.empty() && !server.flows.sees_program_alone;
}

bool holds_private_data(const Server& server) {
  return has_files(server) || server.workspace || !server.secrets.empty();
}

bool cell_permits(const Server& server, FlowLabel label) {
  if (label == FlowLabel::destructive) return false;
  return label == FlowLabel::private_data ? holds_private_data(server) : can_send(server);
}

bool tool_has(const Server& server, std::string_view tool, FlowLabel label) {
  if (label == FlowLabel::egress && !can_send(server)) return false;
  const DeclaredTools& declared = declared_for(server, label);
  if (!declared) return cell_permits(server, label);
  return std::ranges::any_of(*declared,
                             [&](const NamePattern& pattern) { return names_tool(pattern, tool); });
}

bool content_has(const Server& server, FlowLabel label) {
  if (label == FlowLabel::destructive) return false;
  if (label == FlowLabel::egress && !can_send(server)) return false;
  const DeclaredTools& declared = declared_for(server, label);
  return declared ? !declared->empty() : cell_permits(server, label);
}

std::string_view reason_of(const Server& server, FlowLabel label) {
  if (label == FlowLabel::destructive) return "nothing is declared";
  if (label != FlowLabel::private_data) {
    return can_send(server) ? "its network reaches others" : "its network reaches nobody";
  }
  if (holds_private_data(server)) return "its cell has files of the host, a workspace or a secret";
  return server.flows.sees_program_alone
             ? "its cell has no file of the host but its program, and no secret"
             : "its cell has no file of the host and no secret";
}

}  // namespace

std::string_view name_of(FlowLabel label) { return word_of(label); }

bool names_tool(const NamePattern& pattern, std::string_view tool) {
  return pattern.is_prefix ? tool.starts_with(pattern.text) : tool == pattern.text;
}

bool can_send(const Server& server) {
  return server.network == NetworkMode::egress || server.network == NetworkMode::host;
}

FlowLabels labels_of_tool(const Server& server, std::string_view tool) {
  FlowLabels labels;
  for (const FlowLabel label : all_labels) {
    if (tool_has(server, tool, label)) labels.add(label);
  }
  return labels;
}

FlowLabels labels_of_content(const Server& server) {
  FlowLabels labels;
  for (const FlowLabel label : all_labels) {
    if (content_has(server, label)) labels.add(label);
  }
  return labels;
}

namespace {

std::string sentence_of_cell_or_list(const Server& server, FlowLabel label) {
  const DeclaredTools& declared = declared_for(server, label);
  const bool is_impossible = label == FlowLabel::egress && !can_send(server);
  if (!declared || is_impossible) {
    return fmt::format("{} of its tools: {}", cell_permits(server, label) ? "all" : "none",
                       reason_of(server, label));
  }
  if (declared->empty()) return "none of its tools: declared";
  std::vector<std::string> names;
  names.reserve(declared->size());
  for (const NamePattern& pattern : *declared) {
    names.push_back(pattern.text + (pattern.is_prefix ? "*" : ""));
  }
  return fmt::format("{}: declared", fmt::join(names, ", "));
}

}  // namespace

std::string label_sentence(const Server& server, FlowLabel label) {
  std::string sentence = sentence_of_cell_or_list(server, label);
  // Whatever is declared.
  if (label == FlowLabel::destructive) {
    sentence += "; those whose annotations have destructiveHint = true have it";
  }
  return sentence;
}

}  // namespace cellblock
