#include "supervisor/http/front.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "policy/encoding/sha256.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/http/request_rules.h"
#include "supervisor/http_connection/http_context.h"
#include "supervisor/http_connection/request.h"

namespace cellblock::http {
namespace {

constexpr std::string_view scheme = "bearer ";

}  // namespace

bool Credentials::carries_token(std::string_view authorization) {
  return lower_case(authorization.substr(0, scheme.size())) == scheme;
}

std::optional<std::uint32_t> Credentials::find(std::string_view authorization) const {
  if (!carries_token(authorization)) return std::nullopt;
  const Sha256 digest = sha256(authorization.substr(scheme.size()));
  std::optional<std::uint32_t> found;
  // All of them, whichever it is.
  for (std::uint32_t index = 0; index < tokens_.size(); ++index) {
    const auto& wanted = tokens_[index].sha256;
    const bool is_it = CRYPTO_memcmp(wanted.data(), digest.data(), wanted.size()) == 0;
    if (is_it && !tokens_[index].revoked) found = index;
  }
  return found;
}

namespace {

constexpr std::size_t most_links = 32;  // of one identity: one for each path it uses
constexpr int no_server = -31001;       // FailureCode::not_allowlisted
constexpr std::string_view connection_lost =
    R"({"code":-31003,"message":"The connection to cellblock's gateway ended","data":{"code":"server_failed"}})";
constexpr std::string_view was_revoked =
    R"({"code":-31014,"message":"This bearer token was revoked","data":{"code":"denied"}})";
constexpr std::string_view session_ended =
    R"({"code":-31003,"message":"The session was ended","data":{"code":"server_failed"}})";

constexpr std::string_view realm = "Bearer realm=\"cellblock\"";

Reply no_token() {
  Reply reply = error_page(401, {}, mcp::invalid_request, "A bearer token is needed");
  reply.headers.push_back({"WWW-Authenticate", std::string(realm)});
  return reply;
}

// As RFC 6750 wants it.
Reply wrong_token() {
  Reply reply =
      error_page(401, {}, mcp::invalid_request, "This bearer token is none that cellblock knows");
  reply.headers.push_back({"WWW-Authenticate", std::string(realm) + ", error=\"invalid_token\""});
  return reply;
}

Reply not_allowlisted() {
  return error_page(
      403, {}, no_server,
      "This user may use no server of cellblock: no server's allow or rule names him.",
      R"({"code":"not_allowlisted"})");
}

// One line, as the socket's protocol wants it. A newline of a valid message is white space.
std::string on_one_line(std::string body) {
  std::ranges::replace(body, '\n', ' ');
  std::ranges::replace(body, '\r', ' ');
  body.append(MessageScanner::padding, '\0');
  return body;
}

}  // namespace

Front::Front(HttpContext& around, const HttpListen& listen, std::set<std::uint32_t> idle_tokens)
    : around_(around),
      access_{listen.hosts, listen.origins},
      credentials_(listen.tokens),
      idle_tokens_(std::move(idle_tokens)),
      max_sessions_(listen.max_sessions),
      session_idle_(listen.session_idle) {}

Front::Admission Front::admit(const Request& head, const std::optional<Caller>& peer) const {
  const Transport transport = peer ? Transport::unix_socket : Transport::tcp;
  Admission admission;
  admission.refusal = refuse_stranger(head, transport, access_);
  if (admission.refusal) return admission;
  if (head.verb == Verb::options) {
    admission.refusal = preflight(head);
  } else if (peer) {
    admission.caller = *peer;
  } else if (const auto token = credentials_.find(head.header("authorization").value_or(""))) {
    admission.caller = {.kind = Caller::Kind::token, .token = *token};
    if (idle_tokens_.contains(*token)) admission.refusal = not_allowlisted();
  } else {
    const bool has_token = Credentials::carries_token(head.header("authorization").value_or(""));
    admission.is_wrong_token = has_token;
    admission.refusal = has_token ? wrong_token() : no_token();
  }
  if (!admission.refusal) admission.refusal = refuse_head(head);
  if (!admission.refusal) return admission;
  for (Header& header : cors_headers(head)) admission.refusal->headers.push_back(std::move(header));
  return admission;
}

void Front::refuse(const Question& question, Reply reply) {
  for (const Header& header : question.headers) reply.headers.push_back(header);
  around_.reply(question.exchange, reply);
}

void Front::ask(ExchangeId exchange, const Caller& caller, Request request) {
  std::string body = std::move(request.body);
  Question question{exchange, caller,
                    request,  server_of_target(request.target).value_or(""),
                    {},       cors_headers(request)};
  switch (request.verb) {
    case Verb::post:
      return post(std::move(question), std::move(body));
    case Verb::get:
      return listen_in(question);
    case Verb::del:
      return end_session(question);
    default:
      return refuse(question,
                    error_page(405, {}, mcp::invalid_request, "Allowed: POST, GET, DELETE"));
  }
}

void Front::post(Question question, std::string line) {
  const std::size_t size = line.size();
  line = on_one_line(std::move(line));
  question.line = std::string_view(line).substr(0, size);
  const auto message = scanner_.scan(question.line);
  if (!message) {
    const Refused& why = message.error();
    return refuse(question, error_page(400, why.id.in(question.line), error_code_of(why.fault),
                                       explain(why.fault)));
  }
  if (era_of(question.request, *message) == HttpEra::modern) return ask_modern(question, *message);
  ask_legacy(question, *message);
}

// --- 2025-03-26 to 2025-11-25 --------------------------------------------------------------------

void Front::ask_legacy(const Question& question, const Message& message) {
  const std::string_view id = message.id.in(question.line);
  if (auto wrong = refuse_version(question.request, id)) return refuse(question, *wrong);
  const bool named = question.request.header("mcp-session-id").has_value();
  if (message.kind == MessageKind::request && message.method == mcp::method::initialize && !named) {
    return begin_session(question, message);
  }
  Session* const session = session_of(question);
  if (session == nullptr) {
    return refuse(question,
                  error_page(named ? 404 : 400, id, mcp::invalid_request,
                             named ? "There is no such session" : "Mcp-Session-Id is missing"));
  }
  session->machine.post(question.exchange, question.line, message, question.headers, now_);
}

void Front::begin_session(const Question& question, const Message& message) {
  const std::string_view id = message.id.in(question.line);
  const CallerKey owner = key_of(question.caller);
  std::string name = around_.random_name();
  if (name.empty() || sessions_of(owner) >= max_sessions_) {
    return refuse(question, error_page(503, id, too_many_code,
                                       "Too many sessions; end one (DELETE) and try again"));
  }
  auto session = std::unique_ptr<Session>(
      new Session{owner, question.server, {around_, question.caller, question.server, name, now_}});
  Session& added = *sessions_.emplace(name, std::move(session)).first->second;
  owners_.emplace(added.machine.backend(), Owner{name, {}});
  added.machine.post(question.exchange, question.line, message, question.headers, now_);
}

// Somebody else's is as one that never was.
Front::Session* Front::session_of(const Question& question) {
  const auto name = question.request.header("mcp-session-id");
  const auto found = name ? sessions_.find(*name) : sessions_.end();
  if (found == sessions_.end()) return nullptr;
  Session& session = *found->second;
  const bool own = session.owner == key_of(question.caller) && session.server == question.server;
  return own ? &session : nullptr;
}

void Front::listen_in(const Question& question) {
  if (auto wrong = refuse_version(question.request, {})) return refuse(question, *wrong);
  Session* const session = session_of(question);
  if (session != nullptr) return session->machine.get(question.exchange, question.headers, now_);
  const bool named = question.request.header("mcp-session-id").has_value();
  Reply reply = error_page(named ? 404 : 405, {}, mcp::invalid_request,
                           named ? "There is no such session" : "Mcp-Session-Id is missing");
  if (!named) reply.headers.push_back({"Allow", "POST"});
  refuse(question, std::move(reply));
}

void Front::end_session(const Question& question) {
  const Session* const session = session_of(question);
  if (session == nullptr) {
    const bool named = question.request.header("mcp-session-id").has_value();
    return refuse(question,
                  error_page(named ? 404 : 405, {}, mcp::invalid_request,
                             named ? "There is no such session" : "Mcp-Session-Id is missing"));
  }
  forget_session(std::string(session->machine.name()), session_ended);
  refuse(question, {204, {}, {}});
}

std::size_t Front::sessions_of(const CallerKey& owner) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.second->owner == owner; }));
}

