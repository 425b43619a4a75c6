#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/egress/connection.h"
#include "supervisor/egress/dns_sockets.h"
#include "supervisor/egress/egress_context.h"
#include "supervisor/egress/event_sender.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"

namespace cellblock::egress {

/// A socket that was bound in the cell's network.
struct ServedSocket {
  wire::EgressSocketKind kind{};
  Fd socket;
};

/// What the program never changes.
struct HelperOptions {
  SyntheticRange range;
  ResolverOptions resolver;
};

/// Everything that one cell's egress consists of, on one loop.
class Helper {
 public:
  /// `rules` must outlive it.
  static Result<std::unique_ptr<Helper>> make(EventLoop& loop, const Egress& rules, Fd gateway,
                                              std::vector<ServedSocket> sockets,
                                              const HelperOptions& options = {});

  Helper(EventLoop& loop, const Egress& rules, Fd gateway, std::unique_ptr<Resolver> resolver,
         const SyntheticRange& range);
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper();

  /// The cell is gone: tells all that is still to be told, and then the loop ends.
  void finish();

 private:
  static constexpr int batch = 16;
  static constexpr std::size_t max_dns_streams = 16;
  static constexpr Milliseconds pause{100};  ///< when there are no descriptors left

  struct Listener;
  void tell(const wire::EgressEvent& event);
  SysResult<void> serve(ServedSocket served);
  SysResult<void> listen(ServedSocket served);
  void accept_some(Listener& listener);
  void admit(wire::EgressSocketKind kind, Fd socket);
  void admit_connection(wire::EgressSocketKind kind, Fd socket);
  void admit_dns(Fd socket);

  EventLoop& loop_;
  EventSender sender_;
  NameTable names_;
  std::unique_ptr<Resolver> resolver_;
  ByteBudget budget_;
  QuestionBudget questions_;
  EgressContext around_;
  DnsResponder responder_;
  DnsLookups lookups_;
  std::vector<std::unique_ptr<DnsUdp>> udp_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::map<std::uint32_t, std::unique_ptr<Connection>> connections_;
  std::map<std::uint32_t, std::shared_ptr<DnsStream>> streams_;
  std::uint32_t attempts_ = 0;
  std::uint32_t stream_count_ = 0;
};

}  // namespace cellblock::egress
