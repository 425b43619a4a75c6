#include "supervisor/probe/files_at_hand.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace cellblock::probe {

Open::~Open() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Outcome try_open(const char* path, int flags) {
  const Open file(::open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return file.valid() ? opened() : held(errno);
}

Outcome try_read(const char* path) {
  const Open file(::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  char byte = 0;
  if (!file.valid()) return held(errno);
  const ssize_t count = ::read(file.get(), &byte, 1);
  if (count < 0) return held(errno);
  return count == 0 ? held("it is empty") : opened();
}

Outcome try_any(std::initializer_list<const char*> paths, int flags) {
  Outcome last = held(ENOENT);
  for (const char* path : paths) {
    last = try_open(path, flags);
    if (last.kind == OutcomeKind::open) return opened(path);
  }
  return last;
}

Outcome try_create(const char* path) {
  const Open file(::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() && errno == EEXIST) return not_begun("something has that name already");
  if (!file.valid()) return held(errno);
  ::unlink(path);
  return opened();
}

bool exists(const char* path) {
  struct stat unused{};
  return ::stat(path, &unused) == 0;
}

std::string text_of(const char* path) {
  const Open file(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text(65'536, '\0');
  std::size_t length = 0;
  while (file.valid() && length < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + length, text.size() - length);
    if (count <= 0) break;
    length += static_cast<std::size_t>(count);
  }
  text.resize(length);
  return text;
}

Outcome with_child(const std::function<Outcome(int child)>& body) {
  const pid_t child = ::fork();
  if (child < 0) return not_begun("fork failed");
  if (child == 0) {
    while (true) ::pause();
  }
  const Outcome outcome = body(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return outcome;
}

Outcome in_new_session(const std::function<Outcome()>& body) {
  std::array<int, 2> reply{};
  if (::pipe2(reply.data(), O_CLOEXEC) < 0) return not_begun("pipe failed");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const Outcome outcome = body();
    ::_exit(::write(reply[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
  }
  ::close(reply[1]);
  const Open reading(reply[0]);
  if (child < 0) return not_begun("fork failed");
  Outcome outcome;
  if (::read(reading.get(), &outcome, sizeof outcome) != sizeof outcome) outcome = Outcome{};
  ::waitpid(child, nullptr, 0);
  return outcome;
}

std::string scratch_directory() {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): one thread
  for (const char* directory : {home, "/tmp", "/dev/shm"}) {
    if (directory != nullptr && ::access(directory, W_OK | X_OK) == 0) return directory;
  }
  return {};
}

}  // namespace cellblock::probe
