#include "supervisor/daemon/http_host.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "supervisor/daemon/explain_end.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_delay{100};
constexpr milliseconds longest_delay{10'000};
// A helper that lived this long did not die of what killed the one before it.
constexpr milliseconds healthy_life{60'000};

constexpr std::string_view busy =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
constexpr std::string_view forbidden =
    "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

// It is closed next either way.
void write_reply(int socket, std::string_view reply) {
  static_cast<void>(::send(socket, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

Peer peer_of(const HttpToken& token) { return {token.uid, token.gid, 0, token.groups}; }

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
                   Around around)
    : loop_(loop),
      config_(config),
      around_(std::move(around)),
      sockets_(std::move(sockets)),
      delay_(first_delay),
      timer_(loop) {}

HttpHost::~HttpHost() {
  for (auto& [number, guest] : guests_) around_.bury(std::move(guest.socket));
}

Result<void> HttpHost::start() {
  Pair channel = CELLBLOCK_TRY(make_seqpacket_pair());
  std::vector<int> fds = {channel.second.get()};
  if (sockets_.tcp.valid()) fds.push_back(sockets_.tcp.get());
  CELLBLOCK_CHECK(around_.ask_launcher({.kind = wire::SupervisorAsks::start_http}, fds));
  channel_ = std::make_unique<ReadWatch>(loop_, std::move(channel.first), [this] { read_one(); });
  return {};
}

void HttpHost::started() {
  running_ = true;
  started_at_ = std::chrono::steady_clock::now();
}

// Its sessions end by themselves: the gateways see the end of the helper's descriptors.
void HttpHost::ended(const CellFacts& facts) {
  if (!finished_) spdlog::error("cellblock-http {}", explain_end(facts));
  if (running_ && std::chrono::steady_clock::now() - started_at_ >= healthy_life) {
    delay_ = first_delay;
  }
  running_ = false;
  channel_.reset();
  for (auto& [number, guest] : std::exchange(guests_, {})) {
    ::shutdown(guest.socket.get(), SHUT_RDWR);
    around_.bury(std::move(guest.socket));
  }
  if (!finished_) start_again_later();
}

void HttpHost::start_again_later() {
  spdlog::info("cellblock-http is started again in {} ms", delay_.count());
  timer_.expires_after(delay_);
  delay_ = std::min(delay_ * 2, longest_delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || finished_) return;
    if (const auto asked = start(); !asked) {
      spdlog::error("cannot start cellblock-http: {}", asked.error().text);
      start_again_later();
    }
  });
}

Result<void> HttpHost::listen() {
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
  sockets_.unix_socket.reset();
  if (sockets_.tcp.valid()) ::shutdown(sockets_.tcp.get(), SHUT_RD);
  if (listener_) listener_->stop();
  channel_.reset();
}

void HttpHost::go_on() {
  if (listener_) listener_->go_on();
}

void HttpHost::hold() {
  if (listener_) listener_->hold();
}

// --- hosts of the Unix socket --------------------------------------------------------------------

void HttpHost::on_connection(Fd socket) {
  auto peer = identify(socket.get());
  std::string_view refusal;
  if (!peer || !may_connect(*peer, config_)) refusal = forbidden;
  if (!running_ || guests_.size() >= config_.http->max_connections) refusal = busy;
  if (refusal.empty()) {
    do {
      ++last_guest_;
    } while (guests_.contains(last_guest_));
    const Guest& guest =
        guests_.emplace(last_guest_, Guest{std::move(socket), std::move(*peer)}).first->second;
    if (bring(last_guest_, guest)) return;
    socket = std::move(guests_.extract(last_guest_).mapped().socket);
    refusal = busy;
  }
  write_reply(socket.get(), refusal);
  // A host that is still sending reads an answer only after it could.
  ::shutdown(socket.get(), SHUT_WR);
  around_.bury(std::move(socket));
}

Result<void> HttpHost::bring(std::uint32_t number, const Guest& guest) const {
  const wire::HttpAnswer answer{.kind = wire::HttpTells::peer,
                                .peer = number,
                                .uid = guest.peer.uid,
                                .rights = rights_of(guest.peer)};
  const std::array<int, 1> fds{guest.socket.get()};
  CELLBLOCK_CHECK(send_record(channel_->get(), answer, fds, MSG_DONTWAIT));
  return {};
}

void HttpHost::let_go(std::uint32_t number) {
  auto guest = guests_.extract(number);
  if (!guest.empty()) around_.bury(std::move(guest.mapped().socket));
}

// --- what the helper asks ------------------------------------------------------------------------

void HttpHost::read_one() {
  wire::HttpRequest request;
  const auto received = receive_record(channel_->get(), request, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  // Its end is reported by the launcher, soon after.
  if (!received && received.error().number == EPIPE) return channel_->pause();
  if (!received || !received->fds.empty()) return break_off("it sent nonsense");
  obey(request);
}

void HttpHost::obey(const wire::HttpRequest& request) {
  switch (request.kind) {
    case wire::HttpAsks::open_for_token:
      if (request.who >= config_.http->tokens.size()) return break_off("there is no such token");
      return open_for(request, peer_of(config_.http->tokens[request.who]));
    case wire::HttpAsks::open_for_peer: {
      const auto found = guests_.find(request.who);
      // Not there: it was told so by the end of that connection.
      if (found == guests_.end()) return refuse(request.request);
      return open_for(request, found->second.peer);
    }
    case wire::HttpAsks::peer_gone:
      return let_go(request.who);
  }
  break_off("it sent nonsense");
}

void HttpHost::open_for(const wire::HttpRequest& request, const Peer& peer) {
  const auto session = around_.open_session(peer);
  if (!session) {
    spdlog::warn("no session for uid {} over HTTP: {}", peer.uid, session.error().text);
    return refuse(request.request);
  }
  const wire::HttpAnswer answer{.kind = wire::HttpTells::opened, .request = request.request};
  const std::array<int, 1> fds{session->get()};
  const auto sent = send_record(channel_->get(), answer, fds, MSG_DONTWAIT);
  if (!sent) break_off("it does not read");
}

void HttpHost::refuse(std::uint32_t request) const {
  const wire::HttpAnswer answer{.kind = wire::HttpTells::refused, .request = request};
  static_cast<void>(send_record(channel_->get(), answer, {}, MSG_DONTWAIT));
}

// The end of its channel is the end of the helper.
void HttpHost::break_off(const char* why) {
  spdlog::error("cellblock-http breaks the protocol and is let go: {}", why);
  channel_->pause();
  ::shutdown(channel_->get(), SHUT_RDWR);
}

}  // namespace cellblock::daemon
