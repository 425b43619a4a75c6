#include "supervisor/gateway/checks/pin_gate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "policy/base/printable.h"
#include "policy/mcp/methods.h"
#include "policy/schema/schema_validator.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

constexpr PinView roots_bit = 1;
constexpr PinView sampling_bit = 2;
constexpr PinView elicitation_bit = 4;
constexpr PinView workspace_bit = 8;
constexpr std::size_t longest_name = 256;

PinView bits_of(const Json& capabilities, const ClientFeatures& allowed) {
  const auto offers = [&](const char* name) { return member(capabilities, name) != nullptr; };
  PinView bits = 0;
  if (allowed.roots && offers("roots")) bits |= roots_bit;
  if (allowed.sampling && offers("sampling")) bits |= sampling_bit;
  if (allowed.elicitation && offers("elicitation")) bits |= elicitation_bit;
  return bits;
}

std::string quarantine_text(const PinSet& set, const Pin* pin, const std::string& name) {
  if (set.damaged()) {
    return "the record of what was pinned is damaged, so nothing of this server is let pass; an "
           "admin can look at it with \"cellblock pinned\" and begin anew with \"cellblock "
           "forget\"";
  }
  const std::string shown = printable(name, longest_name);
  if (pin == nullptr) {
    return fmt::format(
        "\"{}\" has not been accepted yet; an admin can with \"cellblock approve allow\"", shown);
  }
  return fmt::format(
      "\"{}\" {}; it is withheld until an admin has looked at it (\"cellblock approve show\") and "
      "accepted it (\"cellblock approve allow\")",
      shown, withheld_text(*pin));
}

std::string unlisted_text(const std::string& name) {
  return fmt::format(
      "nobody knows what \"{}\" is: the server did not list its tools when it was asked for them; "
      "it may when they are asked for again",
      printable(name, longest_name));
}

}  // namespace

std::string withheld_text(const Pin& pin) {
  switch (pin.withheld) {
    case Withholding::no:
      return "is what was pinned";
    case Withholding::fresh:
      return pin.about.empty()
                 ? "is new: it was not there when this server's definitions were pinned"
                 : fmt::format("is new, and the same as \"{}\" but for its name", pin.about);
    case Withholding::changed:
      return "has changed since it was pinned";
    case Withholding::hidden_characters:
      return fmt::format("hides characters in its texts ({})", pin.about);
    case Withholding::instruction:
      return fmt::format("gives orders in its description: \"{}\"", pin.about);
    case Withholding::look_alike:
      return fmt::format("has a name that looks like \"{}\"", pin.about);
    case Withholding::shadows:
      break;
  }
  return fmt::format("speaks of, or is named like, a tool of server \"{}\"", pin.about);
}

struct PinGate::Named {
  ListKind kind{};
  AccessKind access{};
  std::string name;
};

PinGate::PinGate(PinBook& book, std::uint32_t server, const Server& declared, Directory directory)
    : book_(&book),
      declared_(&declared),
      server_(server),
      view_(directory == Directory::handed_in ? workspace_bit : PinView{0}) {}

// What a server offers may depend on what its host can do for it.
void PinGate::host_says(std::string_view line, const Message& message,
                        const ClientFeatures& allowed) {
  if (book_ == nullptr || allowed == ClientFeatures{}) return;
  const bool is_legacy = message.method == mcp::method::initialize;
  const Span said = is_legacy ? message.capabilities : message.client_capabilities;
  if (said.empty() && !is_legacy) return;
  const Json capabilities = said.empty() ? Json::object() : parse_json(said.in(line));
  view_ = static_cast<PinView>((view_ & workspace_bit) | bits_of(capabilities, allowed));
}

void PinGate::see(ListKind kind, const Json& items, PageEnd end) {
  if (book_ != nullptr) book_->see(server_, view_, kind, items, end);
}

bool PinGate::admits(ListKind kind, std::string_view name) const {
  return book_ == nullptr || set().admits(kind, name);
}

