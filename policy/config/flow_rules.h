#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/access_rule.h"

/// The flow rules of the configuration: what an agent may do after what it has read. Values only;
/// policy/flows decides by them.
namespace cellblock {

/// A property of a tool: the content that it brings to an agent, or the harm that its calls can do.
enum class FlowLabel : std::uint8_t {
  untrusted,     ///< it returns text of others: pages, issues, mail
  private_data,  ///< it returns confidential data
  egress,        ///< it can send its arguments to others
  destructive,   ///< it can delete or overwrite
};

/// A set of labels.
struct FlowLabels {
  std::uint8_t bits = 0;

  static constexpr FlowLabels all() { return {0b1111}; }
  static constexpr std::uint8_t bit(FlowLabel label) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(label));
  }

  constexpr bool empty() const { return bits == 0; }
  constexpr bool has(FlowLabel label) const { return (bits & bit(label)) != 0; }
  constexpr bool has_all(FlowLabels others) const { return (bits & others.bits) == others.bits; }
  constexpr void add(FlowLabel label) { bits = static_cast<std::uint8_t>(bits | bit(label)); }
  constexpr FlowLabels common(FlowLabels others) const {
    return {static_cast<std::uint8_t>(bits & others.bits)};
  }
  constexpr bool operator==(const FlowLabels&) const = default;
};

/// The effect of a flow rule on a call. Stricter ones are greater.
enum class FlowEffect : std::uint8_t { off, log, ask, deny };

/// `[[flows.rule]]`
struct FlowRule {
  std::string name;        ///< "flows.rule[2]", or "flows.trifecta" of the preset
  std::uint32_t line = 0;  ///< in the main file
  FlowLabels after;        ///< the context has all of them
  FlowLabels before;       ///< the call has one of them
  bool copied = false;     ///< only if the arguments hold text that came with `after`
  FlowEffect effect = FlowEffect::deny;
  Approver approver = Approver::admin;               ///< ask
  std::chrono::milliseconds approval_time{120'000};  ///< ask: then it is refused
  bool binds_everybody = false;
  std::vector<std::uint32_t> uids;
  std::vector<std::uint32_t> gids;
  std::vector<std::string> servers;  ///< empty: all
  std::vector<NamePattern> tools;    ///< empty: all calls, reads and prompts too
  bool operator==(const FlowRule&) const = default;
};

/// `[flows]`
struct FlowRules {
  /// The preset, a rule with after = untrusted and private, before = egress.
  FlowEffect trifecta = FlowEffect::off;
  Approver approver = Approver::admin;               ///< ask
  std::chrono::milliseconds approval_time{120'000};  ///< ask: then it is refused
  std::vector<FlowRule> rules;
  bool operator==(const FlowRules&) const = default;
};

/// `[server.NAME.flows]`: the tools that have a label. nullopt: what the cell permits decides.
struct FlowTools {
  std::optional<std::vector<NamePattern>> untrusted;
  std::optional<std::vector<NamePattern>> private_data;
  std::optional<std::vector<NamePattern>> egress;
  std::optional<std::vector<NamePattern>> destructive;
  /// Found, not declared: of the host the cell sees only the server's program, which is no private
  /// data.
  bool sees_program_alone = false;
  bool operator==(const FlowTools&) const = default;
};

}  // namespace cellblock
