#include "client/cli/ui/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

#include "client/cli/ui/command_run.h"
#include "client/cli/ui/daemon_watch.h"
#include "client/cli/ui/page_files.h"
#include "client/cli/ui/peer_uid.h"
#include "client/cli/ui/routes.h"

namespace cellblock::cli::ui {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t most_connections = 32;
constexpr std::ptrdiff_t most_commands = 6;
constexpr Milliseconds request_patience{10'000};
constexpr Milliseconds event_beat{10'000};
constexpr int backlog = 64;

std::string system_error(int error) { return std::generic_category().message(error); }

std::string dotted_text(const in_addr& host) {
  std::array<char, INET_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET, &host, text.data(), text.size());
}

// ---- what all connections share ----

class Shared {
 public:
  explicit Shared(const PageServer& server)
      : server_(server), watch_(server.context), login_(server.secrets, Clock::now()) {}

  const PageServer& server() const { return server_; }
  DaemonWatch& watch() { return watch_; }
  std::counting_semaphore<most_commands>& commands() { return commands_; }

  bool admits(const HttpRequest& request) {
    const std::scoped_lock lock(mutex_);
    return login_.admits(request, Clock::now());
  }

  HttpReply log_in(const std::string& token) {
    const std::scoped_lock lock(mutex_);
    const auto answer = login_.exchange(token, Clock::now());
    if (answer == LoginAnswer::too_many) return refusal(429, sentence_of(answer));
    if (answer != LoginAnswer::taken) return refusal(401, sentence_of(answer));
    return {.body = nlohmann::json{{"key", login_.key()}}.dump(), .cookie = login_.cookie_line()};
  }

 private:
  const PageServer& server_;
  DaemonWatch watch_;
  std::counting_semaphore<most_commands> commands_{most_commands};
  std::mutex mutex_;
  Login login_;
};

// ---- one connection ----

class Connection {
 public:
  Connection(Shared& shared, client::OwnedFd socket)
      : shared_(shared), socket_(std::move(socket)), thread_([this] { serve(); }) {}
  ~Connection() { ::shutdown(socket_.get(), SHUT_RDWR); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_done() const { return is_done_; }

 private:
  void serve() {
    if (const auto request = read_request()) answer(*request);
    ::shutdown(socket_.get(), SHUT_RDWR);
    is_done_ = true;
  }

  std::optional<HttpRequest> read_request();
  void answer(const HttpRequest& request);
  bool send_all(std::string_view bytes) const;
  void reply(const HttpReply& reply) const { static_cast<void>(send_all(bytes_of(reply))); }

  void send_file(const std::string& path);
  void send_events();
  void run(const CommandRoute& route);
  void follow(const std::vector<std::string>& words);

  Shared& shared_;
  client::OwnedFd socket_;
  std::atomic<bool> is_done_ = false;
  std::jthread thread_;  ///< last: it uses all of the above
};

std::optional<HttpRequest> Connection::read_request() {
  RequestReader reader;
  std::array<char, 8U << 10> bytes;
  const auto until = Clock::now() + request_patience;
  while (true) {
    const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now());
    pollfd source{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&source, 1, static_cast<int>(left.count())) <= 0) {
      return std::nullopt;
    }
    const auto count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count <= 0) return std::nullopt;
    const auto state = reader.feed({bytes.data(), static_cast<std::size_t>(count)});
    if (state == RequestReader::State::complete) return reader.request();
    if (state == RequestReader::State::broken) {
      reply(refusal(400, "the request is malformed, or longer than any of the page"));
      return std::nullopt;
    }
  }
}

// The socket's own timeout bounds how long a reader may take nothing.
bool Connection::send_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

void Connection::answer(const HttpRequest& request) {
  if (const auto refused = refuse_stranger(request, shared_.server().listener.address)) {
    return reply(*refused);
  }
  const auto route = route_of(request);
  const bool is_open =
      std::holds_alternative<PageRoute>(route) || std::holds_alternative<LoginRoute>(route);
  if (!is_open && !shared_.admits(request)) {
    return reply(refusal(401, "log in with the address that cellblock ui printed"));
  }
  std::visit(
      Overloaded{[&](const PageRoute& page) { send_file(page.path); },
                 [&](const LoginRoute& login) { reply(shared_.log_in(login.token)); },
                 [&](const EventsRoute&) { send_events(); },
                 [&](const CommandRoute& command) { run(command); },
                 [&](const RefusedRoute& refused) { reply(refusal(refused.status, refused.why)); }},
      route);
}

void Connection::send_file(const std::string& path) {
  const auto files = page_files();
  const auto file = std::ranges::find(files, path, &PageFile::path);
  if (file == files.end()) return reply(refusal(404, "there is no such page"));
  reply({.type = std::string(file->type), .body = std::string(file->text)});
}

