#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/config/flow_rules.h"

/// What a tool brings to an agent and can do with what the agent knows. Pure.
///
/// The declaration decides where it has a list; else what the cell permits: who can reach nobody
/// sends nothing, whatever is declared.
namespace cellblock {

enum class FlowLabel : std::uint8_t {
  untrusted,     ///< it gives what others wrote: pages, issues, mail
  private_data,  ///< it gives what is not for everybody
  egress,        ///< it can send what it is told to others
};

/// A set of labels.
class FlowLabels {
 public:
  constexpr FlowLabels() = default;
  static constexpr FlowLabels all() { return FlowLabels(7); }

  constexpr bool has(FlowLabel label) const { return (bits_ & bit(label)) != 0; }
  constexpr void add(FlowLabel label) { bits_ = static_cast<std::uint8_t>(bits_ | bit(label)); }
  constexpr bool operator==(const FlowLabels&) const = default;

 private:
  constexpr explicit FlowLabels(std::uint8_t bits) : bits_(bits) {}
  static constexpr std::uint8_t bit(FlowLabel label) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(label));
  }

  std::uint8_t bits_ = 0;
};

/// "untrusted", "private" or "egress", as the configuration and the log have it.
std::string_view name_of(FlowLabel label);

/// Whether something leaves its cell for others.
bool can_send(const Server& server);

FlowLabels labels_of_tool(const Server& server, std::string_view tool);
/// What `rules` would make of a call of that tool, whose effect by the other rules is `effect`,
/// once its context has untrusted content and private data. Nothing: the same as now.
std::optional<Effect> later_effect(const FlowRules& rules, const Server& server,
                                   std::string_view tool, Effect effect);
/// Of a resource or prompt: what any tool of the server may have, since no list names them.
FlowLabels labels_of_content(const Server& server);

/// Which of its tools have the label, and why: "all of its tools: its network reaches others".
std::string label_sentence(const Server& server, FlowLabel label);

}  // namespace cellblock
