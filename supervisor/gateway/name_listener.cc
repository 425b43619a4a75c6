#include "supervisor/gateway/name_listener.h"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <utility>

#include "supervisor/gateway/records/egress_text.h"

namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;

constexpr int questions_a_turn = 16;
constexpr Rate question_rate{.count = 20, .period = 1'000ms, .burst = 200};

struct Questioner {
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&address); }
};

}  // namespace

bool NameListener::is_for(const Fd& socket) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

NameListener::NameListener(EventLoop& loop, Fd socket, Tell tell)
    : loop_(loop),
      socket_(std::move(socket)),
      watch_(loop, socket_.get()),
      again_(loop, [this] { static_cast<void>(watch_.want_read(true)); }),
      questions_(question_rate),
      tell_(std::move(tell)) {
  watch_.on_readable = [this] { read(); };
  // Without it questions stay unanswered, and nothing else is reached by that.
  static_cast<void>(watch_.want_read(true));
}

void NameListener::read() {
  for (int i = 0; i < questions_a_turn; ++i) {
    if (questions_.wait(loop_.now()) > 0ns) return pause();
    if (!read_one()) return;
  }
}

bool NameListener::read_one() {
  std::array<char, max_dns_message> buffer;
  Questioner questioner;
  const ssize_t size = ::recvfrom(socket_.get(), buffer.data(), buffer.size(),
                                  MSG_DONTWAIT | MSG_TRUNC, questioner.get(), &questioner.size);
  if (size < 0) return false;
  questions_.take(loop_.now());
  const auto count = static_cast<std::size_t>(size);
  if (count > buffer.size()) return true;
  const RefusedName refused = refuse_name({buffer.data(), count});
  if (!refused.reply.empty()) {
    static_cast<void>(::sendto(socket_.get(), refused.reply.data(), refused.reply.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL, questioner.get(), questioner.size));
  }
  tell_(refused.event);
  return true;
}

void NameListener::pause() {
  static_cast<void>(watch_.want_read(false));
  again_.set(std::chrono::ceil<Milliseconds>(questions_.wait(loop_.now())));
}

}  // namespace cellblock::gateway
