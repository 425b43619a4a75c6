#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "supervisor/egress/deferred_work.h"
#include "supervisor/egress/dns_responder.h"
#include "supervisor/os/event_loop.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace cellblock::egress {

struct ResolverOptions {
  std::string servers;  ///< "127.0.0.1:5353,..."; empty: as /etc/resolv.conf says
};

/// The host's way to resolve names (/etc/resolv.conf, /etc/hosts), by c-ares within our loop.
/// Nothing is kept: each lookup asks anew, but for one that is already on its way.
class Resolver {
 public:
  using Answer = std::function<void(const LookupResult&)>;
  /// Dropping it cancels the lookup.
  using Lookup = std::shared_ptr<Answer>;

  static Result<std::unique_ptr<Resolver>> make(EventLoop& loop,
                                                const ResolverOptions& options = {});
  explicit Resolver(EventLoop& loop);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  /// `answer` runs later, never within this call, and once.
  Lookup look_up(const std::string& name, Answer answer);

 private:
  static constexpr std::size_t max_queries = 128;

  struct Query;
  static void on_socket(void* self, int socket, int readable, int writable);
  static void on_answer(void* query, int status, int timeouts, ares_addrinfo* found);

  void watch(int socket, bool readable, bool writable);
  void process(int readable, int writable);
  void set_timer();
  void answer(const std::string& name, const LookupResult& result);

  EventLoop& loop_;
  Later later_;
  Timer timer_;
  ares_channeldata* channel_ = nullptr;
  std::map<int, std::shared_ptr<Watch>> watches_;
  std::map<std::string, std::vector<std::weak_ptr<Answer>>> waiting_;
};

}  // namespace cellblock::egress
