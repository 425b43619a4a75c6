#include "supervisor/gateway/checks/argument_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/json/raw_json.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/redaction/detectors.h"
#include "supervisor/gateway/checks/named_secrets.h"
#include "supervisor/ipc/audit_wire.h"

namespace cellblock::gateway {
namespace {

constexpr std::string_view left_out = "[redacted]";
constexpr RedactionChoice taken_out{.to_server = RedactionAction::redact};

static_assert(ArgumentTexts::longest + 64 <= wire::max_audit_text);

RedactionRules rules_for_log(const RedactionRules& rules, AuditArguments arguments) {
  const bool all_credentials = arguments == AuditArguments::redacted;
  RedactionRules all{.secrets = taken_out, .detectors = {}, .expressions = {}};
  for (const Detector* detector : all_detectors()) {
    const bool is_chosen = std::ranges::any_of(rules.detectors, [&](const DetectorRule& rule) {
      return rule.detector == detector->name && !rule.choice.is_off();
    });
    if (is_chosen || (all_credentials && (detector->sets & credentials_set) != 0)) {
      all.detectors.push_back({std::string(detector->name), taken_out});
    }
  }
  for (const ExpressionRule& rule : rules.expressions) {
    if (rule.choice.is_off()) continue;
    all.expressions.push_back({rule.name, rule.pattern, taken_out});
  }
  return all;
}

std::string_view arguments_in(std::string_view params) {
  const auto members = raw_members(params);
  if (!members) return "{}";
  const RawMember* found = find_member(*members, "arguments");
  return found == nullptr ? std::string_view("{}") : found->value;
}

struct Character {
  std::size_t bytes;
  std::size_t in_log;  ///< likewise, at most
};

// The log is ASCII: what else there is takes six bytes of it, or twelve.
Character character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead == '"' || lead == '\\') return {1, 2};
  if (lead < 0x20U || lead == 0x7fU) return {1, 6};
  if (lead < 0x80U) return {1, 1};
  if (lead < 0xe0U) return {2, 6};
  return lead < 0xf0U ? Character{3, 6} : Character{4, 12};
}

// Between two characters.
std::string cut(std::string text) {
  std::size_t end = 0;
  for (std::size_t in_log = 0; end < text.size();) {
    const Character next = character_at(text, end);
    in_log += next.in_log;
    if (in_log > ArgumentTexts::longest) break;
    end += next.bytes;
  }
  if (end >= text.size()) return text;
  const std::size_t missing = text.size() - end;
  text.resize(end);
  return text + fmt::format("…[{} more bytes]", missing);
}

}  // namespace

const Result<Redactor>& ArgumentTexts::redactor_of(std::uint32_t server) {
  const auto known = redactors_.find(server);
  if (known != redactors_.end()) return known->second;
  const Server& declared = config_.servers[server];
  std::vector<std::string> secrets;
  secrets.reserve(declared.secrets.size());
  for (const SecretVariable& secret : declared.secrets) secrets.push_back(secret.name);
  const RedactionRules rules = rules_for_log(declared.redaction, config_.audit.arguments);
  auto made = Redactor::make({rules, declared.secret_marks, std::move(secrets)}, scanners_);
  return redactors_.emplace(server, std::move(made)).first->second;
}

ArgumentText ArgumentTexts::of(std::uint32_t server, std::string_view params) {
  const Result<Redactor>& redactor = redactor_of(server);
  if (!redactor) return {.text = std::string(left_out)};
  const std::string_view arguments = arguments_in(params);
  Redaction made = redactor->of_each_text(Direction::to_server, arguments);
  // Nothing here blocks, so this is what could not be looked at.
  if (made.is_blocked) return {.text = std::string(left_out)};
  const auto edits = with_named_secrets(arguments, std::move(made.edits));
  if (edits.empty()) return {.text = cut(std::string(arguments)), .is_clean = true};
  std::string cleaned = EditedMessage(arguments, edits).flatten();
  cleaned.pop_back();  // the newline
  return {.text = cut(std::move(cleaned))};
}

std::string ArgumentTexts::name(std::string_view server, std::string_view said) {
  const auto declared = std::ranges::find(config_.servers, server, &Server::name);
  if (said.empty() || declared == config_.servers.end()) return std::string(said);
  const auto index = static_cast<std::uint32_t>(declared - config_.servers.begin());
  const Result<Redactor>& redactor = redactor_of(index);
  if (!redactor) return std::string(left_out);
  FoundCounts found;  // elsewhere, and counted there
  return redactor->of_text(Direction::to_server, said, found);
}

}  // namespace cellblock::gateway