void Front::forget_session(const std::string& name, std::string_view error) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return;
  const auto session = std::move(found->second);
  sessions_.erase(found);
  owners_.erase(session->machine.backend());
  session->machine.end(error);
}

// --- 2026-07-28 ----------------------------------------------------------------------------------

void Front::ask_modern(const Question& question, const Message& message) {
  // The revision has no notification for a host to send over HTTP: closing a request cancels it.
  if (message.kind != MessageKind::request) {
    const bool response = message.kind != MessageKind::notification;
    return refuse(question, response ? error_page(400, {}, mcp::invalid_request,
                                                  "Revision 2026-07-28 takes no responses")
                                     : Reply{202, {}, {}});
  }
  if (auto wrong = refuse_modern(question.request, question.line, message)) {
    return refuse(question, *wrong);
  }
  const LinkKey key{key_of(question.caller), question.server};
  auto found = links_.find(key);
  if (found == links_.end()) {
    if (links_of(key.first) >= most_links) {
      return refuse(question, error_page(503, message.id.in(question.line), too_many_code,
                                         "Too many servers are in use at one time"));
    }
    found = links_
                .emplace(key, std::make_unique<ModernLink>(around_, question.caller,
                                                           question.server, now_))
                .first;
    owners_.emplace(found->second->backend(), Owner{{}, key});
  }
  found->second->post(question.exchange, question.line, message, question.headers, now_);
}