// A line of JSON for each change; an empty object where nothing has changed for ten seconds.
void Connection::send_events() {
  std::uint64_t last = 0;
  bool is_read = send_all(stream_head("application/x-ndjson"));
  while (is_read) {
    const auto news = shared_.watch().newer_than(last, event_beat);
    if (news) last = news->number;
    is_read = send_all(news ? news->json + "\n" : "{}\n");
  }
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void Connection::run(const CommandRoute& route) {
  const auto words = joined(shared_.server().command, route.words);
  if (route.kind == CommandRoute::Kind::follows) return follow(words);
  if (!shared_.commands().try_acquire_for(request_patience)) {
    return reply(refusal(503, "too many commands run at once"));
  }
  const auto end = command_output(words, socket_.get());
  shared_.commands().release();
  if (route.kind == CommandRoute::Kind::changes) shared_.watch().ask_now();
  const nlohmann::json body{{"exit", end.exit}, {"out", end.out}, {"err", end.err}};
  reply({.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
}

// The lines of the command, and a last one with how it ended.
void Connection::follow(const std::vector<std::string>& words) {
  if (!send_all(stream_head("application/x-ndjson"))) return;
  bool is_at_line = true;
  const auto end = follow_command(words, socket_.get(), [&](std::string_view bytes) {
    if (bytes.empty()) return !is_at_line || send_all("{}\n");
    is_at_line = bytes.ends_with('\n');
    return send_all(bytes);
  });
  const nlohmann::json last{{"exit", end.exit}, {"err", end.err}};
  static_cast<void>(
      send_all(last.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"));
}

// ---- all connections ----

class Connections {
 public:
  explicit Connections(Shared& shared) : shared_(shared) {}

  void accept_one() {
    std::erase_if(open_, [](const auto& one) { return one.is_done(); });
    const auto& server = shared_.server();
    client::OwnedFd socket(::accept4(server.listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) return;
    const auto peer = peer_uid(socket.get());
    if (!peer || std::ranges::find(server.browsers, *peer) == server.browsers.end()) {
      return refuse(socket, 403,
                    "another user runs this page: cellblock ui --browser names whose "
                    "browser may open it");
    }
    if (open_.size() >= most_connections) return refuse(socket, 503, "too many connections");
    set_patience(socket);
    open_.emplace_back(shared_, std::move(socket));
  }

 private:
  static void set_patience(const client::OwnedFd& socket) {
    constexpr timeval patience{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  // Nothing of it is read. What it sent is, so that the answer is not thrown away with it.
  static void refuse(const client::OwnedFd& socket, unsigned status, std::string_view why) {
    const auto bytes = bytes_of(refusal(status, why));
    static_cast<void>(
        ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    ::shutdown(socket.get(), SHUT_WR);
    std::array<char, 8U << 10> unread;
    static_cast<void>(::recv(socket.get(), unread.data(), unread.size(), MSG_DONTWAIT));
  }

  Shared& shared_;
  std::list<Connection> open_;
};

}  // namespace

namespace {

Result<Listener> listen_on(in_addr_t host, std::uint16_t port) {
  client::OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int reuse = 1;
  if (!socket.valid() ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 ||
      ::bind(socket.get(), generic, size) != 0 || ::listen(socket.get(), backlog) != 0 ||
      ::getsockname(socket.get(), generic, &size) != 0) {
    return fail(fmt::format("cannot listen on {}:{}: {}; another port is given with --port",
                            dotted_text(address.sin_addr), port, system_error(errno)));
  }
  return Listener{std::move(socket),
                  {.host = dotted_text(address.sin_addr), .port = ntohs(address.sin_port)}};
}

}  // namespace

Result<Listener> listen_on_port(std::uint16_t port) { return listen_on(INADDR_LOOPBACK, port); }

Result<Listener> listen_at_random_address() {
  std::array<std::uint8_t, 3> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail("the kernel gives no random numbers");
  }
  constexpr std::uint8_t hosts = 254;  // neither 0 nor 255: some take these for networks
  in_addr_t host = IN_LOOPBACKNET;
  for (const std::uint8_t byte : bytes) host = host << CHAR_BIT | (byte % hosts + 1U);
  return listen_on(host, 0);
}

Result<Listener> listen_at(const std::string& path) {
  client::OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An empty one would be a name that the kernel makes up, without a file and its rights.
  if (path.empty()) return fail("--listen: the path is empty");
  if (path.size() >= sizeof address.sun_path) {
    return fail(fmt::format("--listen {}: the path is longer than {} bytes", path,
                            sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const auto before = ::umask(S_IRWXG | S_IRWXO);
  const bool is_bound =
      socket.valid() &&
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  if (!is_bound || ::listen(socket.get(), backlog) != 0) {
    const int why = is_bound ? errno : error;
    return fail(fmt::format("cannot listen at {}: {}", path,
                            why == EADDRINUSE
                                ? "something is there already; remove it, or choose another path"
                                : system_error(why)));
  }
  return Listener{std::move(socket), {}};
}

Result<LoginSecrets> random_secrets() {
  LoginSecrets secrets;
  for (std::string* secret : {&secrets.token, &secrets.cookie, &secrets.key}) {
    std::array<unsigned char, 32> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      return fail("the kernel gives no random numbers");
    }
    for (const unsigned char byte : bytes) *secret += fmt::format("{:02x}", byte);
  }
  return secrets;
}

void serve_page(const PageServer& server, const Interruption& interruption) {
  Shared shared(server);
  Connections connections(shared);
  while (true) {
    std::array<pollfd, 2> sources{pollfd{server.listener.socket.get(), POLLIN, 0},
                                  pollfd{interruption.descriptor(), POLLIN, 0}};
    if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return;
    if (sources[1].revents != 0) return;
    if (sources[0].revents != 0) connections.accept_one();
  }
}

}  // namespace cellblock::cli::ui
