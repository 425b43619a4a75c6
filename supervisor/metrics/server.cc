#include "supervisor/metrics/server.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "policy/metrics/families.h"
#include "supervisor/metrics/admission.h"

namespace cellblock::metrics {
namespace {

constexpr int per_wake = 32;  // then the others have their turn
constexpr std::size_t most_guests = 16;
constexpr std::size_t most_queued = 16U << 20;  // of one guest; all 256 servers take about 3 MiB

constexpr Milliseconds a_moment{100};

// Nobody is there, or not any more.
bool is_nothing(int error) {
  return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

bool is_want(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

std::vector<std::string> names_of(const Config& config) {
  std::vector<std::string> names;
  names.reserve(config.servers.size());
  for (const cellblock::Server& server : config.servers) names.push_back(server.name);
  return names;
}

}  // namespace

Server::Server(EventLoop& loop, const Config& config, Fd supervisor, Fd listener)
    : loop_(loop),
      servers_(names_of(config)),
      transport_(config.metrics->socket.empty() ? http::Transport::tcp
                                                : http::Transport::unix_socket),
      supervisor_(std::move(supervisor)),
      news_(loop, supervisor_.get()),
      listener_(std::move(listener)),
      listening_(loop, listener_.get()),
      pause_(loop, [this] { static_cast<void>(listening_.want_read(true)); }) {}

Result<void> Server::start() {
  news_.on_readable = [this] { read_news(); };
  listening_.on_readable = [this] { accept_some(); };
  CELLBLOCK_CHECK(news_.want_read(true));
  CELLBLOCK_CHECK(listening_.want_read(true));
  return {};
}

void Server::fail(std::string why) {
  failure_ = std::move(why);
  loop_.stop();
}

// --- the supervisor's news -----------------------------------------------------------------------

void Server::read_news() {
  for (int i = 0; i < per_wake; ++i) {
    wire::MetricsNews news;
    auto received = receive_record(supervisor_.get(), news, MSG_DONTWAIT);
    if (!received && received.error().number == EAGAIN) return;
    if (!received) return loop_.stop();
    if (!obey(news, std::move(received->fds))) return fail("the supervisor sent nonsense");
  }
}

bool Server::obey(const wire::MetricsNews& news, std::vector<Fd> fds) {
  switch (news.kind) {
    case wire::MetricsTells::daemon_page:
    case wire::MetricsTells::gateway_began:
      return fds.size() == 1 && take_page(news, fds.front());
    case wire::MetricsTells::gateway_ended:
      totals_.end(news.number);
      return fds.empty();
  }
  return false;
}

bool Server::take_page(const wire::MetricsNews& news, const Fd& page) {
  const bool is_daemon = news.kind == wire::MetricsTells::daemon_page;
  const std::size_t numbers = is_daemon ? numbers_of(Scope::daemon) : gateway_numbers();
  auto mapped = MetricsPage::map(page.get(), numbers, MetricsPage::Use::read);
  if (!mapped) return false;
  if (is_daemon) {
    totals_.set_daemon(std::move(*mapped));
  } else {
    totals_.begin(news.number, std::move(*mapped));
  }
  return true;
}

// --- scrapes -------------------------------------------------------------------------------------

void Server::accept_some() {
  for (int i = 0; i < per_wake; ++i) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.valid()) {
      welcome(std::move(socket));
      continue;
    }
    return accept_failed(errno);
  }
}

// Whoever waits makes the listener readable: where it cannot be accepted the loop would spin.
void Server::accept_failed(int error) {
  if (is_nothing(error)) return;
  if (!is_want(error)) return fail(SysError{"accept4", error}.text());
  static_cast<void>(listening_.want_read(false));
  pause_.set(a_moment);
}

// Who comes is not kept out by who stays: the oldest makes room.
void Server::welcome(Fd socket) {
  if (guests_.size() >= most_guests) guests_.begin()->second->close();
  const GuestId id = ++last_guest_;
  const http::Connection::Bounds bounds{.longest_body = 0, .most_queued = most_queued};
  auto& guest = guests_[id];
  guest = std::make_unique<http::Connection>(loop_, std::move(socket), transport_, bounds,
                                             events_of(id));
  if (!guest->start()) guest->close();
}

http::Connection::Events Server::events_of(GuestId id) {
  return {
      .head = [this](const http::Request& head) { return refusal_for(head, transport_); },
      .body = [](std::uint64_t) { return std::optional<http::Reply>(); },
      .request = [this, id](const http::Request&) { answer(id); },
      .body_done = [](std::uint64_t) {},
      .dirty =
          [this, id] {
            dirty_.insert(id);
            flush_later();
          },
      .over =
          [this, id](bool) {
            const auto found = guests_.extract(id);
            if (!found.empty()) over_.push_back(std::move(found.mapped()));
            flush_later();
          },
  };
}

void Server::answer(GuestId id) {
  const auto found = guests_.find(id);
  if (found == guests_.end()) return;
  found->second->reply(
      {200, {{"Content-Type", content_type}}, exposition(totals_.now(), servers_)});
}

// --- turns ---------------------------------------------------------------------------------------

void Server::flush_later() {
  if (!std::exchange(flush_due_, true)) {
    loop_.defer([this] { flush_all(); });
  }
}

// Nothing on the stack stands here on what is over.
void Server::flush_all() {
  flush_due_ = false;
  for (const GuestId id : std::exchange(dirty_, {})) {
    const auto found = guests_.find(id);
    if (found != guests_.end()) found->second->flush();
  }
  if (!flush_due_) std::exchange(over_, {}).clear();
}

}  // namespace cellblock::metrics
