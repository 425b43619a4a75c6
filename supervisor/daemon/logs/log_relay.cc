#include "supervisor/daemon/logs/log_relay.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace cellblock::daemon {
namespace {

using wire::OwnProgram;

const char* name_of(OwnProgram program) {
  switch (program) {
    case OwnProgram::gateway:
      return "cellblock-gateway";
    case OwnProgram::audit:
      return "cellblock-audit";
    case OwnProgram::http:
      return "cellblock-http";
    case OwnProgram::metrics:
      return "cellblock-metrics";
    case OwnProgram::egress:
      return "cellblock-egress";
  }
  return "a process of cellblock";
}

std::string who(const wire::LogPipe& whose) {
  if (whose.program != OwnProgram::gateway) return name_of(whose.program);
  return fmt::format("{} of uid {}", name_of(whose.program), whose.uid);
}

spdlog::level::level_enum level_of(LogLines::Level level) {
  switch (level) {
    case LogLines::Level::info:
      return spdlog::level::info;
    case LogLines::Level::warning:
      return spdlog::level::warn;
    case LogLines::Level::error:
      break;
  }
  return spdlog::level::err;
}

void say(const std::string& name, const std::vector<LogLines::Line>& lines) {
  for (const LogLines::Line& line : lines) {
    spdlog::log(level_of(line.level), "{}: {}", name, line.text);
  }
}

}  // namespace

LogRelay::~LogRelay() {
  stop_watching();
  receive();
  for (auto& [number, source] : sources_) {
    source.read = 0;
    while (source.read < bytes_per_second && read_some(source) == Left::something) {
    }
    say(source.name, source.lines.finish());
  }
}

void LogRelay::watch(boost::asio::io_context& loop) {
  loop_ = &loop;
  timer_.emplace(loop);
  auto channel = duplicate(channel_.get());
  if (!channel) return;  // the channel is read whole at the end
  channel_watch_ = std::make_unique<ReadableFd>(loop, std::move(*channel), [this] { receive(); });
  for (auto entry = sources_.begin(); entry != sources_.end();) {
    const bool is_watched = watch_source(entry->first, entry->second);
    entry = is_watched ? std::next(entry) : sources_.erase(entry);
  }
}

void LogRelay::stop_watching() {
  channel_watch_.reset();
  for (auto& [number, source] : sources_) source.watch.reset();
  timer_.reset();
  loop_ = nullptr;
}

void LogRelay::receive() {
  while (true) {
    wire::LogPipe whose;
    auto received = receive_record(channel_.get(), whose, MSG_DONTWAIT);
    if (!received && received.error().number == EPIPE) channel_watch_.reset();
    if (!received) return;
    if (received->fds.size() != 1) continue;
    const std::uint64_t number = next_++;
    auto [place, added] =
        sources_.try_emplace(number, Source{.pipe = std::move(received->fds[0]),
                                            .name = who(whose),
                                            .lines = LogLines(name_of(whose.program))});
    if (loop_ != nullptr && !watch_source(number, place->second)) sources_.erase(place);
  }
}

// Without a free descriptor the pipe cannot be read. It is closed, so that its writer's writes fail
// instead of blocking.
bool LogRelay::watch_source(std::uint64_t number, Source& source) {
  auto pipe = duplicate(source.pipe.get());
  if (!pipe) return false;
  source.watch = std::make_unique<ReadableFd>(*loop_, std::move(*pipe),
                                              [this, number] { on_readable(number); });
  return true;
}

void LogRelay::on_readable(std::uint64_t number) {
  const auto found = sources_.find(number);
  if (found == sources_.end()) return;
  Source& source = found->second;
  if (read_some(source) == Left::all_said) {
    say(source.name, source.lines.finish());
    sources_.erase(found);
  } else if (source.read >= bytes_per_second) {
    source.watch->pause();
  }
  read_on_later();
}

LogRelay::Left LogRelay::read_some(Source& source) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(source.pipe.get(), bytes.data(), bytes.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Left::nothing : Left::all_said;
  if (count == 0) return Left::all_said;
  source.read += static_cast<std::size_t>(count);
  say(source.name, source.lines.take({bytes.data(), static_cast<std::size_t>(count)},
                                     std::chrono::steady_clock::now()));
  return Left::something;
}

void LogRelay::read_on_later() {
  if (std::exchange(timer_runs_, true)) return;
  timer_->expires_after(std::chrono::seconds{1});
  timer_->async_wait([this](const boost::system::error_code& error) {
    if (!error) read_on();
  });
}

void LogRelay::read_on() {
  timer_runs_ = false;
  for (auto& [number, source] : sources_) {
    source.read = 0;
    if (source.watch && source.watch->paused()) source.watch->resume();
  }
}

}  // namespace cellblock::daemon
