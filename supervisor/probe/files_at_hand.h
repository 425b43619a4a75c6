#pragma once

#include <fcntl.h>

#include <functional>
#include <string>

#include "supervisor/probe/attempt.h"

/// Small steps that many attempts are made of.
namespace cellblock::probe {

/// Closes what it holds. (The supervisor's own Fd is not for a program that runs in a cell.)
class Open {
 public:
  explicit Open(int descriptor) : descriptor_(descriptor) {}
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open();
  bool valid() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Outcome try_open(const char* path, int flags);

/// Opens and reads a byte.
Outcome try_read(const char* path);

/// The first of these that can be opened, named in the detail; else the last one's errno.
Outcome try_any(std::initializer_list<const char*> paths, int flags);

/// Creates a file that was not there, and removes it.
Outcome try_create(const char* path);

bool exists(const char* path);

/// At most 64 KiB of a small file, empty if it cannot be read.
std::string text_of(const char* path);

/// Runs `body` in a child of this process with its pid here, and ends the child.
Outcome with_child(const std::function<Outcome(int child)>& body);

/// Runs `body` in a child that leads a session of its own, without a terminal.
Outcome in_new_session(const std::function<Outcome()>& body);

/// A directory that this process may write: the home, /tmp or /dev/shm. Empty: none.
std::string scratch_directory();

// Attempts on one file, for tables of attempts.

template <const char* path>
Outcome read_it(const Setting& /*setting*/) {
  return try_read(path);
}

template <const char* path>
Outcome write_it(const Setting& /*setting*/) {
  return try_open(path, O_WRONLY);
}

}  // namespace cellblock::probe
