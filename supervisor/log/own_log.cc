#include "supervisor/log/own_log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/os/sys.h"

namespace cellblock {
namespace {

constexpr std::string_view journal_stream = "/run/systemd/journal/stdout";

// "warning: " and "error: "; nothing for what is simply said.
class LevelWord : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    std::string_view word;
    if (message.level == spdlog::level::warn) word = "warning: ";
    if (message.level >= spdlog::level::err) word = "error: ";
    out.append(word.data(), word.data() + word.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelWord>();
  }
};

// What the journal takes for the level, and leaves out of the line.
class Priority : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    std::string_view level = "<6>";
    if (message.level == spdlog::level::warn) level = "<4>";
    if (message.level >= spdlog::level::err) level = "<3>";
    out.append(level.data(), level.data() + level.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

constexpr char journal_socket[] = "/run/systemd/journal/socket";

// Connected while nothing is given up yet; it needs no right that the journal's stream did not.
// Invalid: there is none.
Fd connect_to_journal() {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, journal_socket, sizeof journal_socket);
  const auto* as_any = reinterpret_cast<const sockaddr*>(&address);
  if (!socket.valid() || ::connect(socket.get(), as_any, sizeof address) != 0) return {};
  return socket;
}

int priority_of(spdlog::level::level_enum level) {
  constexpr int error = 3;
  constexpr int warning = 4;
  constexpr int info = 6;
  if (level >= spdlog::level::err) return error;
  return level == spdlog::level::warn ? warning : info;
}

// To the journal with fields; what that does not take at once (it is started again, or the line is
// too long for a datagram) goes to stderr, which is the journal too.
class JournalSink final : public spdlog::sinks::sink {
 public:
  JournalSink(std::string identifier, Fd socket)
      : identifier_(std::move(identifier)), socket_(std::move(socket)) {}

  void log(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const int priority = priority_of(message.level);
    const std::string entry = journal_entry(identifier_, priority, text);
    const ssize_t sent = ::send(socket_.get(), entry.data(), entry.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(entry.size())) stderr_.log(message);
  }
  void flush() override { stderr_.flush(); }
  void set_pattern(const std::string& pattern) override { stderr_.set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    stderr_.set_formatter(std::move(formatter));
  }

 private:
  std::string identifier_;
  Fd socket_;
  spdlog::sinks::stderr_sink_st stderr_;
};

// A value with a newline has its length before it, 8 bytes in little-endian order.
void add_field(std::string& entry, std::string_view name, std::string_view value) {
  entry += name;
  if (value.find('\n') == std::string_view::npos) {
    entry += '=';
  } else {
    entry += '\n';
    for (unsigned shift = 0; shift < 64; shift += 8) {
      entry += static_cast<char>(std::uint64_t{value.size()} >> shift & 0xffU);
    }
  }
  entry += value;
  entry += '\n';
}

/// What stands between `before` and `after`, at the beginning; both are taken away with it.
std::optional<std::string_view> take_between(std::string_view& text, std::string_view before,
                                             std::string_view after, std::string_view letters) {
  if (!text.starts_with(before)) return std::nullopt;
  const std::string_view rest = text.substr(before.size());
  const std::size_t end = rest.find(after);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view found = rest.substr(0, end);
  if (found.find_first_not_of(letters) != std::string_view::npos) return std::nullopt;
  text = rest.substr(end + after.size());
  return found;
}

constexpr std::string_view digits = "0123456789";
constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyz0123456789-";

// "cellblock-gateway of uid 1000: [MCP:stdio:files] ..."
void add_subjects(std::string& entry, std::string_view text) {
  for (const std::string_view level : {"warning: ", "error: "}) {
    if (text.starts_with(level)) text.remove_prefix(level.size());
  }
  if (const auto uid = take_between(text, "cellblock-gateway of uid ", ": ", digits)) {
    add_field(entry, "CELLBLOCK_PROGRAM", "cellblock-gateway");
    add_field(entry, "CELLBLOCK_UID", *uid);
  }
  if (const auto server = take_between(text, "[MCP:stdio:", "]", name_letters)) {
    add_field(entry, "MCP_SERVER", *server);
  }
}

}  // namespace

std::string journal_entry(std::string_view identifier, int priority, std::string_view text) {
  std::string entry;
  add_field(entry, "MESSAGE", text);
  add_field(entry, "PRIORITY", fmt::format("{}", priority));
  add_field(entry, "SYSLOG_IDENTIFIER", identifier);
  add_subjects(entry, text);
  return entry;
}

namespace {

void set_up_with(const std::string& name, spdlog::sink_ptr sink, bool is_journal) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelWord>('*').add_flag<Priority>('P').set_pattern(
      fmt::format("{}{}: %*%v", is_journal ? "%P" : "", name));
  auto logger = std::make_shared<spdlog::logger>(name, std::move(sink));
  logger->set_formatter(std::move(formatter));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

void set_up_log(const std::string& name) {
  set_up_with(name, std::make_shared<spdlog::sinks::stderr_sink_st>(),
              is_connected_to(STDERR_FILENO, journal_stream));
}

void speak_to_journal(const std::string& name) {
  if (!is_connected_to(STDERR_FILENO, journal_stream)) return;
  Fd journal = connect_to_journal();
  if (!journal.valid()) return;
  set_up_with(name, std::make_shared<JournalSink>(name, std::move(journal)), true);
}

bool is_connected_to(int descriptor, std::string_view path) {
  sockaddr_un peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  if (peer.sun_family != AF_UNIX || size <= offsetof(sockaddr_un, sun_path)) return false;
  return path == std::string_view(peer.sun_path);
}

}  // namespace cellblock
