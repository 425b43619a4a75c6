#include "tests/bench/subject.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace cellblock::bench {
namespace {

constexpr std::string_view handshake =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})"
    "\n"
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
    "\n";

}  // namespace

Subject::Subject(std::string name, const harness::Process::Options& options)
    : name_(std::move(name)), buffer_(1U << 20) {
  auto input = make_pipe();
  auto output = make_pipe();
  if (!input || !output) throw std::runtime_error("no pipe");
  pid_ = harness::spawn(options, input->first.get(), output->second.get(), STDERR_FILENO);
  input_ = std::move(input->second);
  output_ = std::move(output->first);
  send(handshake);
  if (receive().lines != 1) throw std::runtime_error(name_ + " did not answer the handshake");
}

Subject::~Subject() {
  input_.reset();
  output_.reset();
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

void Subject::send(std::string_view bytes) const {
  if (auto sent = write_all(input_.get(), bytes); !sent) {
    throw std::system_error(sent.error().number, std::generic_category(), name_);
  }
}

Subject::Received Subject::receive() {
  while (true) {
    const ssize_t count = ::read(output_.get(), buffer_.data(), buffer_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error(name_ + " ended");
    const auto lines = std::count(buffer_.begin(), buffer_.begin() + count, '\n');
    return {static_cast<unsigned>(lines), static_cast<std::size_t>(count)};
  }
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
  }
}

}  // namespace cellblock::bench
