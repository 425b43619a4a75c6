#include "supervisor/daemon/helpers/http_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "policy/base/internet_address.h"
#include "policy/config/names.h"
#include "policy/failures/failure_code.h"
#include "policy/failures/helper_end.h"
#include "supervisor/os/peer_options.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds http_retry_pause{50};
constexpr std::chrono::steady_clock::time_point no_time{};

// An answer like those of cellblock-http, which does not see these connections.
std::string page(std::string_view status, FailureCode code, std::string_view sentence) {
  const std::string body = plain_error_reply(code, sentence);
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      status, body.size(), body);
}

std::string busy() {
  return page("503 Service Unavailable", FailureCode::too_many,
              "Too many connections over HTTP, or it is being started; try again.");
}

std::string forbidden() {
  return page("403 Forbidden", FailureCode::not_allowlisted,
              "This user may use no server of cellblock: no server's allow or rule names him.");
}

// The result does not matter: the connection is closed next.
void write_reply(int socket, std::string_view reply) {
  static_cast<void>(::send(socket, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

// True: the peer has closed both directions, so no session is needed.
bool has_hung_up(const Fd& socket) {
  pollfd watched{socket.get(), 0, 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & (POLLHUP | POLLERR)) != 0;
}

Peer peer_of(const HttpListen& http, std::uint32_t index) {
  const HttpToken& token = http.tokens[index];
  return {.uid = token.uid,
          .gid = token.gid,
          .groups = token.groups,
          .via = wire::SessionVia::http_token,
          .token = index};
}

// Formats the address here, since the helper may have been taken over.
std::string address_text(const InternetAddress& address) {
  return address == InternetAddress{} ? "several addresses" : text_of(address);
}

}  // namespace

std::uint64_t rights_of(const Peer& peer) {
  std::vector<std::uint32_t> words = peer.groups;
  std::ranges::sort(words);
  words.push_back(peer.gid);
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;  // FNV-1a
  for (const std::uint32_t word : words) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ ((word >> shift) & 0xffU)) * 0x100'0000'01b3;
    }
  }
  return hash;
}

HttpHost::HttpHost(boost::asio::io_context& loop, const Config& config, HttpSockets sockets,
                   Around around, Patience patience)
    : loop_(loop),
      config_(config),
      around_(std::move(around)),
      sockets_(std::move(sockets)),
      patience_(patience),
      timer_(loop),
      retry_(loop),
      deadline_(loop) {}

HttpHost::~HttpHost() {
  for (auto& [number, guest] : guests_) around_.close_later(std::move(guest.socket));
}

Result<void> HttpHost::start() {
  Pair channel = CELLBLOCK_TRY(make_seqpacket_pair());
  std::vector<int> fds = {channel.second.get()};
  // The previous helper may have cleared the flag, which both processes share: accept would block.
  if (sockets_.tcp.valid() && ::fcntl(sockets_.tcp.get(), F_SETFL, O_NONBLOCK) < 0) {
    return sys_fail("fcntl");
  }
  if (sockets_.tcp.valid()) fds.push_back(sockets_.tcp.get());
  CELLBLOCK_CHECK(around_.ask_launcher({.kind = wire::SupervisorRequestKind::start_http}, fds));
  channel_ = std::make_unique<ReadableFd>(loop_, std::move(channel.first), [this] { read_one(); });
  return {};
}

void HttpHost::started() {
  running_ = true;
  delay_.started(std::chrono::steady_clock::now());
}

// The helper's sessions end by themselves: the gateways see the end of its descriptors.
void HttpHost::ended(const CellFacts& facts) {
  if (!finished_) spdlog::error("cellblock-http {}", explain_end(facts));
  delay_.ended(std::chrono::steady_clock::now());
  running_ = false;
  broken_ = false;
  deadline_.expires_at(no_time);
  retry_.cancel();
  channel_.reset();
  untold_.clear();
  update_intake();
  for (auto& [number, guest] : std::exchange(guests_, {})) {
    ::shutdown(guest.socket.get(), SHUT_RDWR);
    around_.close_later(std::move(guest.socket));
  }
  if (!finished_) start_again_later();
}

void HttpHost::start_again_later() {
  const auto delay = delay_.take();
  spdlog::info("cellblock-http is started again in {} ms", delay.count());
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || finished_) return;
    if (const auto asked = start(); !asked) {
      spdlog::error("cannot start cellblock-http: {}", asked.error().text);
      start_again_later();
    }
  });
}

