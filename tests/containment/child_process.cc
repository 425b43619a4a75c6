#include "tests/containment/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "supervisor/os/sys.h"

namespace cellblock::containment {
namespace {

std::string end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return "waitpid failed";
  }
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

ChildResult run_child_process(const std::function<int(int output)>& body) {
  auto pipe = make_pipe();
  if (!pipe) return {"", pipe.error().text()};
  const pid_t child = ::fork();
  if (child < 0) return {"", "fork failed"};
  if (child == 0) {
    pipe->first.reset();
    ::_exit(body(pipe->second.get()));
  }
  pipe->second.reset();
  ChildResult result;
  result.output = read_to_end(pipe->first.get());
  result.end = end_of(child);
  return result;
}

BackgroundProcess::BackgroundProcess(const std::function<void()>& prepare) {
  auto prepared = make_pipe();
  if (!prepared) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    prepare();
    prepared->second.reset();
    while (true) ::pause();
  }
  prepared->second.reset();
  read_to_end(prepared->first.get());
}

BackgroundProcess::~BackgroundProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  end_of(pid_);
}

}  // namespace cellblock::containment
