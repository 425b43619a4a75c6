#include "tests/unit/fake_gateway.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

namespace cellblock::testing {

bool FakeConnection::receive() {
  std::array<char, 65536> bytes{};
  alignas(cmsghdr) std::array<char, 256> control{};
  iovec room{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &room;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto size = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) return false;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr) {
    std::vector<int> numbers((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(numbers.data(), CMSG_DATA(header), numbers.size() * sizeof(int));
    for (const int number : numbers) fds.emplace_back(number);
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

std::optional<std::string> FakeConnection::read_line() {
  while (buffer_.find('\n') == std::string::npos) {
    if (!receive()) return std::nullopt;
  }
  const auto end = buffer_.find('\n');
  auto line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

void FakeConnection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the client has gone, as some tests want it
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void FakeConnection::greet() {
  answer(read_line().value_or(""), R"({"server":"files","session":"1","cell":"2"})");
  answer(read_line().value_or(""), R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  (void)read_line();  // notifications/initialized
}

std::string FakeConnection::id_of(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  return json.is_object() && json.contains("id") ? json["id"].dump() : "null";
}

void FakeConnection::answer(const std::string& line, std::string_view result) const {
  send(R"({"jsonrpc":"2.0","id":)" + id_of(line) + R"(,"result":)" + std::string(result) + "}\n");
}

FakeGateway::FakeGateway(Script script) : script_(std::move(script)) {
  std::string name = "/tmp/cellblock-test-XXXXXX";
  directory_ = ::mkdtemp(name.data());
  path_ = directory_ + "/cellblock.sock";
  listener_ = client::OwnedFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listener_.get(), generic, sizeof(address)) != 0) std::abort();
  if (::listen(listener_.get(), 8) != 0) std::abort();
  accepting_ = std::jthread([this] { accept_all(); });
}

FakeGateway::~FakeGateway() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // wakes accept
  accepting_ = {};
  ::unlink(path_.c_str());
  ::rmdir(directory_.c_str());
}

void FakeGateway::accept_all() {
  std::vector<std::jthread> connections;
  while (true) {
    client::OwnedFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) return;
    connections.emplace_back(
        [this, connection = FakeConnection(std::move(socket))]() mutable { script_(connection); });
  }
}

}  // namespace cellblock::testing