Result<void> HttpHost::listen() {
  const std::string tcp = tcp_address(*config_.http);
  const std::string& path = config_.http->socket;
  const bool both = !tcp.empty() && !path.empty();
  spdlog::info("HTTP on {}{}{}", tcp.empty() ? "" : "http://" + tcp + "/mcp", both ? " and " : "",
               path);
  if (!sockets_.unix_socket) return {};
  listener_ =
      CELLBLOCK_TRY(Listener::listen(loop_, sockets_.unix_socket->take(), [this](Fd connection) {
        on_connection(std::move(connection));
      }));
  return {};
}

void HttpHost::finish() {
  finished_ = true;
  timer_.cancel();
  retry_.cancel();
  deadline_.cancel();
  sockets_.unix_socket.reset();
  if (sockets_.tcp.valid()) ::shutdown(sockets_.tcp.get(), SHUT_RD);
  if (listener_) listener_->stop();
  channel_.reset();
  untold_.clear();
}

// A helper that starts later has the new configuration already. A helper that cannot be told would
// go on accepting revoked tokens: it is ended, and another one started.
void HttpHost::reconfigure(const Fd& sealed) {
  if (!channel_ || broken_ || finished_) return;
  auto copy = duplicate(sealed.get());
  if (!copy) return break_off("no descriptor is free for its new configuration");
  tell({.kind = wire::HttpTells::config}, std::move(*copy));
}

void HttpHost::go_on() {
  held_ = false;
  update_intake();
}

void HttpHost::hold() {
  held_ = true;
  update_intake();
}

void HttpHost::update_intake() {
  const bool full = !untold_.empty();
  if (listener_ && !finished_) {
    if (held_ || full) {
      listener_->hold();
    } else {
      listener_->go_on();
    }
  }
  if (!channel_ || broken_) return;
  if (full) {
    channel_->pause();
  } else {
    channel_->resume();
  }
}

// --- hosts of the Unix socket --------------------------------------------------------------------

void HttpHost::on_connection(Fd socket) {
  auto peer = identify(socket.get());
  if (peer) peer->via = wire::SessionVia::http_socket;
  const std::string refusal = refusal_for(peer);
  if (refusal.empty()) return bring(std::move(socket), std::move(*peer));
  write_reply(socket.get(), refusal);
  // A host that is still sending may read the answer only after it has sent its request.
  ::shutdown(socket.get(), SHUT_WR);
  around_.close_later(std::move(socket));
}

// The bound of one user keeps room for the others.
std::string HttpHost::refusal_for(const Result<Peer>& peer) const {
  if (!peer || !may_connect(*peer, config_)) return forbidden();
  if (!running_ || broken_ || finished_) return busy();
  if (guests_.size() >= config_.http->max_connections) return busy();
  if (around_.is_stuck(peer->uid)) return busy();
  const auto of_user = std::ranges::count_if(
      guests_, [&](const auto& entry) { return entry.second.peer.uid == peer->uid; });
  return of_user < config_.listen.max_connections_per_user ? std::string{} : busy();
}

void HttpHost::bring(Fd socket, Peer peer) {
  read_urgent_bytes_in_line(socket.get());  // the helper checks for them before it reads
  do {
    ++last_guest_;
  } while (guests_.contains(last_guest_));
  const wire::HttpAnswer answer{.kind = wire::HttpTells::peer,
                                .peer = last_guest_,
                                .uid = peer.uid,
                                .rights = rights_of(peer)};
  guests_.emplace(last_guest_, Guest{std::move(socket), std::move(peer)});
  tell(answer);
}

void HttpHost::let_go(std::uint32_t number) {
  auto guest = guests_.extract(number);
  if (!guest.empty()) around_.close_later(std::move(guest.mapped().socket));
}

// --- what the helper is told ---------------------------------------------------------------------

void HttpHost::tell(const wire::HttpAnswer& answer, Fd attached) {
  untold_.push_back({answer, std::move(attached)});
  if (untold_.size() == 1) tell_what_waits();
}

