#include "supervisor/egress/dns_sockets.h"

#include <array>
#include <utility>

#include "policy/egress/dns_message.h"

namespace cellblock::egress {

using wire::EgressReason;

void DnsLookups::ask(std::string_view message, Reply reply) {
  DnsAction action = responder_.read(message);
  if (action.kind == DnsActionKind::ignore) return;
  if (action.kind == DnsActionKind::reply) return reply(action.reply);
  if (bytes_.is_used_up())
    return reply(responder_.decline(action.question, EgressReason::out_of_bytes));
  // A name below a suffix carries bytes to whoever serves that zone.
  bytes_.take(message.size());
  if (waiting_.size() >= max_waiting || !questions_.take(loop_.now())) {
    return reply(responder_.decline(action.question, EgressReason::too_many_names));
  }
  const std::string name = *action.question.name;
  const std::uint64_t number = next_++;
  waiting_[number] =
      resolver_.look_up(name, [this, number, reply = std::move(reply),
                               question = std::move(action.question)](const LookupResult& found) {
        reply(responder_.answer(question, found));
        waiting_.erase(number);
      });
}

namespace {

struct Peer {
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_storage);
};

void send_to(int socket, const Peer& peer, const std::string& message) {
  static_cast<void>(::sendto(socket, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&peer.address), peer.size));
}

}  // namespace

DnsUdp::DnsUdp(EventLoop& loop, Fd socket, DnsLookups& lookups)
    : end_(loop, std::move(socket)), lookups_(lookups) {
  end_.watch.on_readable = [this] {
    for (int i = 0; i < batch && read_one(); ++i) {
    }
  };
}

bool DnsUdp::read_one() {
  std::array<char, max_dns_message> buffer;
  Peer peer;
  const ssize_t size =
      ::recvfrom(end_.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC,
                 reinterpret_cast<sockaddr*>(&peer.address), &peer.size);
  if (size < 0) return false;
  // What was cut is no question.
  const auto count = static_cast<std::size_t>(size);
  if (count > buffer.size()) return true;
  lookups_.ask({buffer.data(), count}, [socket = end_.fd.get(), peer](const std::string& message) {
    send_to(socket, peer, message);
  });
  return true;
}

DnsStream::DnsStream(EventLoop& loop, Fd socket, DnsLookups& lookups, std::function<void()> done)
    : end_(loop, std::move(socket)),
      lookups_(lookups),
      done_(std::move(done)),
      timer_(loop, [this] { finish(); }),
      later_(loop) {
  end_.watch.on_readable = [this] { read(); };
}

void DnsStream::start() {
  timer_.set(patience);
  if (!end_.watch.want_read(true)) finish();
}

void DnsStream::read() {
  std::array<char, max_dns_message> buffer;
  const IoResult got = receive(end_.fd.get(), buffer);
  if (got.status == IoStatus::would_block) return;
  if (got.status != IoStatus::done) return finish();
  received_.append(buffer.data(), got.count);
  take_question();
}

// Until it is answered nothing more is read, so what has come stays within two reads.
void DnsStream::take_question() {
  ByteReader reader(received_);
  const std::size_t length = reader.take16();
  if (!reader.ran_out() && length > max_dns_message) return finish();
  const std::string message(reader.take(length));
  if (reader.ran_out()) {
    if (!end_.watch.want_read(true)) finish();
    return;
  }
  received_.erase(0, length + 2);
  end_.watch.forget();
  // Also for a question that is never answered.
  timer_.set(patience);
  lookups_.ask(message, [weak = weak_from_this()](const std::string& answer) {
    if (const auto stream = weak.lock()) stream->reply(answer);
  });
}

void DnsStream::reply(const std::string& message) {
  std::string framed;
  put16(framed, static_cast<unsigned>(message.size()));
  framed += message;
  // A client that does not read its answers gets no more of them.
  if (send(end_.fd.get(), framed).count != framed.size()) return finish();
  later_.run([this] { take_question(); });
}

void DnsStream::finish() {
  end_.watch.forget();
  timer_.cancel();
  later_.run([this] {
    const auto done = std::move(done_);
    if (done) done();
  });
}

}  // namespace cellblock::egress
