#include "tests/integration/host.h"

#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace cellblock::harness {
namespace {

using nlohmann::json;

void require(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

/// The effective identity of this process, for as long as the object lives.
class Disguise {
 public:
  explicit Disguise(const User& user) : needed_(user.uid != ::geteuid()) {
    if (!needed_) return;
    require(::setgroups(user.groups.size(), user.groups.data()) == 0, "setgroups");
    require(::setegid(user.gid) == 0, "setegid");
    require(::seteuid(user.uid) == 0, "seteuid");
  }
  ~Disguise() {
    // Staying in disguise would make every later check of the test meaningless.
    if (needed_ && (::seteuid(0) != 0 || ::setegid(0) != 0)) std::abort();
  }
  Disguise(const Disguise&) = delete;
  Disguise& operator=(const Disguise&) = delete;

 private:
  bool needed_;
};

}  // namespace

Host::Host(const std::string& socket, const User& user)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  require(socket_.valid(), "socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof(address.sun_path) - 1);
  const Disguise disguise(user);
  require(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0,
          "connect");
}

void Host::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    require(count >= 0, "send");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Host::send(const json& message) { send_bytes(message.dump() + "\n"); }

void Host::send_with(const json& message, std::span<const int> descriptors) {
  const std::string line = message.dump() + "\n";
  const auto until = std::chrono::steady_clock::now() + deadline;
  auto sent = send_record(socket_.get(), std::as_bytes(std::span(line)), descriptors);
  // Not with the gateway yet (docs/protocol.md): nothing was sent.
  while (!sent && sent.error().number == EPERM && std::chrono::steady_clock::now() < until) {
    pollfd answered{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&answered, 1, 5) > 0) return;  // turned away: the answer says why
    sent = send_record(socket_.get(), std::as_bytes(std::span(line)), descriptors);
  }
  errno = sent ? 0 : sent.error().number;
  require(sent.has_value(), "sendmsg");
}

void Host::end_input() { ::shutdown(socket_.get(), SHUT_WR); }

std::optional<std::string> Host::line() {
  static constexpr auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(deadline);
  std::size_t searched = 0;
  while (true) {
    if (const auto end = received_.find('\n', searched); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, static_cast<int>(limit.count())) != 1) return std::nullopt;
    char buffer[64 * 1024];
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof(buffer), 0);
    if (count <= 0) return std::nullopt;
    received_.append(buffer, static_cast<std::size_t>(count));
  }
}

json Host::receive() {
  const auto text = line();
  return text ? json::parse(*text, nullptr, false) : json();
}

bool Host::at_end() {
  if (line()) return false;
  char byte = 0;
  return ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}

json Host::answer_to(const json& id) {
  while (true) {
    json message = receive();
    if (message.is_null()) return message;
    const bool is_answer = !message.contains("method") && message.value("id", json()) == id;
    if (is_answer) return message;
    passed_over.push_back(std::move(message));
  }
}

json Host::request(const std::string& method, json params) {
  const int id = next_id_++;
  send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  return answer_to(id);
}

json Host::attach(const std::string& server) {
  return request("cellblock/attach", {{"server", server}});
}

void Host::open_session(const std::string& server, json capabilities) {
  const json attached = attach(server);
  if (!attached.contains("result")) throw std::runtime_error("attach: " + attached.dump());
  const json answer = request("initialize", {{"protocolVersion", "2025-11-25"},
                                             {"capabilities", std::move(capabilities)},
                                             {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  if (!answer.contains("result")) throw std::runtime_error("initialize: " + answer.dump());
  send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
}

json Host::call(const std::string& tool, json arguments) {
  return request("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
}

std::string Host::call_for_text(const std::string& tool, json arguments) {
  const json answer = call(tool, std::move(arguments));
  const json::json_pointer text("/result/content/0/text");
  return answer.contains(text) ? answer[text].get<std::string>() : "no text: " + answer.dump();
}

}  // namespace cellblock::harness
