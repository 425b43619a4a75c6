#include "tests/unit/subprocess.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

namespace cellblock::testing {
namespace {

struct Ends {
  client::OwnedFd reading;
  client::OwnedFd writing;
};

Ends make(Stdio kind) {
  std::array<int, 2> ends{};
  const int made = kind == Stdio::pipes
                       ? ::pipe2(ends.data(), O_CLOEXEC)
                       : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
  if (made != 0) std::abort();
  return {client::OwnedFd(ends[0]), client::OwnedFd(ends[1])};
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t size = 0; (size = ::read(descriptor, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

Subprocess::Subprocess(std::vector<std::string> words, Stdio kind) {
  Ends in = make(kind);
  Ends out = make(kind);
  Ends err = make(Stdio::pipes);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in.reading.get(), STDIN_FILENO);
    ::dup2(out.writing.get(), STDOUT_FILENO);
    ::dup2(err.writing.get(), STDERR_FILENO);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  in_ = std::move(in.writing);
  out_ = std::move(out.reading);
  err_ = std::move(err.reading);
}

Subprocess::~Subprocess() {
  if (pid_ > 0) {
    kill(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Subprocess::write(const std::string& text) const {
  if (::write(in_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::abort();
  }
}

void Subprocess::close_input() {
  const client::OwnedFd closing(in_.release());
  // A socket pair has two directions; ending ours is what a host's close does.
  (void)::shutdown(closing.get(), SHUT_WR);
}

std::string Subprocess::read_line() {
  std::string line;
  char byte = 0;
  while (::read(out_.get(), &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

void Subprocess::kill(int signal) const { ::kill(pid_, signal); }

Subprocess::Ended Subprocess::wait() {
  if (in_.valid()) close_input();
  Ended ended;
  {
    const std::jthread errors([&] { ended.err = read_to_end(err_.get()); });
    ended.out = read_to_end(out_.get());
  }
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

Subprocess::Ended run(std::vector<std::string> words) {
  return Subprocess(std::move(words)).wait();
}

}  // namespace cellblock::testing