void HttpHost::tell_what_waits() {
  bool told_any = false;
  while (!untold_.empty() && channel_ && !broken_) {
    const auto sent = send(untold_.front());
    if (!sent && (sent.error().number == EAGAIN || sent.error().number == ETOOMANYREFS)) {
      if (told_any) deadline_.expires_at(no_time);
      wait_for_room(sent.error().number);
      return update_intake();
    }
    // The helper has ended, which the launcher reports soon: no record is needed any more.
    if (!sent) break;
    untold_.pop_front();
    told_any = true;
  }
  untold_.clear();
  if (!broken_) deadline_.expires_at(no_time);
  update_intake();
}

// Records about a host that has gone meanwhile are dropped.
SysResult<void> HttpHost::send(const Untold& untold) const {
  const int channel = channel_->get();
  if (untold.answer.kind == wire::HttpTells::refused) {
    return send_record(channel, untold.answer, {}, MSG_DONTWAIT);
  }
  const auto guest = guests_.find(untold.answer.peer);
  if (!untold.attached.valid() && guest == guests_.end()) return {};
  const std::array<int, 1> fds{untold.attached.valid() ? untold.attached.get()
                                                       : guest->second.socket.get()};
  return send_record(channel, untold.answer, fds, MSG_DONTWAIT);
}

// The kernel bounds descriptors in flight per user, and reports no event when there are fewer.
void HttpHost::wait_for_room(int why) {
  if (why == EAGAIN) {
    channel_->when_writable([this] { tell_what_waits(); });
  } else {
    retry_.expires_after(http_retry_pause);
    retry_.async_wait([this](const boost::system::error_code& error) {
      if (!error) tell_what_waits();
    });
  }
  if (deadline_.expiry() != no_time) return;
  deadline_.expires_after(patience_.to_read);
  deadline_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !untold_.empty()) break_off("it does not read");
  });
}

// --- what the helper asks ------------------------------------------------------------------------

void HttpHost::read_one() {
  wire::HttpRequest request;
  const auto received = receive_record(channel_->get(), request, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  // The launcher reports the helper's end soon after.
  if (!received && received.error().number == EPIPE) return channel_->pause();
  if (!received || !received->fds.empty()) return break_off("it sent nonsense");
  obey(request);
}

void HttpHost::obey(const wire::HttpRequest& request) {
  switch (request.kind) {
    case wire::HttpAsks::open_for_token:
      return open_for_token(request);
    case wire::HttpAsks::open_for_peer: {
      const auto found = guests_.find(request.who);
      // An unknown guest: the helper learned of its end from the connection.
      if (found == guests_.end() || has_hung_up(found->second.socket)) {
        return refuse(request.request);
      }
      return open_for(request, found->second.peer);
    }
    case wire::HttpAsks::peer_gone:
      return let_go(request.who);
    case wire::HttpAsks::wrong_token:
      return around_.wrong_token(address_text(request.address), request.who);
  }
  break_off("it sent nonsense");
}

// The helper may not have read yet that a token is revoked.
void HttpHost::open_for_token(const wire::HttpRequest& request) {
  if (request.who >= config_.http->tokens.size()) return break_off("there is no such token");
  if (config_.http->tokens[request.who].revoked) return refuse(request.request);
  open_for(request, peer_of(*config_.http, request.who));
}

void HttpHost::open_for(const wire::HttpRequest& request, const Peer& peer) {
  auto session = around_.open_session(peer);
  if (!session) {
    spdlog::warn("no session for uid {} over HTTP: {}", peer.uid, session.error().text);
    return refuse(request.request);
  }
  tell({.kind = wire::HttpTells::opened, .request = request.request}, std::move(session.value()));
}

void HttpHost::refuse(std::uint32_t request) {
  tell({.kind = wire::HttpTells::refused, .request = request});
}

// Closes the channel, by which the helper ends.
void HttpHost::break_off(const char* why) {
  if (std::exchange(broken_, true)) return;
  spdlog::error("cellblock-http breaks the protocol and is let go: {}", why);
  channel_->pause();
  ::shutdown(channel_->get(), SHUT_RDWR);
  untold_.clear();
  kill_if_it_stays();
}

// A helper that was taken over need not end by itself.
void HttpHost::kill_if_it_stays() {
  deadline_.expires_after(patience_.to_end);
  deadline_.async_wait([this](const boost::system::error_code& error) {
    if (error || finished_) return;
    const auto asked = around_.ask_launcher({.kind = wire::SupervisorRequestKind::end_http}, {});
    if (!asked) spdlog::error("cannot end cellblock-http: {}", asked.error().text);
  });
}

}  // namespace cellblock::daemon
