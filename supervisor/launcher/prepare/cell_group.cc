#include "supervisor/launcher/prepare/cell_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "supervisor/os/sys.h"

namespace cellblock::launcher {
namespace {

constexpr std::size_t longest_file = 64U << 10;
// More than there can be cells at one time (launcher.cc).
constexpr std::size_t most_busy = 2048;
// More groups than these cannot be there (cgroup.max.descendants).
constexpr std::size_t most_taken = 4097;

SysResult<void> apply(int group, const GroupSetting& setting) {
  CELLBLOCK_CHECK(write_control_file(group, setting.file.c_str(), setting.text));
  const std::string now =
      CELLBLOCK_TRY(read_control_file(group, setting.file.c_str(), longest_file));
  if (!holds(now, setting)) return std::unexpected(SysError{"write", ERANGE});
  return {};
}

}  // namespace

void GroupRemover::remove(std::string name) {
  busy_.push_back(std::move(name));
  std::erase_if(busy_, [this](const std::string& group) {
    return unlinkat(cells_.get(), group.c_str(), AT_REMOVEDIR) == 0 || errno != EBUSY;
  });
  // What then stays is an empty directory that the next start removes.
  if (busy_.size() > most_busy) busy_.erase(busy_.begin());
}

CellGroup::CellGroup(std::shared_ptr<GroupRemover> remover, std::string name, Fd directory)
    : remover_(std::move(remover)), name_(std::move(name)), directory_(std::move(directory)) {}

CellGroup& CellGroup::operator=(CellGroup&& other) noexcept {
  remove();
  remover_ = std::move(other.remover_);
  name_ = std::move(other.name_);
  directory_ = std::move(other.directory_);
  return *this;
}

CellGroup::~CellGroup() { remove(); }

void CellGroup::remove() {
  directory_.reset();
  if (const auto remover = std::exchange(remover_, nullptr)) remover->remove(std::move(name_));
}

void CellGroup::kill() const {
  if (!directory_.valid()) return;
  // SIGKILL to pid 1 went first; a group that is gone already holds nobody.
  static_cast<void>(write_control_file(directory_.get(), "cgroup.kill", "1"));
}

std::string CellGroup::text_of(const char* file) const {
  return read_control_file(directory_.get(), file, longest_file).value_or("");
}

GroupUsage CellGroup::usage() const {
  if (!directory_.valid()) return {};
  return usage_of({.cpu_stat = text_of("cpu.stat"),
                   .memory_events = text_of("memory.events"),
                   .memory_peak = text_of("memory.peak"),
                   .pids_peak = text_of("pids.peak")});
}

GroupUsageNow CellGroup::usage_now() const {
  if (!directory_.valid()) return {};
  UsageNowTexts texts{.cpu_stat = text_of("cpu.stat"),
                      .memory_current = text_of("memory.current"),
                      .memory_peak = text_of("memory.peak"),
                      .pids_current = text_of("pids.current"),
                      .threads = {},
                      .pressure = {.memory = text_of("memory.pressure"),
                                   .cpu = text_of("cpu.pressure"),
                                   .io = text_of("io.pressure")}};
  if (texts.pids_current.empty()) texts.threads = text_of("cgroup.threads");
  return usage_now_of(texts);
}

// A number may be taken: by a group of a former launcher, whose processes do not end.
SysResult<std::string> CellGroups::make_next(const std::string& server) {
  for (std::size_t tries = 0; tries < most_taken; ++tries) {
    std::string name = server + "-" + std::to_string(++last_number_);
    if (mkdirat(remover_->cells(), name.c_str(), 0755) == 0) return name;
    if (errno != EEXIST) break;
  }
  return sys_fail("mkdir");
}

SysResult<CellGroup> CellGroups::make(const std::string& server,
                                      const std::vector<GroupSetting>& settings) {
  if (!remover_) {
    if (settings.empty()) return CellGroup();
    return std::unexpected(SysError{"mkdir", ENOENT});
  }
  std::string name = CELLBLOCK_TRY(make_next(server));
  Fd directory =
      CELLBLOCK_TRY(open_at(remover_->cells(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  CellGroup group(remover_, std::move(name), std::move(directory));
  for (const GroupSetting& setting : settings) {
    CELLBLOCK_CHECK(apply(group.descriptor(), setting));
  }
  return group;
}

}  // namespace cellblock::launcher
