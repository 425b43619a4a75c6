#include "supervisor/egress/resolver.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace cellblock::egress {
namespace {

constexpr int tries = 2;  // of each server
constexpr int timeout_milliseconds = 3'000;

Error ares_error(int status) { return Error{std::string("c-ares: ") + ares_strerror(status)}; }

InternetAddress address_of(const sockaddr* any) {
  InternetAddress address{};
  if (any->sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, any, sizeof ipv4);
    address = every_ipv4.address;
    std::memcpy(&address.at(ipv4_offset), &ipv4.sin_addr, sizeof ipv4.sin_addr);
  } else {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, any, sizeof ipv6);
    std::memcpy(address.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
  }
  return address;
}

LookupStatus status_of(int status) {
  switch (status) {
    case ARES_SUCCESS:
      return LookupStatus::found;
    case ARES_ENOTFOUND:
      return LookupStatus::no_such_name;
    case ARES_ENODATA:
      return LookupStatus::no_address;
    default:
      return LookupStatus::failed;
  }
}

LookupResult result_of(int status, const ares_addrinfo* found) {
  LookupResult result{.status = status_of(status), .addresses = {}};
  if (found == nullptr) return result;
  for (const ares_addrinfo_node* node = found->nodes;
       node != nullptr && result.addresses.size() < max_addresses; node = node->ai_next) {
    if (node->ai_family != AF_INET && node->ai_family != AF_INET6) continue;
    result.addresses.push_back(address_of(node->ai_addr));
  }
  if (result.status == LookupStatus::found && result.addresses.empty()) {
    result.status = LookupStatus::no_address;
  }
  return result;
}

}  // namespace

struct Resolver::Query {
  Resolver& resolver;
  std::string name;
};

Resolver::Resolver(EventLoop& loop)
    : loop_(loop),
      later_(loop),
      timer_(loop, [this] { process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); }) {}

Resolver::~Resolver() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

Result<std::unique_ptr<Resolver>> Resolver::make(EventLoop& loop, const ResolverOptions& options) {
  auto resolver = std::make_unique<Resolver>(loop);
  ares_options wanted{};
  // The name is whole and normal: no search list, no aliases from the environment.
  wanted.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  wanted.timeout = timeout_milliseconds;
  wanted.tries = tries;
  wanted.sock_state_cb = &Resolver::on_socket;
  wanted.sock_state_cb_data = resolver.get();
  int status = ares_library_init(ARES_LIB_INIT_ALL);
  if (status == ARES_SUCCESS) {
    status = ares_init_options(
        &resolver->channel_, &wanted,
        ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
  }
  if (status == ARES_SUCCESS && !options.servers.empty()) {
    status = ares_set_servers_ports_csv(resolver->channel_, options.servers.c_str());
  }
  if (status != ARES_SUCCESS) return std::unexpected(ares_error(status));
  return resolver;
}

Resolver::Lookup Resolver::look_up(const std::string& name, Answer answer) {
  auto lookup = std::make_shared<Answer>(std::move(answer));
  const auto known = waiting_.find(name);
  if (known != waiting_.end()) {
    known->second.push_back(lookup);
    return lookup;
  }
  const bool is_full = waiting_.size() >= max_queries;
  waiting_[name].push_back(lookup);
  if (is_full) {
    this->answer(name, {});
    return lookup;
  }
  // Not sorted: that would make sockets to find out which routes there are. The dialer sees.
  const ares_addrinfo_hints hints{.ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC};
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, &Resolver::on_answer,
                   new Query{*this, name});
  set_timer();
  return lookup;
}

void Resolver::on_answer(void* argument, int status, int /*timeouts*/, ares_addrinfo* found) {
  const std::unique_ptr<Query> query(static_cast<Query*>(argument));
  // From our destructor: nobody is left to be told.
  if (status != ARES_EDESTRUCTION) query->resolver.answer(query->name, result_of(status, found));
  if (found != nullptr) ares_freeaddrinfo(found);
}

void Resolver::answer(const std::string& name, const LookupResult& result) {
  const auto known = waiting_.find(name);
  if (known == waiting_.end()) return;
  const auto lookups = std::move(known->second);
  waiting_.erase(known);
  for (const auto& waiting : lookups) {
    later_.run([waiting, result] {
      if (const Lookup lookup = waiting.lock()) (*lookup)(result);
    });
  }
}

void Resolver::on_socket(void* self, int socket, int readable, int writable) {
  static_cast<Resolver*>(self)->watch(socket, readable != 0, writable != 0);
}

void Resolver::watch(int socket, bool readable, bool writable) {
  std::shared_ptr<Watch>& watch = watches_[socket];
  if (!watch) {
    watch = std::make_shared<Watch>(loop_, socket);
    watch->on_readable = [this, socket] { process(socket, ARES_SOCKET_BAD); };
    watch->on_writable = [this, socket] { process(ARES_SOCKET_BAD, socket); };
  }
  // A socket that cannot be watched is one that never answers: the lookup times out.
  static_cast<void>(watch->want_read(readable));
  static_cast<void>(watch->want_write(writable));
  if (readable || writable) return;
  // It is closed next, and this may be its own callback.
  loop_.defer([ended = std::move(watch)] {});
  watches_.erase(socket);
}

void Resolver::process(int readable, int writable) {
  ares_process_fd(channel_, readable, writable);
  set_timer();
}

void Resolver::set_timer() {
  timeval wait{};
  if (ares_timeout(channel_, nullptr, &wait) == nullptr) return timer_.cancel();
  const auto left = std::chrono::seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec);
  timer_.set(std::max(Milliseconds(1), std::chrono::ceil<Milliseconds>(left)));
}

}  // namespace cellblock::egress