// A tool that takes every object is asked nothing more: of most calls no tree is made here.
std::optional<Failure> PinGate::refuse_arguments(std::string_view line,
                                                 const Message& message) const {
  if (book_ == nullptr || !declared_->validate_arguments) return std::nullopt;
  if (message.method != mcp::method::tools_call) return std::nullopt;
  const Pin* pin = set().find(ListKind::tools, message.name_text);
  if (pin == nullptr || !pin->is_accepted()) return std::nullopt;
  const SchemaBook::Entry& known = book_->schemas().of(server_, message.name_text, *pin);
  if (!known.schema || known.takes_every_object) return std::nullopt;
  const Json params = parse_json(message.params.in(line));
  const Json* given = member(params, "arguments");
  const auto fault = schema_fault(*known.schema, given == nullptr ? Json::object() : *given);
  if (!fault) return std::nullopt;
  return plain_failure(
      FailureCode::invalid_arguments,
      fmt::format("the arguments of \"{}\" are not what its inputSchema says: at {} it takes {}",
                  printable(message.name_text, longest_name),
                  fault->pointer.empty() ? "the top" : "\"" + fault->pointer + "\"",
                  fault->expected),
      declared_->name);
}

const Arguments* PinGate::defaults_for(const Message& message, const Rights& rights) const {
  if (book_ == nullptr || message.method != mcp::method::tools_call) return nullptr;
  if (!rights.wants_arguments(message.name_text)) return nullptr;
  const Pin* pin = set().find(ListKind::tools, message.name_text);
  if (pin == nullptr || !pin->is_accepted()) return nullptr;
  return &book_->schemas().of(server_, message.name_text, *pin).defaults;
}

bool PinGate::calls_itself_destructive(std::string_view tool) const {
  if (book_ == nullptr) return false;
  const Pin* pin = set().find(ListKind::tools, tool);
  if (pin == nullptr || !pin->is_accepted()) return false;
  return book_->schemas().of(server_, tool, *pin).is_destructive;
}

bool PinGate::wants_list(const Message& message) const {
  return book_ != nullptr && message.method == mcp::method::tools_call &&
         set().judge(view_, ListKind::tools, message.name_text) == PinSet::Call::unlisted;
}

// A resource is no definition, and what a completion is for may be one.
PinGate::Named PinGate::named_by(std::string_view line, const Message& message) const {
  if (message.method == mcp::method::tools_call) {
    return {ListKind::tools, AccessKind::tool, message.name_text};
  }
  if (message.method == mcp::method::prompts_get) {
    return {ListKind::prompts, AccessKind::prompt, message.name_text};
  }
  if (message.method != mcp::method::complete) {
    return {ListKind::resources, AccessKind::resource, {}};
  }
  const Json params = parse_json(message.params.in(line));
  const Json* ref = member(params, "ref");
  if (ref == nullptr) return {ListKind::resources, AccessKind::resource, {}};
  if (string_in(*ref, "type") == "ref/prompt") {
    return {ListKind::prompts, AccessKind::prompt, string_in(*ref, "name")};
  }
  return {ListKind::resource_templates, AccessKind::resource_template, string_in(*ref, "uri")};
}

std::optional<Digest> PinGate::definition_of(std::string_view line, const Message& message) const {
  if (book_ == nullptr || set().mode() == PinMode::off) return std::nullopt;
  const Named named = named_by(line, message);
  const Pin* pin = set().find(named.kind, named.name);
  return pin != nullptr && pin->is_accepted() ? std::optional(pin->digest) : std::nullopt;
}

void PinGate::judge(std::string_view line, const Message& message, CallAccess& access) const {
  if (book_ == nullptr || set().mode() == PinMode::off || !access.refusal.empty()) return;
  const Named named = named_by(line, message);
  const auto call = set().judge(view_, named.kind, named.name);
  const bool is_unlisted = is_withheld_unlisted(named.kind, call);
  if (call == PinSet::Call::may_go || (call == PinSet::Call::unlisted && !is_unlisted)) return;
  const std::string_view id = message.id.in(line);
  access.rule = "pins";
  access.named = named.name;
  if (call == PinSet::Call::unknown) {
    access.refusal = named.access == AccessKind::tool          ? unknown_tool(id, named.name)
                     : message.method == mcp::method::complete ? unknown_reference(id, named.name)
                                                               : unknown_prompt(id, named.name);
    return;
  }
  const Pin* pin = set().find(named.kind, named.name);
  const Failure failure = plain_failure(
      FailureCode::quarantined,
      is_unlisted ? unlisted_text(named.name) : quarantine_text(set(), pin, named.name),
      declared_->name);
  access.refusal = denied_reply(id, named.access, era_of(message), failure);
}

}  // namespace cellblock::gateway
