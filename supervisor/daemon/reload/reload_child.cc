#include "supervisor/daemon/reload/reload_child.h"

#include <sys/wait.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/process/spawn.h"

namespace cellblock::daemon {

Result<Fd> ReloadChild::start(const ReloadFacts& facts) {
  Pair ends = CELLBLOCK_TRY(make_stream_pair());
  std::vector<std::string> words{"cellblockd", "--reload", "--quiet",
                                 "--config=" + facts.config_path};
  if (facts.mode == RunMode::user) words.emplace_back("--user");
  const std::array fds{ends.second.get()};
  pid_ = CELLBLOCK_TRY(spawn(program_.get(), words, fds, Environment::ours));
  Fd death = open_pidfd(pid_);
  if (!death.valid()) {
    const auto error = sys_fail("pidfd_open");
    end();
    return error;
  }
  death_ = std::make_unique<ReadableFd>(loop_, std::move(death), [this] { on_death(); });
  return std::move(ends.first);
}

void ReloadChild::on_death() {
  end();
  ended_();
}

void ReloadChild::end() {
  death_.reset();
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);  // its commands die with it
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

}  // namespace cellblock::daemon
