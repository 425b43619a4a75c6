#include "supervisor/log/own_log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

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

}  // namespace

void set_up_log(const std::string& name) {
  const bool is_journal = is_connected_to(STDERR_FILENO, journal_stream);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelWord>('*').add_flag<Priority>('P').set_pattern(
      fmt::format("{}{}: %*%v", is_journal ? "%P" : "", name));
  auto logger =
      std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_formatter(std::move(formatter));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

bool is_connected_to(int descriptor, std::string_view path) {
  sockaddr_un peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  if (peer.sun_family != AF_UNIX || size <= offsetof(sockaddr_un, sun_path)) return false;
  return path == std::string_view(peer.sun_path);
}

}  // namespace cellblock
