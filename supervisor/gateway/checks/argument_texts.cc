#include "supervisor/gateway/checks/argument_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "policy/json/json_text.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/redaction/detectors.h"
#include "policy/redaction/json_tokens.h"
#include "supervisor/ipc/audit_wire.h"

namespace cellblock::gateway {
namespace {

constexpr std::string_view secret = "[redacted: secret]";
constexpr std::string_view private_key = "[redacted: private_key]";

// As they are when plain() has gone over them; whatever has one of them in it is called like it.
constexpr std::array<std::string_view, 9> secret_names{"password", "passwd",     "secret",
                                                       "token",    "apikey",     "authorization",
                                                       "cookie",   "privatekey", "credential"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// In small letters, without what stands between words.
std::string plain(std::string_view raw) {
  std::string name = unescape(raw, Escapes::json);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::erase_if(name, [](char c) { return !is_letter(c); });
  return name;
}

bool is_secret_name(std::string_view plain_name) {
  return std::ranges::any_of(secret_names,
                             [=](std::string_view name) { return plain_name.contains(name); });
}

Span span_of(TextRange where) {
  return {static_cast<std::uint32_t>(where.begin), static_cast<std::uint32_t>(where.end)};
}

/// A string or number, and as what it is taken out; empty: it stays.
struct Value {
  Span where;
  JsonTokenKind kind = JsonTokenKind::string;
  std::string_view label;
};

/// An object or array that is not closed yet, and what is known of its member that is read.
struct Container {
  bool is_object = false;
  bool is_secret = false;  ///< it stands below a member that is
  std::size_t first = 0;   ///< of the values in it
  bool has_private_key = false;
  bool is_member_secret = false;
  bool is_name = false;   ///< the member says what the object is about
  bool is_value = false;  ///< the member is what it says of that
  bool is_about_secret = false;
  std::size_t value_begin = 0;
  std::size_t value_end = 0;
};

class Walk {
 public:
  Walk(std::string_view json, const std::vector<Replacement>& edits)
      : json_(json), next_(edits.begin()), end_(edits.end()) {}

  // Between two tokens stands nothing but structure, blanks, quotation marks and literals.
  std::vector<Value> values() {
    JsonTokens tokens(json_);
    JsonToken token;
    std::size_t at = 0;
    while (tokens.next(token)) {
      structure(json_.substr(at, token.where.begin - at));
      at = token.where.end;
      if (token.kind == JsonTokenKind::key) {
        key(token);
      } else {
        value(token);
      }
    }
    structure(json_.substr(at));
    return std::move(values_);
  }

 private:
  std::string_view text(const JsonToken& token) const {
    return json_.substr(token.where.begin, token.where.end - token.where.begin);
  }

  bool is_secret_here() const {
    return !open_.empty() && (open_.back().is_secret || open_.back().is_member_secret);
  }

  void structure(std::string_view between) {
    for (const char c : between) {
      if (c == '{' || c == '[') {
        open_.push_back(
            {.is_object = c == '{', .is_secret = is_secret_here(), .first = values_.size()});
      } else if ((c == '}' || c == ']') && !open_.empty()) {
        close();
      }
    }
  }

  void close() {
    end_member();
    const Container closed = open_.back();
    open_.pop_back();
    if (closed.is_about_secret) take(closed.value_begin, closed.value_end, secret);
    if (closed.has_private_key) take(closed.first, values_.size(), private_key);
  }

  void end_member() {
    if (std::exchange(open_.back().is_value, false)) open_.back().value_end = values_.size();
  }

  void take(std::size_t begin, std::size_t end, std::string_view label) {
    for (std::size_t i = begin; i < end; ++i) values_[i].label = label;
  }

  void key(const JsonToken& token) {
    if (open_.empty()) return;
    end_member();
    Container& here = open_.back();
    const std::string name = plain(text(token));
    here.is_member_secret = is_secret_name(name);
    here.is_name = name == "name";
    here.is_value = name == "value";
    // What stands between two values of one object is taken out as well.
    if (here.is_value && here.value_end == 0) here.value_begin = values_.size();
  }

  void value(const JsonToken& token) {
    values_.push_back({.where = span_of(token.where),
                       .kind = token.kind,
                       .label = is_secret_here() ? secret : std::string_view{}});
    if (open_.empty()) return;
    Container& here = open_.back();
    if (here.is_name && is_secret_name(plain(text(token)))) here.is_about_secret = true;
    if (!here.is_object && has_private_key(token)) here.has_private_key = true;
  }

  bool has_private_key(const JsonToken& token) {
    while (next_ != end_ && next_->where.end <= token.where.begin) ++next_;
    for (auto edit = next_; edit != end_ && edit->where.begin < token.where.end; ++edit) {
      if (edit->text == private_key) return true;
    }
    return false;
  }

  std::string_view json_;
  std::vector<Replacement>::const_iterator next_;
  std::vector<Replacement>::const_iterator end_;
  std::vector<Container> open_;
  std::vector<Value> values_;
};

// Valid JSON from which more is taken out than has the form of a secret: the strings and numbers
// below a member that is called like one (`api_key`), or in the `value` of an object whose `name`
// is; and all of an array over which a private key is spread. `edits` are what was found by form,
// in their order; so is what is returned, and none overlaps another.
std::vector<Replacement> with_named_secrets(std::string_view json, std::vector<Replacement> edits) {
  std::vector<Replacement> all;
  auto next = edits.begin();
  for (const Value& value : Walk(json, edits).values()) {
    if (value.label.empty()) continue;
    for (; next != edits.end() && next->where.begin < value.where.begin; ++next) {
      all.push_back(std::move(*next));
    }
    while (next != edits.end() && next->where.begin < value.where.end) ++next;
    const bool is_number = value.kind == JsonTokenKind::number;
    all.push_back(
        {value.where, is_number ? fmt::format("\"{}\"", value.label) : std::string(value.label)});
  }
  std::move(next, edits.end(), std::back_inserter(all));
  return all;
}

constexpr std::string_view redacted_text = "[redacted]";
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
  if (!redactor) return {.text = std::string(redacted_text)};
  const std::string_view arguments = arguments_in(params);
  Redaction made = redactor->of_each_text(Direction::to_server, arguments);
  // Nothing here blocks, so this is what could not be looked at.
  if (made.is_blocked) return {.text = std::string(redacted_text)};
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
  if (!redactor) return std::string(redacted_text);
  FoundCounts found;  // elsewhere, and counted there
  return redactor->of_text(Direction::to_server, said, found);
}

}  // namespace cellblock::gateway
