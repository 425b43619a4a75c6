#include "supervisor/probe/scratch.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace cellblock::probe {
namespace {

constexpr char entry[] = "entry";

// What its owner closed its owner can open again: no defence.
bool is_closed_by_own_mode(const std::string& directory) {
  struct stat status{};
  return ::stat(directory.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & S_IRWXU) != S_IRWXU;
}

}  // namespace

std::string random_name() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (const unsigned char byte : bytes) {
    name += digits[byte >> 4U];
    name += digits[byte & 0xfU];
  }
  return name;
}

Outcome unprepared(int error, std::string_view detail) {
  const bool refused = error == EACCES || error == EPERM || error == EROFS || error == ENOSYS;
  if (refused) return held(error, detail);
  errno = error;
  return not_begun("what the attempt needs could not be made");
}

Scratch::Scratch(std::string parent) {
  if (parent.empty()) parent = scratch_directory();
  if (parent.empty()) {
    problem_ = not_applicable("nothing can be written anywhere");
  } else {
    make(parent);
  }
}

void Scratch::make(const std::string& parent) {
  const std::string name = random_name();
  if (name.empty()) {
    problem_ = not_begun("no random name could be made");
    return;
  }
  path_ = parent + "/cellblock-probe-" + name;
  if (::mkdir(path_.c_str(), 0700) < 0) {
    const bool by_itself = errno == EACCES && is_closed_by_own_mode(parent);
    problem_ = by_itself ? not_begun("its owner closed the directory")
               : errno == ENOENT && !exists(parent.c_str())
                   ? held(errno, "there is no such directory")
                   : unprepared(errno, "nothing can be written there");
    return;
  }
  directory_ = ::open(path_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory_ < 0) problem_ = not_begun("the new directory cannot be opened");
}

Scratch::~Scratch() {
  if (!valid()) return;
  remove();
  ::close(directory_);
  ::rmdir(path_.c_str());
}

Open Scratch::create(int flags, mode_t mode) const {
  return Open(::openat(directory_, entry, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

bool Scratch::remove() const { return ::unlinkat(directory_, entry, 0) == 0; }

}  // namespace cellblock::probe
