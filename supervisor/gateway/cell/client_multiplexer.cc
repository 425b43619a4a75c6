#include "supervisor/gateway/cell/client_multiplexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/message/written_message.h"

namespace cellblock::gateway {

const RequestCoalescer::Entry* RequestCoalescer::open_one(std::string_view what) const {
  const auto found = std::ranges::find_if(
      entries_, [what](const Entry& entry) { return entry.is_open && entry.done.what == what; });
  return found == entries_.end() ? nullptr : &*found;
}

bool RequestCoalescer::is_asked(std::string_view what) const { return open_one(what) != nullptr; }

void RequestCoalescer::ask(std::string_view what, Waiting first) {
  Entry entry{.own_id = first.own_id, .is_open = true, .done = {.what = std::string(what)}};
  entry.done.waiting.push_back(std::move(first));
  entries_.push_back(std::move(entry));
}

void RequestCoalescer::wait(std::string_view what, Waiting another) {
  const Entry* entry = open_one(what);
  if (entry == nullptr) return;
  entries_[static_cast<std::size_t>(entry - entries_.data())].done.waiting.push_back(
      std::move(another));
}

bool RequestCoalescer::has(std::string_view own_id) const {
  return std::ranges::find(entries_, own_id, &Entry::own_id) != entries_.end();
}

std::optional<RequestCoalescer::Done> RequestCoalescer::take(std::string_view own_id) {
  const auto found = std::ranges::find(entries_, own_id, &Entry::own_id);
  if (found == entries_.end()) return std::nullopt;
  Done done = std::move(found->done);
  entries_.erase(found);
  return done;
}

void RequestCoalescer::close(std::string_view what) {
  for (Entry& entry : entries_) {
    if (entry.done.what == what) entry.is_open = false;
  }
}

void RequestCoalescer::leave(std::uint64_t member) {
  for (Entry& entry : entries_) {
    std::erase_if(entry.done.waiting,
                  [member](const Waiting& waiting) { return waiting.member == member; });
  }
}

std::vector<RequestCoalescer::Done> RequestCoalescer::take_all() {
  std::vector<Done> all;
  for (Entry& entry : std::exchange(entries_, {})) all.push_back(std::move(entry.done));
  return all;
}

bool Subscriptions::is_wanted(std::string_view uri) const {
  return std::ranges::find(entries_, uri, &Entry::uri) != entries_.end();
}

Subscriptions::Added Subscriptions::add(Session session, std::string_view uri) {
  if (uri.size() > longest_uri) return Added::refused;
  Entry entry{session, std::string(uri)};
  if (std::ranges::find(entries_, entry) != entries_.end()) return Added::another;
  const auto of_this = std::ranges::count(entries_, session, &Entry::session);
  if (entries_.size() >= most || of_this >= static_cast<std::ptrdiff_t>(most_of_one)) {
    return Added::refused;
  }
  const bool first = !is_wanted(uri);
  entries_.push_back(std::move(entry));
  return first ? Added::first : Added::another;
}

Subscriptions::Removed Subscriptions::remove(Session session, std::string_view uri) {
  const bool was_there = std::erase(entries_, Entry{session, std::string(uri)}) != 0;
  return was_there && !is_wanted(uri) ? Removed::last : Removed::some;
}

std::vector<std::string> Subscriptions::forget(Session session) {
  std::vector<std::string> unwanted;
  for (const Entry& entry : entries_) {
    if (entry.session == session) unwanted.push_back(entry.uri);
  }
  std::erase_if(entries_, [session](const Entry& entry) { return entry.session == session; });
  std::erase_if(unwanted, [this](const std::string& uri) { return is_wanted(uri); });
  return unwanted;
}

std::vector<Subscriptions::Session> Subscriptions::wanting(std::string_view uri) const {
  std::vector<Session> sessions;
  for (const Entry& entry : entries_) {
    const bool told = std::ranges::find(sessions, entry.session) != sessions.end();
    if (!told && is_resource_within(uri, entry.uri)) sessions.push_back(entry.session);
  }
  return sessions;
}

namespace {

/// Of requests of our own, in raw JSON; those of conversations are numbers.
constexpr std::string_view own_ids = "\"cellblock-";
constexpr std::string_view first_words = mcp::method::initialize;

// Apart from `initialize`, which is no URI in JSON's form.
std::string subscription_to(std::string_view uri) { return "subscribe " + std::string(uri); }

std::string introduction(std::string_view own_id, std::string_view asked) {
  const Json params = parse_json(asked);
  return request_text(parse_json(own_id), mcp::method::initialize,
                      {{"protocolVersion", answer_to_version(string_in(params, "protocolVersion"))},
                       {"capabilities", Json::object()},
                       {"clientInfo", own_client_info()}});
}

// A task outlives the call that began it. Whose it is, and to whom its progress belongs then, each
// upstream knows from the answer that named it, and drops what is another's.
bool is_known_above(const Message& message) {
  if (!message.progress_token.empty()) return true;
  return message.method.starts_with(mcp::notification::tasks) && !message.task_ids.empty();
}

}  // namespace

// --- who is there --------------------------------------------------------------------------------

std::uint64_t ClientMultiplexer::number_of(const CellUser& user) const {
  const auto found = std::ranges::find(members_, &user, &Member::user);
  return found == members_.end() ? 0 : found->number;
}

CellUser* ClientMultiplexer::member(std::uint64_t number) const {
  const auto found = std::ranges::find(members_, number, &Member::number);
  return found == members_.end() ? nullptr : found->user;
}

CellUser* ClientMultiplexer::owner_of(std::string_view own_id) const {
  if (own_id.empty()) return nullptr;
  const auto found = std::ranges::find_if(
      members_, [own_id](const Member& one) { return one.user->owns(own_id); });
  return found == members_.end() ? nullptr : found->user;
}

// The level stays as it is: what the server then logs too much goes to no session.
void ClientMultiplexer::leave(CellUser& user) {
  const std::uint64_t who = number_of(user);
  if (who == 0) return;
  std::erase_if(members_, [who](const Member& one) { return one.number == who; });
  std::erase_if(answers_, [who](const Answer& one) { return one.member == who; });
  joint_.leave(who);
  levels_.erase(who);
  for (const std::string& uri : subscriptions_.forget(who)) {
    joint_.close(subscription_to(uri));
    say(request_text("cellblock-" + std::to_string(++unsubscribed_),
                     mcp::method::resources_unsubscribe, {{"uri", uri}}));
  }
}

Era ClientMultiplexer::agree_on(Era wanted) {
  if (!era_) era_ = wanted;
  return *era_;
}

// --- from the sessions ---------------------------------------------------------------------------

void ClientMultiplexer::from_user(CellUser& user, Slices message) {
  const WrittenMessage written(scanner_, joined(message));
  const std::string_view line = written.line();
  const auto& scanned = written.message();
  const std::uint64_t who = number_of(user);
  if (!scanned || who == 0) return;
  note_spoken(who);
  // No question of the server reaches a session, so no answer of one is to a question.
  if (scanned->kind == MessageKind::request) request(who, line, *scanned);
  if (scanned->kind == MessageKind::notification) notification(line, *scanned);
}

void ClientMultiplexer::note_spoken(std::uint64_t who) {
  const auto found = std::ranges::find(members_, who, &Member::number);
  if (found != members_.end()) found->has_spoken = true;
}

void ClientMultiplexer::request(std::uint64_t who, std::string_view line, const Message& message) {
  if (!effects_.has_room(line.size())) return refuse_for_room(who, message.id.in(line));
  if (message.method == mcp::method::initialize) return initialize(who, line, message);
  if (message.method == mcp::method::resources_subscribe) return subscribe(who, line, message);
  if (message.method == mcp::method::resources_unsubscribe) return unsubscribe(who, line, message);
  if (message.method == mcp::method::set_level) return set_level(who, line, message);
  // It would show what other sessions do.
  if (message.method == mcp::method::tasks_list) {
    return answer(who,
                  protocol_error(message.id.in(line), mcp::method_not_found, "Method not found"));
  }
  if (message.client_capabilities.empty()) return pass(line);
  pass(line, {{message.client_capabilities, "{}"}});
}

// A cell of one's own is ended when more waits for it than may. Here it would be ended for others.
void ClientMultiplexer::refuse_for_room(std::uint64_t who, std::string_view id) {
  answer(who,
         error_reply(id, plain_failure(FailureCode::too_many,
                                       "too much waits for this server, which reads nothing")));
}

// `initialized` once, and cancellations, whose ids are nobody else's. Everything else that a client
// says of itself the others have not said.
void ClientMultiplexer::notification(std::string_view line, const Message& message) {
  if (message.method == mcp::notification::initialized) {
    if (welcome_ && !std::exchange(is_initialized_, true)) pass(line);
  } else if (message.method == mcp::notification::cancelled) {
    // Others may wait for the same answer.
    if (!joint_.has(message.request_id.in(line))) pass(line);
  }
}

// In words of our own: what one session says of itself is not true of the others, and must not make
// the server refuse them all.
void ClientMultiplexer::initialize(std::uint64_t who, std::string_view line,
                                   const Message& message) {
  const std::string_view own_id = message.id.in(line);
  if (welcome_) return answer(who, result_reply(own_id, *welcome_));
  if (joint_.is_asked(first_words)) return joint_.wait(first_words, {who, std::string(own_id)});
  joint_.ask(first_words, {who, std::string(own_id)});
  say(introduction(own_id, message.params.in(line)));
}

void ClientMultiplexer::subscribe(std::uint64_t who, std::string_view line,
                                  const Message& message) {
  const std::string_view own_id = message.id.in(line);
  const std::string uri = read_string(message.uri.in(line));
  if (uri.empty()) return pass(line);
  const std::string what = subscription_to(uri);
  switch (subscriptions_.add(who, uri)) {
    case Subscriptions::Added::first:
      joint_.ask(what, {who, std::string(own_id)});
      return pass(line);
    case Subscriptions::Added::another:
      if (joint_.is_asked(what)) return joint_.wait(what, {who, std::string(own_id)});
      return answer(who, result_reply(own_id, "{}"));
    case Subscriptions::Added::refused:
      return answer(who, protocol_error(own_id, mcp::invalid_params,
                                        "too many subscriptions, or too long a URI"));
  }
}

void ClientMultiplexer::unsubscribe(std::uint64_t who, std::string_view line,
                                    const Message& message) {
  const std::string uri = read_string(message.uri.in(line));
  if (subscriptions_.remove(who, uri) == Subscriptions::Removed::some) {
    return answer(who, result_reply(message.id.in(line), "{}"));
  }
  joint_.close(subscription_to(uri));
  pass(line);
}

// As much as the one who wants most.
void ClientMultiplexer::set_level(std::uint64_t who, std::string_view line,
                                  const Message& message) {
  const auto wanted = log_level_of(read_string(message.level.in(line)));
  if (!wanted) return pass(line);
  levels_[who] = *wanted;
  unsigned most = *wanted;
  for (const auto& [member, level] : levels_) most = std::min(most, level);
  if (level_ == most) return answer(who, result_reply(message.id.in(line), "{}"));
  level_ = most;
  pass(line, {{message.level, '"' + std::string(log_levels.at(most)) + '"'}});
}

void ClientMultiplexer::pass(std::string_view line, std::vector<Replacement> edits) {
  effects_.to_cell(EditedMessage(line, std::move(edits)).slices());
  effects_.settle_soon();
}

void ClientMultiplexer::say(std::string_view text) {
  effects_.to_cell(std::array<std::string_view, 2>{text, "\n"});
  effects_.settle_soon();
}

// Later: whoever asks is in the middle of it.
void ClientMultiplexer::answer(std::uint64_t who, std::string text) {
  answers_.push_back({who, std::move(text)});
  effects_.settle_soon();
}

void ClientMultiplexer::tell(Time now) {
  while (!answers_.empty()) {
    Answer next = std::move(answers_.front());
    answers_.pop_front();
    const WrittenMessage written(scanner_, std::move(next.text));
    CellUser* const user = member(next.member);
    if (written.message() && user != nullptr) {
      user->from_cell(written.line(), *written.message(), now);
    }
  }
}

// --- from the server -----------------------------------------------------------------------------

void ClientMultiplexer::from_cell(std::string_view line, const Message& message, Time now) {
  switch (message.kind) {
    case MessageKind::request:
      return refuse_request(line, message);
    case MessageKind::notification:
      return notified(line, message, now);
    case MessageKind::result:
    case MessageKind::error:
      return answered(line, message, now);
  }
}

// An answer that nobody owns: whoever asked has left, it is to a request of our own, or nobody
// asked.
void ClientMultiplexer::answered(std::string_view line, const Message& message, Time now) {
  const std::string_view own_id = message.id.in(line);
  const auto done = joint_.take(own_id);
  if (done) settle_joint(*done, line, message);
  if (CellUser* user = owner_of(own_id)) return user->from_cell(line, message, now);
  if (!done && !own_id.starts_with(own_ids)) ++foreign_answers_;
}

void ClientMultiplexer::settle_joint(const RequestCoalescer::Done& done, std::string_view line,
                                     const Message& message) {
  const bool is_result = message.kind == MessageKind::result;
  if (!is_result) {
    forget_lost(done);
  } else if (done.what == first_words) {
    welcome_ = message.result.in(line);
  }
  for (const RequestCoalescer::Waiting& one : done.waiting) {
    if (one.own_id == message.id.in(line)) continue;
    answer(one.member, EditedMessage(line, {{message.id, one.own_id}}).flatten());
  }
}

void ClientMultiplexer::forget_lost(const RequestCoalescer::Done& done) {
  if (done.what == first_words) {
    is_spent_ = true;
    return;
  }
  if (joint_.is_asked(done.what)) return;  // anew, since
  const std::string uri = done.what.substr(subscription_to("").size());
  for (const RequestCoalescer::Waiting& one : done.waiting) subscriptions_.remove(one.member, uri);
}

std::vector<std::string> ClientMultiplexer::lost(std::string_view own_id) {
  const auto done = joint_.take(own_id);
  std::vector<std::string> others;
  if (!done) return others;
  forget_lost(*done);
  for (const RequestCoalescer::Waiting& one : done->waiting) {
    if (one.own_id != own_id) others.push_back(one.own_id);
  }
  return others;
}

void ClientMultiplexer::lose_all() {
  answers_.clear();
  for (const RequestCoalescer::Done& done : joint_.take_all()) forget_lost(done);
}

// Nobody can say on whose behalf it asks.
void ClientMultiplexer::refuse_request(std::string_view line, const Message& message) {
  const std::string_view id = message.id.in(line);
  if (message.method == mcp::method::ping) return say(result_reply(id, "{}"));
  // What is none of MCP's is the server's own text, which nothing has looked at.
  const bool is_known = mcp::find_method(message.method) != nullptr;
  effects_.record({.kind = wire::AuditKind::refused,
                   .outcome = wire::AuditOutcome::denied,
                   .tool = is_known ? std::string_view(message.method) : std::string_view{},
                   .reason = "shared_cell",
                   .bytes = line.size()});
  say(protocol_error(id, mcp::method_not_found, "Method not found"));
}

void ClientMultiplexer::notified(std::string_view line, const Message& message, Time now) {
  if (message.method == mcp::notification::log_message && message.subscription_id.empty() &&
      message.progress_token.empty()) {
    return effects_.keep_log(message.params.in(line));
  }
  for (const std::uint64_t number : audience(line, message)) {
    // One that heard of it may have made another one leave.
    if (CellUser* user = member(number)) user->from_cell(line, message, now);
  }
}

std::vector<std::uint64_t> ClientMultiplexer::audience(std::string_view line,
                                                       const Message& message) const {
  for (const Span named : {message.request_id, message.subscription_id}) {
    if (named.empty()) continue;
    const CellUser* owner = owner_of(named.in(line));
    if (owner == nullptr) return {};
    return {number_of(*owner)};
  }
  if (const CellUser* owner = owner_of(message.progress_token.in(line))) {
    return {number_of(*owner)};
  }
  if (message.method == mcp::notification::resource_updated) {
    return subscriptions_.wanting(read_string(message.uri.in(line)));
  }
  std::vector<std::uint64_t> all;
  const bool is_for_all = mcp::changed_list(message.method) || is_known_above(message);
  if (!is_for_all) return all;
  // Of the others nobody knows yet in which era they are to hear it.
  for (const Member& one : members_) {
    if (one.has_spoken) all.push_back(one.number);
  }
  return all;
}

}  // namespace cellblock::gateway
