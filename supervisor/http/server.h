#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "policy/config/config.h"
#include "supervisor/http/backend.h"
#include "supervisor/http/front.h"
#include "supervisor/http/refused_tokens.h"
#include "supervisor/http/share_budget.h"
#include "supervisor/http/supervisor_link.h"
#include "supervisor/http_connection/connection.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::http {

/// What the descriptors carry, brought to the Front, and what that decides, carried out. One
/// thread.
class Server final : public HttpContext {
 public:
  /// `listener`: of TCP, listening; not valid: there is none.
  Server(EventLoop& loop, Config config, Fd supervisor, Fd listener);
  ~Server() override;

  Result<void> start();
  /// Why it cannot go on; empty: it was told to stop.
  const std::string& failure() const { return failure_; }
  /// Takes no new connections, and gives requests in progress a moment to end. Then the loop stops.
  void finish();

  BackendId open(const Caller& caller) override;
  bool send(BackendId backend, std::span<const std::string_view> slices) override;
  void close(BackendId backend) override;
  void reply(ExchangeId exchange, const Reply& reply) override;
  void begin_stream(ExchangeId exchange, const std::vector<Header>& headers) override;
  void stream(ExchangeId exchange, std::string_view bytes) override;
  void end_stream(ExchangeId exchange) override;
  std::string random_name() override;

 private:
  /// One host's connection with the request that is being answered.
  struct Guest {
    std::unique_ptr<Connection> connection;
    std::optional<Caller> peer;  ///< of the Unix socket
    Caller caller;               ///< of the request at hand
    ExchangeId exchange = 0;     ///< 0: none
    std::string from;            ///< its address; empty: of the Unix socket
    Time since{};                ///< when it came
  };
  using GuestId = std::uint64_t;

  void reconfigure(const Fd& sealed);
  void tell(const std::vector<RefusedToken>& refused);
  void accept_some();
  bool somebody_waits() const;
  bool make_room();
  bool push_out_idle();
  bool close_idle(GuestId id);
  bool has_place_for(const Guest& newcomer, const Caller& caller);
  std::vector<GuestId> strangers() const;
  void fail_listening(int error);
  void welcome(Fd socket, std::optional<Caller> peer, std::string from);
  Connection::Events events_of(GuestId id);
  std::optional<Reply> look_at(Guest& guest, const Request& head);
  std::optional<Reply> charge(const Guest& guest, std::uint64_t bytes);
  void bound_queue(ExchangeId exchange);
  void ask(GuestId id, Request request);
  void guest_over(GuestId id, bool answering);
  Connection* connection_of(ExchangeId exchange);
  bool has_room(BackendId backend) const;
  void backend_ended(BackendId backend);
  void tick();
  void flush_later();
  void flush_all();
  void sweep();
  void bury_guests();

  EventLoop& loop_;
  Config config_;
  Connection::Bounds bounds_;
  ShareBudget bodies_;
  Fd listener_;
  Watch listening_;
  SupervisorLink supervisor_;
  Front front_;
  RefusedTokens refused_tokens_;
  Timer ticks_;
  Timer pause_;
  Timer last_moment_;
  std::map<GuestId, Guest> guests_;
  std::map<BackendId, std::unique_ptr<Backend>> backends_;
  std::map<BackendId, CallerKey> callers_;  ///< of the same
  std::map<ExchangeId, GuestId> exchanges_;
  std::set<GuestId> dirty_guests_;
  std::set<BackendId> dirty_backends_;
  std::vector<ExchangeId> closed_;  ///< the Front is to be told
  std::vector<Guest> dead_guests_;
  std::vector<std::unique_ptr<Backend>> dead_backends_;
  std::uint64_t next_guest_ = 1;
  std::uint64_t next_exchange_ = 1;
  std::uint32_t next_backend_ = 1;
  std::size_t tcp_guests_ = 0;
  std::string failure_;
  bool flush_due_ = false;
  bool finishing_ = false;
};

}  // namespace cellblock::http
