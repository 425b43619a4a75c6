#include "supervisor/http/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "policy/access/rights.h"
#include "policy/base/internet_address.h"
#include "supervisor/http_connection/http_context.h"
#include "supervisor/ipc/sealed_config.h"

namespace cellblock::http {
namespace {

using std::chrono::duration_cast;

constexpr Milliseconds tick_interval{15'000};
constexpr Milliseconds patience_at_the_end{2'000};
constexpr std::uint64_t most_body_bytes = 64U << 20;  // of all that come in at one time
constexpr std::uint64_t body_share = 16U << 20;       // of one caller
constexpr std::size_t most_queued = 32U << 20;        // that one socket does not take
constexpr std::size_t free_queue = 1U << 20;  // of one socket, whatever its caller's others hold
constexpr std::size_t line_slack = 64U << 10;

// The longest message that any server's `lines` takes.
std::size_t longest_from_host(const Config& config) {
  std::uint64_t longest = LineLimits{}.from_host;
  for (const cellblock::Server& server : config.servers) {
    longest = std::max(longest, server.lines.from_host);
  }
  return longest;
}

std::size_t longest_to_host(const Config& config) {
  std::uint64_t longest = LineLimits{}.to_host;
  for (const cellblock::Server& server : config.servers) {
    longest = std::max(longest, server.lines.to_host);
  }
  return longest + line_slack;
}

ShareBudget::Bounds body_bounds(const Config& config) {
  const std::uint64_t longest = longest_from_host(config);
  return {std::max(most_body_bytes, 2 * longest), std::max(body_share, longest + line_slack)};
}

// IPv4 as the supervisor writes it; zeros: of several, or not known.
InternetAddress bytes_of(const std::string& address) {
  if (const auto v4 = parse_ipv4(address)) return *v4;
  return parse_ipv6(address).value_or(InternetAddress{});
}

// An answer is never too long for a queue that is empty.
std::size_t queue_bound(const Config& config) {
  return std::max({most_queued, 2 * longest_to_host(config), 2 * longest_from_host(config)});
}

Reply too_busy() {
  Reply reply = error_page(503, {}, -31006, "Too much is being received; try again");
  reply.headers.push_back({"Retry-After", "1"});
  return reply;
}

Reply too_many_connections() {
  Reply reply = error_page(503, {}, -31006, "Too many connections with this token; close one");
  reply.headers.push_back({"Retry-After", "1"});
  return reply;
}

}  // namespace

Server::Server(EventLoop& loop, Config config, Fd supervisor, Fd listener)
    : loop_(loop),
      config_(std::move(config)),
      bounds_{longest_from_host(config_), queue_bound(config_)},
      bodies_(body_bounds(config_)),
      listener_(std::move(listener)),
      listening_(loop, listener_.get()),
      supervisor_(
          loop, std::move(supervisor),
          {.opened =
               [this](std::uint32_t request, Fd socket) {
                 const auto found = backends_.find(request);
                 if (found != backends_.end()) found->second->connect(std::move(socket));
               },
           .refused = [this](std::uint32_t request) { backend_ended(request); },
           .peer = [this](Fd socket, const Caller& peer) { welcome(std::move(socket), peer, {}); },
           .config = [this](const Fd& sealed) { reconfigure(sealed); },
           .gone = [this] { finish(); }}),
      front_(*this, *config_.http, idle_tokens(config_)),
      ticks_(loop, [this] { tick(); }),
      pause_(loop,
             [this] {
               if (!finishing_) static_cast<void>(listening_.want_read(true));
             }),
      last_moment_(loop, [this] { loop_.stop(); }) {}

Server::~Server() = default;

Result<void> Server::start() {
  CELLBLOCK_CHECK(supervisor_.start());
  ticks_.set(tick_interval);
  if (!listener_.valid()) return {};
  listening_.on_readable = [this] { accept_some(); };
  CELLBLOCK_CHECK(listening_.want_read(true));
  return {};
}

// Who cannot read it would go on taking what was revoked: the supervisor starts another one.
void Server::reconfigure(const Fd& sealed) {
  auto fresh = read_sealed_config(sealed.get());
  if (!fresh || !fresh->http) {
    failure_ = "the new configuration cannot be read";
    return loop_.stop();
  }
  config_ = std::move(*fresh);
  front_.reconfigure(*config_.http, idle_tokens(config_));
}

// The supervisor reads the line, and writes it into the daemon's log.
void Server::tell(const std::vector<RefusedToken>& refused) {
  for (const RefusedToken& one : refused) {
    static_cast<void>(std::fprintf(stderr, "cellblock-http: warning: %s\n", text_of(one).c_str()));
    const auto requests = std::min<std::uint64_t>(one.requests, UINT32_MAX);
    supervisor_.wrong_token(bytes_of(one.address), static_cast<std::uint32_t>(requests));
  }
}

void Server::finish() {
  if (std::exchange(finishing_, true)) return;
  failure_.clear();
  listening_.forget();
  listener_.reset();
  last_moment_.set(config_.drain + patience_at_the_end);
  sweep();
}

// --- hosts ---------------------------------------------------------------------------------------

// Or the loop would spin. A supervisor that ends shuts the socket too, and its channel at once
// after: then this is no failure.
void Server::fail_listening(int error) {
  failure_ = fmt::format("accept4: {}", std::generic_category().message(error));
  listening_.forget();
  last_moment_.set(retry_pause);
}

void Server::welcome(Fd socket, std::optional<Caller> peer, std::string from) {
  const GuestId id = next_guest_++;
  const Transport transport = peer ? Transport::unix_socket : Transport::tcp;
  if (!peer) {
    ++tcp_guests_;
    const int yes = 1;
    static_cast<void>(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
  }
  Guest& guest = guests_[id];
  guest.peer = peer;
  guest.from = std::move(from);
  guest.since = loop_.now();
  guest.connection =
      std::make_unique<Connection>(loop_, std::move(socket), transport, bounds_, events_of(id));
  if (finishing_ || !guest.connection->start()) guest.connection->close();
}

Connection::Events Server::events_of(GuestId id) {
  return {
      .head = [this, id](const Request& head) { return look_at(guests_.at(id), head); },
      .body = [this, id](std::uint64_t bytes) { return charge(guests_.at(id), bytes); },
      .request = [this, id](Request request) { ask(id, std::move(request)); },
      .body_done =
          [this, id](std::uint64_t bytes) {
            bodies_.give_back(key_of(guests_.at(id).caller), bytes);
          },
      .dirty =
          [this, id] {
            dirty_guests_.insert(id);
            flush_later();
          },
      .over = [this, id](bool answering) { guest_over(id, answering); },
  };
}

std::optional<Reply> Server::look_at(Guest& guest, const Request& head) {
  Front::Admission admission = front_.admit(head, guest.peer);
  if (admission.is_wrong_token) tell(refused_tokens_.add(guest.from, loop_.now()));
  if (admission.refusal) return std::move(admission.refusal);
  const bool is_new =
      guest.connection->is_stranger() || key_of(guest.caller) != key_of(admission.caller);
  if (!guest.peer && is_new && !has_place_for(guest, admission.caller))
    return too_many_connections();
  guest.caller = admission.caller;
  return std::nullopt;
}

std::optional<Reply> Server::charge(const Guest& guest, std::uint64_t bytes) {
  if (bodies_.take(key_of(guest.caller), bytes)) return std::nullopt;
  return too_busy();
}

void Server::ask(GuestId id, Request request) {
  Guest& guest = guests_.at(id);
  exchanges_.erase(guest.exchange);
  guest.exchange = next_exchange_++;
  exchanges_[guest.exchange] = id;
  front_.set_now(duration_cast<Milliseconds>(loop_.now().time_since_epoch()));
  front_.ask(guest.exchange, guest.caller, std::move(request));
}

void Server::guest_over(GuestId id, bool answering) {
  auto found = guests_.extract(id);
  if (found.empty()) return;
  Guest& guest = found.mapped();
  if (!guest.peer) --tcp_guests_;
  exchanges_.erase(guest.exchange);
  if (answering) closed_.push_back(guest.exchange);
  dead_guests_.push_back(std::move(guest));
  flush_later();
}

Connection* Server::connection_of(ExchangeId exchange) {
  const auto found = exchanges_.find(exchange);
  return found == exchanges_.end() ? nullptr : guests_.at(found->second).connection.get();
}

void Server::reply(ExchangeId exchange, const Reply& reply) {
  if (Connection* const connection = connection_of(exchange)) {
    connection->reply(reply);
    bound_queue(exchange);
    exchanges_.erase(exchange);
  }
}

// What the hosts of one caller do not take, taken together.
void Server::bound_queue(ExchangeId exchange) {
  const auto found = exchanges_.find(exchange);
  if (found == exchanges_.end()) return;
  const Guest& guest = guests_.at(found->second);
  if (guest.connection->queued() <= free_queue) return;
  std::size_t all = 0;
  for (const auto& [id, other] : guests_) {
    if (key_of(other.caller) == key_of(guest.caller)) all += other.connection->queued();
  }
  if (all > 2 * bounds_.most_queued) guest.connection->close();
}

void Server::begin_stream(ExchangeId exchange, const std::vector<Header>& headers) {
  if (Connection* const connection = connection_of(exchange)) connection->begin_stream(headers);
}

void Server::stream(ExchangeId exchange, std::string_view bytes) {
  if (Connection* const connection = connection_of(exchange)) {
    connection->stream(bytes);
    bound_queue(exchange);
  }
}

void Server::end_stream(ExchangeId exchange) {
  if (Connection* const connection = connection_of(exchange)) {
    exchanges_.erase(exchange);
    connection->end_stream();
  }
}

// --- gateways ------------------------------------------------------------------------------------

BackendId Server::open(const Caller& caller) {
  const std::uint32_t id = next_backend_++;
  backends_[id] = std::make_unique<Backend>(
      loop_, Backend::Bounds{longest_to_host(config_), bounds_.most_queued},
      Backend::Events{.line = [this, id](std::string_view line) { front_.backend_line(id, line); },
                      .ended = [this, id] { backend_ended(id); }});
  callers_[id] = key_of(caller);
  // Told at the end of the turn: the Front does not know it yet.
  if (!supervisor_.open(id, caller)) loop_.defer([this, id] { backend_ended(id); });
  return id;
}

bool Server::send(BackendId backend, std::span<const std::string_view> slices) {
  const auto found = backends_.find(backend);
  if (found == backends_.end()) return false;
  dirty_backends_.insert(backend);
  flush_later();
  return has_room(backend) && found->second->send(slices);
}

// Likewise of what gateways do not take.
bool Server::has_room(BackendId backend) const {
  if (backends_.at(backend)->queued() <= free_queue) return true;
  const CallerKey& caller = callers_.at(backend);
  std::size_t all = 0;
  for (const auto& [id, other] : backends_) {
    if (callers_.at(id) == caller) all += other->queued();
  }
  return all <= 2 * bounds_.most_queued;
}

void Server::close(BackendId backend) {
  auto found = backends_.extract(backend);
  if (found.empty()) return;
  callers_.erase(backend);
  dead_backends_.push_back(std::move(found.mapped()));
  flush_later();
}

void Server::backend_ended(BackendId backend) {
  if (!backends_.contains(backend)) return;
  front_.backend_ended(backend);
  close(backend);
}

// --- turns ---------------------------------------------------------------------------------------

void Server::tick() {
  front_.tick(duration_cast<Milliseconds>(loop_.now().time_since_epoch()));
  tell(refused_tokens_.tick(loop_.now()));
  ticks_.set(tick_interval);
}

void Server::flush_later() {
  if (!std::exchange(flush_due_, true)) {
    loop_.defer([this] { flush_all(); });
  }
}

void Server::flush_all() {
  flush_due_ = false;
  for (const ExchangeId exchange : std::exchange(closed_, {})) front_.exchange_closed(exchange);
  for (const BackendId id : std::exchange(dirty_backends_, {})) {
    const auto found = backends_.find(id);
    if (found != backends_.end()) found->second->flush();
  }
  for (const GuestId id : std::exchange(dirty_guests_, {})) {
    const auto found = guests_.find(id);
    if (found != guests_.end()) found->second.connection->flush();
  }
  sweep();
}

// Nothing on the stack stands on these here.
void Server::sweep() {
  if (!flush_due_) {
    bury_guests();
    std::exchange(dead_backends_, {}).clear();
  }
  if (finishing_ && exchanges_.empty()) loop_.stop();
}

// First our copy, then the supervisor's: whoever closes the last one throws away what the host has
// queued there, which may take its time (docs/decisions/0010).
void Server::bury_guests() {
  for (Guest& guest : std::exchange(dead_guests_, {})) {
    guest.connection.reset();
    if (guest.peer) supervisor_.peer_gone(guest.peer->peer);
  }
}

std::string Server::random_name() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string name;
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name;
}

// Places among the connections over TCP: which connection gets one, and which is closed for it.

namespace {

constexpr int accepts_per_wake = 16;
// For the first request of a connection while others want its place: whoever connects as fast as it
// can fills the kernel's queue, where the others keep their turn, and pushes out only itself.
constexpr Milliseconds stranger_time{100};

Fd accept_one(int socket, sockaddr_storage& from) {
  socklen_t size = sizeof from;
  return Fd(
      ::accept4(socket, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

// "192.0.2.7", "2001:db8::1"
std::string address_text(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.ss_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.ss_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  const bool is_known = bytes != nullptr &&
                        ::inet_ntop(address.ss_family, bytes, text.data(), text.size()) != nullptr;
  return is_known ? text.data() : "an unknown address";
}

// Nothing of the next one's: the socket itself is of no use any more.
bool is_broken(int accept_error) {
  return accept_error == EBADF || accept_error == EINVAL || accept_error == ENOTSOCK ||
         accept_error == EOPNOTSUPP;
}

}  // namespace

void Server::accept_some() {
  for (int i = 0; i < accepts_per_wake; ++i) {
    // Nobody goes for somebody who is not there.
    if (tcp_guests_ >= config_.http->max_connections && !somebody_waits()) return;
    if (tcp_guests_ >= config_.http->max_connections && !make_room()) {
      // They wait in the kernel's queue.
      static_cast<void>(listening_.want_read(false));
      return pause_.set(retry_pause);
    }
    sockaddr_storage from{};
    Fd socket = accept_one(listener_.get(), from);
    if (socket.valid()) {
      welcome(std::move(socket), std::nullopt, address_text(from));
      continue;
    }
    if (is_broken(errno)) return fail_listening(errno);
    if (errno != EMFILE && errno != ENFILE) return;
    static_cast<void>(listening_.want_read(false));
    return pause_.set(retry_pause);
  }
}

bool Server::somebody_waits() const {
  pollfd listening{listener_.get(), POLLIN, 0};
  return ::poll(&listening, 1, 0) > 0;
}

// Whoever has shown no token yet, the longest: such connections cost no right, so they must not
// keep anybody out. One whose request lies in the socket already is looked at first.
bool Server::make_room() {
  for (const GuestId id : strangers()) {
    auto found = guests_.find(id);
    if (found != guests_.end()) found->second.connection->look();
    // What was found may have ended it.
    found = guests_.find(id);
    if (found == guests_.end()) return true;
    if (!found->second.connection->is_stranger()) continue;
    if (loop_.now() - found->second.since < stranger_time) return false;
    found->second.connection->close();
    return true;
  }
  return push_out_idle();
}

// Of the token that has most connections the oldest that waits for a further request: to close such
// a one is every server's right.
bool Server::push_out_idle() {
  std::map<CallerKey, std::size_t> counts;
  for (const auto& [id, guest] : guests_) {
    if (!guest.peer) ++counts[key_of(guest.caller)];
  }
  std::optional<GuestId> idle;
  std::size_t most = 0;
  for (const auto& [id, guest] : guests_) {
    if (guest.peer || !guest.connection->is_idle()) continue;
    const std::size_t count = counts[key_of(guest.caller)];
    if (count <= most) continue;
    idle = id;
    most = count;
  }
  return idle && close_idle(*idle);
}

// What has come meanwhile is looked at first. False: it was not idle any more.
bool Server::close_idle(GuestId id) {
  guests_.at(id).connection->look();
  const auto found = guests_.find(id);
  if (found == guests_.end()) return true;
  if (!found->second.connection->is_idle()) return false;
  found->second.connection->close();
  return true;
}

// One token's connections are bounded as those of one user of the Unix socket are.
bool Server::has_place_for(const Guest& newcomer, const Caller& caller) {
  std::size_t count = 0;
  std::optional<GuestId> idle;
  for (const auto& [id, guest] : guests_) {
    if (&guest == &newcomer || guest.peer || guest.connection->is_stranger()) continue;
    if (key_of(guest.caller) != key_of(caller)) continue;
    ++count;
    if (!idle && guest.connection->is_idle()) idle = id;
  }
  return count < config_.listen.max_connections_per_user || (idle && close_idle(*idle));
}

// The oldest first.
std::vector<Server::GuestId> Server::strangers() const {
  std::vector<GuestId> ids;
  for (const auto& [id, guest] : guests_) {
    if (!guest.peer && guest.connection->is_stranger()) ids.push_back(id);
  }
  return ids;
}

}  // namespace cellblock::http
