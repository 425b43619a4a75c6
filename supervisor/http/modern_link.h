#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "supervisor/http/answer.h"
#include "supervisor/http/link.h"

namespace cellblock::http {

/// What one identity asks at one path in revision 2026-07-28, which has no sessions: each POST is a
/// request of its own, over one connection to the gateway that they share. Ids, progress tokens and
/// subscription ids are replaced by ours on the way, so that two hosts of an identity never
/// collide. Pure.
class ModernLink {
 public:
  using Time = std::chrono::milliseconds;  ///< since any fixed point

  ModernLink(HttpContext& around, const Caller& caller, std::string_view server, Time now)
      : around_(around), link_(around, caller, server), heard_at_(now) {}

  BackendId backend() const { return link_.backend(); }

  void post(ExchangeId exchange, std::string_view line, const Message& message,
            const std::vector<Header>& headers, Time now);
  /// Cancels what it had asked.
  void exchange_closed(ExchangeId exchange);

  enum class Fate : std::uint8_t { goes_on, over };
  Fate hear(std::string_view line, const Message& message);
  const std::string& refusal() const { return link_.error(); }
  /// Everybody who waits is answered with that error object.
  void end(std::string_view error);

  void keep_alive();
  bool is_idle(Time now, Time longest) const;

 private:
  struct Waiting {
    Answer answer;
    std::string id;              ///< as the host wrote it, raw JSON
    std::string progress_token;  ///< likewise; empty: it wants no progress
    std::string version;         ///< likewise
    bool wants_log = false;
  };
  using Table = std::map<std::uint64_t, Waiting>;

  void respond(std::string_view line, const Message& message);
  void pass(std::string_view line, const Message& message);
  void pass_progress(std::string_view line, const Message& message);
  void pass_log(std::string_view line);
  void end_stream(std::string_view number);
  Table::iterator find(std::string_view number);

  HttpContext& around_;
  Link link_;
  Time heard_at_;
  Table waiting_;
  std::uint64_t next_ = 1;
};

/// The HTTP status that goes with a JSON-RPC error response in a body of its own.
unsigned status_of_error(std::string_view error);

}  // namespace cellblock::http
