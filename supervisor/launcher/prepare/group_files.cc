#include "supervisor/launcher/prepare/group_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "supervisor/launcher/prepare/own_processes.h"

namespace cellblock::launcher {
namespace {

constexpr std::uint64_t period_microseconds = 100'000;
constexpr double least_quota = 1'000.0;  // the kernel takes no less

enum class Controller : std::uint8_t { missing, present };

Controller presence(bool present) { return present ? Controller::present : Controller::missing; }

// The kernel rounds down to its pages, and then reads back what was not written. 64 KiB is a whole
// number of pages everywhere.
std::string pages(std::uint64_t bytes) {
  constexpr std::uint64_t largest_page = 64U << 10;
  return std::to_string(bytes / largest_page * largest_page);
}

std::string quota(double processors) {
  const double microseconds = std::max(least_quota, std::round(processors * period_microseconds));
  return fmt::format("{} {}", static_cast<std::uint64_t>(microseconds), period_microseconds);
}

class Settings {
 public:
  explicit Settings(Enforcement enforcement) : enforcement_(enforcement) {}

  void add(Controller controller, std::string file, std::string text) {
    const bool waived = enforcement_ == Enforcement::best_effort;
    if (controller == Controller::missing && waived) return;
    list_.push_back({std::move(file), std::move(text)});
  }
  void add_if_present(Controller controller, std::string file, std::string text) {
    if (controller == Controller::present) list_.push_back({std::move(file), std::move(text)});
  }
  std::vector<GroupSetting> take() { return std::move(list_); }

 private:
  Enforcement enforcement_;
  std::vector<GroupSetting> list_;
};

void add_memory(const Limits& limits, const Cgroup& cgroup, Settings& settings) {
  const Controller memory = presence(cgroup.memory);
  // All or nothing, also when the host as a whole runs out: half a cell is of no use.
  settings.add_if_present(memory, "memory.oom.group", "1");
  if (!limits.memory_bytes) return;
  settings.add(memory, "memory.max", pages(*limits.memory_bytes));
  settings.add(memory, "memory.swap.max", pages(limits.swap_bytes));
}

// Both, since the kernel reads both back.
std::string rate(const char* key, const std::optional<std::uint64_t>& bytes) {
  return fmt::format(" {}={}", key, bytes ? std::to_string(*bytes) : "max");
}

void add_io(const Server& server, const Cgroup& cgroup, Settings& settings) {
  const Limits& limits = server.limits;
  if (!limits.io_read && !limits.io_write) return;
  const std::string rates = rate("rbps", limits.io_read) + rate("wbps", limits.io_write);
  for (const Disk& disk : server.disks) {
    settings.add(presence(cgroup.io), "io.max",
                 fmt::format("{}:{}{}", disk.major, disk.minor, rates));
  }
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : 0;
}

// "usage_usec 1234" among other lines.
std::uint64_t number_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) {
      return number(line.substr(key.size() + 1));
    }
  }
  return 0;
}

// As many as pids.current says where there is that.
std::uint64_t tasks_in(const UsageNowTexts& texts) {
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(texts.threads, '\n'));
  const std::uint64_t all = texts.pids_current.empty() ? lines : number(texts.pids_current);
  return all - std::min(all, own_processes);
}

// "some avg10=1.23 avg60=0.40 avg300=0.10 total=123456", and a line "full ...".
std::optional<std::uint32_t> pressure_in(std::string_view text) {
  constexpr std::string_view key = "some avg10=";
  if (!text.starts_with(key)) return std::nullopt;
  text.remove_prefix(key.size());
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number(text) * 100 + number(text.substr(point + 1)), 100'00));
}

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::vector<GroupSetting> group_settings(const Server& server, const Cgroup& cgroup) {
  const Limits& limits = server.limits;
  Settings settings(limits.enforcement);
  add_memory(limits, cgroup, settings);
  settings.add_if_present(presence(cgroup.pids), "pids.max",
                          std::to_string(limits.pids + own_processes));
  if (limits.cpu) settings.add(presence(cgroup.cpu), "cpu.max", quota(*limits.cpu));
  add_io(server, cgroup, settings);
  return settings.take();
}

bool holds(std::string_view content, const GroupSetting& setting) {
  while (!content.empty()) {
    const std::string_view line = take_line(content);
    if (line == setting.text) return true;
    if (line.starts_with(setting.text) && line[setting.text.size()] == ' ') return true;
  }
  return false;
}

GroupUsage usage_of(const UsageTexts& texts) {
  return {.cpu_microseconds = number_after(texts.cpu_stat, "usage_usec"),
          .memory_peak = number(texts.memory_peak),
          .pids_peak = narrow(number(texts.pids_peak)),
          .oom_kills = narrow(number_after(texts.memory_events, "oom_kill"))};
}

GroupUsageNow usage_now_of(const UsageNowTexts& texts) {
  return {.memory = number(texts.memory_current),
          .memory_peak = number(texts.memory_peak),
          .cpu_microseconds = number_after(texts.cpu_stat, "usage_usec"),
          .tasks = tasks_in(texts),
          .pressure = {.memory = pressure_in(texts.pressure.memory),
                       .cpu = pressure_in(texts.pressure.cpu),
                       .io = pressure_in(texts.pressure.io)}};
}

}  // namespace cellblock::launcher
