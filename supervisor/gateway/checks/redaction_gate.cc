#include "supervisor/gateway/checks/redaction_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

void Redactions::reconfigure() {
  for (auto& [server, entry] : entries_) {
    // Its cells are ending, and may still print a secret that it had.
    if (!config_.servers[server].is_usable()) continue;
    Source source = source_of(server);
    if (source == entry.source) continue;
    entry.redactor = made_from(source);
    entry.source = std::move(source);
    ++entry.revision;
  }
}

Redactions::Source Redactions::source_of(std::uint32_t server) const {
  const Server& declared = config_.servers[server];
  Source source{.rules = declared.redaction, .marks = declared.secret_marks, .secrets = {}};
  source.secrets.reserve(declared.secrets.size());
  for (const SecretVariable& secret : declared.secrets) source.secrets.push_back(secret.name);
  return source;
}

Result<Redactor> Redactions::made_from(const Source& source) {
  return Redactor::make({source.rules, source.marks, source.secrets}, scanners_);
}

Redactions::Entry& Redactions::entry(std::uint32_t server) {
  const auto known = entries_.find(server);
  if (known != entries_.end()) return known->second;
  Source source = source_of(server);
  auto redactor = made_from(source);
  return entries_
      .emplace(server, Entry{.source = std::move(source),
                             .redactor = std::move(redactor),
                             .to_server = {},
                             .to_host = {}})
      .first->second;
}

void Redactions::add(std::uint32_t server, Direction direction, const FoundCounts& found) {
  Entry& its = entry(server);
  FoundCounts& all = direction == Direction::to_server ? its.to_server : its.to_host;
  for (const auto& [name, count] : found) all[name] += count;
}

const FoundCounts* Redactions::found(std::uint32_t server, Direction direction) const {
  const auto its = entries_.find(server);
  if (its == entries_.end()) return nullptr;
  return direction == Direction::to_server ? &its->second.to_server : &its->second.to_host;
}

std::string Redactions::clean(std::uint32_t server, std::string_view text) {
  const Result<Redactor>& redactor = of(server);
  if (!redactor) return "[redacted]";
  if (!redactor->watches(Direction::to_host)) return std::string(text);
  FoundCounts found;
  std::string cleaned = redactor->of_text(Direction::to_host, text, found);
  add(server, Direction::to_host, found);
  return cleaned;
}

bool Redactions::watches_host(std::uint32_t server) {
  const Result<Redactor>& redactor = of(server);
  return !redactor || redactor->watches(Direction::to_host);
}

std::optional<std::string> Redactions::clean_json(std::uint32_t server, std::string_view json) {
  const Result<Redactor>& redactor = of(server);
  if (!redactor) return std::nullopt;
  const Redaction made = redactor->of_json(Direction::to_host, json, {});
  add(server, Direction::to_host, made.found);
  if (made.is_blocked) return std::nullopt;
  if (made.edits.empty()) return std::string(json);
  std::string cleaned = EditedMessage(json, made.edits).flatten();
  cleaned.pop_back();  // the newline
  return cleaned;
}

namespace {

bool overlap(Span one, Span other) { return one.begin < other.end && other.begin < one.end; }

// What is looked up or put back on its way to the server, where that is done after this.
std::vector<Span> put_back(const Message& message) {
  std::vector<Span> spared = {message.meta_progress_token, message.protocol_version,
                              message.client_capabilities, message.cursor, message.request_state};
  if (message.method == mcp::method::initialize) spared.push_back(message.capabilities);
  spared.insert(spared.end(), message.task_ids.begin(), message.task_ids.end());
  return spared;
}

// What is replaced anyway. Of what a server says that is all: under a name of the protocol that has
// no meaning where it stands it could hand on whatever it likes.
std::vector<Span> spared_in(Direction direction, const Message& message,
                            const std::vector<Replacement>& edits) {
  std::vector<Span> spared =
      direction == Direction::to_server ? put_back(message) : std::vector<Span>{};
  for (const Replacement& edit : edits) spared.push_back(edit.where);
  std::erase_if(spared, [](const Span& span) { return span.empty(); });
  std::ranges::sort(spared, {}, &Span::begin);
  return spared;
}

// A result that was cleaned, or a question with the name of who asks: written here, of the server's
// words.
bool has_words(const Replacement& edit, const Message& message) {
  const bool is_whole = !message.result.empty() && edit.where == message.result;
  return is_whole || std::ranges::find(message.questions, edit.where) != message.questions.end();
}

void apply(const Redaction& made, std::string& text) {
  if (made.edits.empty()) return;
  text = EditedMessage(text, made.edits).flatten();
  text.pop_back();  // the newline
}

// Another name is another thing, about which nothing was decided.
bool renames(const Redaction& made, const Message& message) {
  return std::ranges::any_of(made.edits, [&](const Replacement& edit) {
    return overlap(edit.where, message.name) || overlap(edit.where, message.uri);
  });
}

}  // namespace

std::expected<void, Failure> RedactionGate::pass(Direction direction, std::string_view line,
                                                 const Message& message,
                                                 std::vector<Replacement>& edits) {
  const Result<Redactor>& redactor = redactions_.of(server_index_);
  if (!redactor) return std::unexpected(failure(direction, redactor.error().text));
  if (!redactor->watches(direction)) return {};
  for (Replacement& edit : edits) {
    if (!has_words(edit, message)) continue;
    const Redaction made = redactor->of_json(direction, edit.text, "nextCursor");
    if (!note(direction, made)) return std::unexpected(failure(direction, counts_text(made.found)));
    apply(made, edit.text);
  }
  if (!may_be_called(direction, message.method, *redactor)) {
    return std::unexpected(failure(direction, "in its method"));
  }
  Redaction made =
      redactor->of_message(direction, line, message, spared_in(direction, message, edits));
  if (direction == Direction::to_server && renames(made, message)) made.is_blocked = true;
  if (!note(direction, made)) return std::unexpected(failure(direction, counts_text(made.found)));
  std::ranges::move(made.edits, std::back_inserter(edits));
  return {};
}

// A notification may have any name, and a name is not rewritten: what it would become is another.
bool RedactionGate::may_be_called(Direction direction, std::string_view method,
                                  const Redactor& redactor) {
  if (method.empty() || mcp::find_method(method) != nullptr) return true;
  Redaction made;
  const std::string cleaned = redactor.of_text(direction, method, made.found);
  made.is_blocked = cleaned != method;
  return note(direction, made);
}

// False: it does not pass.
bool RedactionGate::note(Direction direction, const Redaction& made) {
  if (!made.found.empty()) redactions_.add(server_index_, direction, made.found);
  for (const auto& [name, count] : made.found) found_[name] += count;
  return !made.is_blocked;
}

Failure RedactionGate::failure(Direction direction, std::string_view what) const {
  const std::string text =
      direction == Direction::to_server
          ? fmt::format("what was sent holds what may not go to \"{}\": {}", server_.name, what)
          : fmt::format("the answer of \"{}\" holds what may not be handed on: {}", server_.name,
                        what);
  return plain_failure(FailureCode::blocked, text, server_.name);
}

}  // namespace cellblock::gateway
