#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/http/legacy_session.h"
#include "supervisor/http/modern_link.h"
#include "supervisor/http_connection/access.h"

namespace cellblock::http {

/// The bearer tokens, by their digests. A token itself is in this process only until the headers
/// that a host sent with it have been looked at (request.h).
class Credentials {
 public:
  explicit Credentials(std::vector<HttpToken> tokens) : tokens_(std::move(tokens)) {}

  /// The index of the token that the value of `Authorization` carries. Takes as long for a wrong
  /// one as for a right one.
  std::optional<std::uint32_t> find(std::string_view authorization) const;

  /// Whether there is one at all.
  static bool carries_token(std::string_view authorization);

 private:
  std::vector<HttpToken> tokens_;
};

/// Requests in, messages to gateways out, and the other way round: who may ask, which era it is,
/// and whose session. Pure: events in, HttpContext out. Every table is bounded, per identity.
class Front {
 public:
  using Time = std::chrono::milliseconds;  ///< since any fixed point

  /// `idle_tokens`: policy/access/rights.h.
  Front(HttpContext& around, const HttpListen& listen, std::set<std::uint32_t> idle_tokens = {});

  /// Decided by the headers alone, before a byte of the body is read.
  struct Admission {
    std::optional<Reply> refusal;
    Caller caller;
    bool is_wrong_token = false;  ///< it carries one, and that is none of ours
  };
  /// `peer`: of a Unix socket, as the supervisor said; none: over TCP.
  Admission admit(const Request& head, const std::optional<Caller>& peer) const;

  /// A whole request of an admitted caller.
  void ask(ExchangeId exchange, const Caller& caller, Request request);
  /// The host closed its connection before the answer was complete.
  void exchange_closed(ExchangeId exchange);

  /// `line` without its newline, followed by MessageScanner::padding readable bytes.
  void backend_line(BackendId backend, std::string_view line);
  void backend_ended(BackendId backend);

  /// The permissions have changed: sessions of revoked tokens are ended.
  void reconfigure(const HttpListen& listen, std::set<std::uint32_t> idle_tokens);

  /// At a steady pace, about every 15 s.
  void tick(Time now);
  void set_now(Time now) { now_ = now; }

 private:
  struct Session {
    CallerKey owner;
    std::string server;
    LegacySession machine;
  };
  using LinkKey = std::pair<CallerKey, std::string>;
  struct Owner {
    std::string session;          ///< its name; empty: a link
    std::optional<LinkKey> link;  ///< of a link
  };
  struct Question {
    ExchangeId exchange;
    const Caller& caller;
    const Request& request;
    std::string server;
    std::string_view line;
    std::vector<Header> headers;
  };

  void post(Question question, std::string line);
  void refuse(const Question& question, Reply reply);
  void ask_legacy(const Question& question, const Message& message);
  void ask_modern(const Question& question, const Message& message);
  void begin_session(const Question& question, const Message& message);
  void listen_in(const Question& question);
  void end_session(const Question& question);
  Session* session_of(const Question& question);
  std::size_t sessions_of(const CallerKey& owner) const;
  std::size_t links_of(const CallerKey& owner) const;
  void forget_session(const std::string& name, std::string_view error);
  void forget_link(const LinkKey& key, std::string_view error);
  void end_revoked(const std::vector<HttpToken>& tokens);

  HttpContext& around_;
  AccessRules access_;
  Credentials credentials_;
  std::set<std::uint32_t> idle_tokens_;
  std::size_t max_sessions_;
  Time session_idle_;
  MessageScanner scanner_;
  std::map<std::string, std::unique_ptr<Session>, std::less<>> sessions_;
  std::map<LinkKey, std::unique_ptr<ModernLink>> links_;
  std::unordered_map<BackendId, Owner> owners_;
  Time now_{0};
};

}  // namespace cellblock::http
