#include "supervisor/http/supervisor_link.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace cellblock::http {
namespace {

constexpr int records_per_wake = 32;        // then the others have their turn
constexpr std::size_t most_waiting = 1024;  // to be asked

// By send(2): the filter of this process has no sendmsg, so nothing can be attached.
bool send_plain(int channel, const wire::HttpRequest& request) {
  return ::send(channel, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof request);
}

}  // namespace

SupervisorLink::SupervisorLink(EventLoop& loop, Fd channel, Events events)
    : channel_(std::move(channel)), watch_(loop, channel_.get()), events_(std::move(events)) {}

Result<void> SupervisorLink::start() {
  watch_.on_readable = [this] { read(); };
  watch_.on_writable = [this] { ask_what_waits(); };
  CELLBLOCK_CHECK(watch_.want_read(true));
  return {};
}

bool SupervisorLink::open(std::uint32_t request, const Caller& caller) {
  const bool token = caller.kind == Caller::Kind::token;
  const wire::HttpRequest asked{
      .kind = token ? wire::HttpAsks::open_for_token : wire::HttpAsks::open_for_peer,
      .request = request,
      .who = token ? caller.token : caller.peer};
  if (waiting_.size() >= most_waiting) return false;
  ask(asked);
  return true;
}

void SupervisorLink::wrong_token(const InternetAddress& from, std::uint32_t requests) {
  if (waiting_.size() >= most_waiting) return;
  ask({.kind = wire::HttpAsks::wrong_token, .who = requests, .address = from});
}

void SupervisorLink::peer_gone(std::uint32_t peer) {
  ask({.kind = wire::HttpAsks::peer_gone, .who = peer});
}

void SupervisorLink::ask(const wire::HttpRequest& request) {
  waiting_.push_back(request);
  ask_what_waits();
}

void SupervisorLink::ask_what_waits() {
  while (!waiting_.empty() && send_plain(channel_.get(), waiting_.front())) waiting_.pop_front();
  static_cast<void>(watch_.want_write(!waiting_.empty()));
}

void SupervisorLink::read() {
  for (int i = 0; i < records_per_wake; ++i) {
    wire::HttpAnswer answer;
    auto received = receive_record(channel_.get(), answer, MSG_DONTWAIT);
    if (!received && received.error().number == EAGAIN) return;
    if (!received) {
      watch_.forget();
      return events_.gone();
    }
    obey(answer, std::move(received->fds));
  }
}

void SupervisorLink::obey(const wire::HttpAnswer& answer, std::vector<Fd> fds) {
  switch (answer.kind) {
    case wire::HttpTells::opened:
      if (fds.size() == 1) events_.opened(answer.request, std::move(fds.front()));
      return;
    case wire::HttpTells::refused:
      return events_.refused(answer.request);
    case wire::HttpTells::config:
      if (fds.size() == 1) events_.config(fds.front());
      return;
    case wire::HttpTells::peer:
      if (fds.size() != 1) return;
      return events_.peer(std::move(fds.front()), {.kind = Caller::Kind::peer,
                                                   .peer = answer.peer,
                                                   .uid = answer.uid,
                                                   .rights = answer.rights});
  }
}

}  // namespace cellblock::http