std::size_t Front::links_of(const CallerKey& owner) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(links_, [&](const auto& entry) { return entry.first.first == owner; }));
}

void Front::forget_link(const LinkKey& key, std::string_view error) {
  const auto found = links_.find(key);
  if (found == links_.end()) return;
  const auto link = std::move(found->second);
  links_.erase(found);
  owners_.erase(link->backend());
  link->end(error);
}

// --- what happens --------------------------------------------------------------------------------

void Front::exchange_closed(ExchangeId exchange) {
  for (auto& [name, session] : sessions_) session->machine.exchange_closed(exchange);
  for (auto& [key, link] : links_) link->exchange_closed(exchange);
}

void Front::backend_line(BackendId backend, std::string_view line) {
  const auto found = owners_.find(backend);
  const auto message = scanner_.scan(line);
  // What no host could read is no answer either.
  if (found == owners_.end() || !message) return;
  const Owner owner = found->second;
  if (owner.link) {
    ModernLink& link = *links_.at(*owner.link);
    if (link.hear(line, *message) == ModernLink::Fate::goes_on) return;
    const std::string why = link.refusal();
    return forget_link(*owner.link, why);
  }
  LegacySession& session = sessions_.find(owner.session)->second->machine;
  if (session.hear(line, *message) == LegacySession::Fate::goes_on) return;
  const std::string why = session.refusal();
  forget_session(owner.session, why.empty() ? session_ended : std::string_view(why));
}

void Front::backend_ended(BackendId backend) {
  const auto found = owners_.find(backend);
  if (found == owners_.end()) return;
  const Owner owner = found->second;
  if (owner.link) return forget_link(*owner.link, connection_lost);
  forget_session(owner.session, connection_lost);
}

void Front::reconfigure(const HttpListen& listen, std::set<std::uint32_t> idle_tokens) {
  access_ = {listen.hosts, listen.origins};
  credentials_ = Credentials(listen.tokens);
  idle_tokens_ = std::move(idle_tokens);
  max_sessions_ = listen.max_sessions;
  session_idle_ = listen.session_idle;
  end_revoked(listen.tokens);
}

void Front::end_revoked(const std::vector<HttpToken>& tokens) {
  const auto is_revoked = [&](const CallerKey& owner) {
    const bool is_token = owner.kind == Caller::Kind::token;
    return is_token && (owner.number >= tokens.size() || tokens[owner.number].revoked);
  };
  std::vector<std::string> sessions;
  for (const auto& [name, session] : sessions_) {
    if (is_revoked(session->owner)) sessions.push_back(name);
  }
  for (const std::string& name : sessions) forget_session(name, was_revoked);
  std::vector<LinkKey> links;
  for (const auto& [key, link] : links_) {
    if (is_revoked(key.first)) links.push_back(key);
  }
  for (const LinkKey& key : links) forget_link(key, was_revoked);
}

void Front::tick(Time now) {
  now_ = now;
  std::vector<std::string> idle_sessions;
  for (auto& [name, session] : sessions_) {
    session->machine.keep_alive();
    if (session->machine.is_idle(now, session_idle_)) idle_sessions.push_back(name);
  }
  for (const std::string& name : idle_sessions) forget_session(name, session_ended);
  std::vector<LinkKey> idle_links;
  for (auto& [key, link] : links_) {
    link->keep_alive();
    if (link->is_idle(now, session_idle_)) idle_links.push_back(key);
  }
  for (const LinkKey& key : idle_links) forget_link(key, session_ended);
}

}  // namespace cellblock::http
