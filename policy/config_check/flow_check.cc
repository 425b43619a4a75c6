#include "policy/config_check/flow_check.h"

#include <optional>
#include <string_view>
#include <vector>

#include "policy/config/installation_keys.h"
#include "policy/config_check/people_check.h"
#include "policy/flows/tool_labels.h"

namespace cellblock {

FlowRules check_flows(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "flows."};
  FlowRules rules;
  read_keys(scope, main.flows, rules);
  if (rules.trifecta == FlowEffect::ask) return rules;
  for (const std::string_view key : {"approver", "approval_timeout"}) {
    if (!main.flows.has(key)) continue;
    scope.warning(main.flows.at(key), key, "does nothing without trifecta = \"ask\"");
  }
  return rules;
}

namespace {

std::optional<std::vector<NamePattern>> check_list(const Scope& scope, std::string_view key,
                                                   const Maybe<TextList>& text) {
  if (!text) return std::nullopt;
  return check_patterns(scope, NameKind::tool, text->value, key);
}

// A program is nobody's data, though its cell sees it as it sees what is.
bool sees_its_program_alone(const ServerText& text, const Server& server) {
  return !server.binds.empty() && text.read.empty() && text.write.empty() &&
         text.home_files.empty() && !server.workspace && server.secrets.empty();
}

FlowTools declared_tools(const Scope& scope, const ServerText& text, const Server& server) {
  if (!text.flows) return {};
  const Scope here = scope.below("flows");
  FlowTools tools{.untrusted = check_list(here, "untrusted", text.flows->untrusted),
                  .private_data = check_list(here, "private", text.flows->private_data),
                  .egress = check_list(here, "egress", text.flows->egress)};
  if (tools.egress && !tools.egress->empty() && !can_send(server)) {
    here.warning(text.flows->egress->at, "egress",
                 "does nothing: a cell with this network sends nothing to others");
  }
  return tools;
}

}  // namespace

FlowTools check_flow_tools(const Scope& scope, const ServerText& text, const Server& server) {
  FlowTools tools = declared_tools(scope, text, server);
  tools.sees_program_alone = sees_its_program_alone(text, server);
  return tools;
}

}  // namespace cellblock
