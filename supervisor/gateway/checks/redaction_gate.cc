#include "supervisor/gateway/checks/redaction_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/failures.h"

namespace cellblock::gateway {

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
