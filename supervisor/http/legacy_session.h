#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/http/answer.h"
#include "supervisor/http/link.h"

namespace cellblock::http {

/// A session of a host of the revisions 2025-03-26 to 2025-11-25: one connection to the gateway,
/// and the streams that its messages go out on. Each message goes to one stream: a response and
/// the progress of a request to that request's own; what the server asks or logs to the youngest
/// request that is answered, since it is about what runs; what has changed to the stream of GET.
/// What finds no stream waits for the next GET. Pure.
class LegacySession {
 public:
  using Time = std::chrono::milliseconds;  ///< since any fixed point

  LegacySession(HttpContext& around, const Caller& caller, std::string_view server,
                std::string name, Time now)
      : around_(around), link_(around, caller, server), name_(std::move(name)), heard_at_(now) {}

  const std::string& name() const { return name_; }
  BackendId backend() const { return link_.backend(); }

  void post(ExchangeId exchange, std::string_view line, const Message& message,
            const std::vector<Header>& headers, Time now);
  void get(ExchangeId exchange, const std::vector<Header>& headers, Time now);
  void exchange_closed(ExchangeId exchange);

  enum class Fate : std::uint8_t { goes_on, over };
  Fate hear(std::string_view line, const Message& message);
  /// Why the gateway refused it, as an error object; empty: it did not.
  const std::string& refusal() const { return link_.error(); }
  /// Everybody who waits is answered with that error object.
  void end(std::string_view error);

  void keep_alive();
  bool is_idle(Time now, Time longest) const;

 private:
  struct Waiting {
    std::optional<Answer> answer;  ///< none: its host has gone, and the id is still in use
    std::string progress_token;
    std::uint64_t order = 0;
    bool initializes = false;
  };
  using Table = std::map<std::string, Waiting, std::less<>>;

  void ask(ExchangeId exchange, std::string_view line, const Message& message,
           const std::vector<Header>& headers);
  void cancel(std::string_view id);
  Fate respond(std::string_view line, const Message& message);
  void route(std::string_view line, const Message& message);
  Answer* stream_for(std::string_view line, const Message& message);
  Answer* owner_of_token(std::string_view token);
  Answer* youngest();
  void park(std::string_view line);

  HttpContext& around_;
  Link link_;
  std::string name_;
  Time heard_at_;
  Table waiting_;
  std::optional<Answer> get_;
  std::deque<std::string> parked_;
  std::size_t parked_bytes_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace cellblock::http
