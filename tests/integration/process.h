#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "supervisor/os/sys.h"

/// Programs started by a test. Deadlines exist so that a broken program ends its test instead of
/// hanging it: no test measures time by them.
namespace cellblock::harness {

inline constexpr std::chrono::seconds deadline{30};

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

/// Reads a pipe to its end on a thread of its own, so that the writer is never blocked.
class Output {
 public:
  explicit Output(Fd pipe);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Waits until the text has come; false at the end of the output or at the deadline.
  bool wait_for(std::string_view text);
  /// Waits for the end of the output.
  std::string all();
  std::string so_far() const;

 private:
  void read();

  Fd pipe_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  bool ended_ = false;
  std::jthread reader_;
};

class Process {
 public:
  struct Options {
    std::vector<std::string> command;      ///< [0] is a path
    std::vector<std::string> environment;  ///< the whole environment
    std::optional<User> user;              ///< changes to this user if there is one
    /// Files bound over others in a mount namespace of the process's own (needs root).
    std::vector<std::pair<std::string, std::string>> overlays;
  };

  /// Throws std::system_error.
  explicit Process(const Options& options);
  /// Kills what is still running.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  void write(std::string_view text) const;
  void close_input() { input_.reset(); }

  /// The wait status as waitpid(2) has it, or nothing at the deadline.
  std::optional<int> wait();

  Output& output() { return *output_; }
  Output& errors() { return *errors_; }

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  Fd pidfd_;
  Fd input_;
  std::optional<Output> output_;
  std::optional<Output> errors_;
};

/// Starts the program with these descriptors as its standard ones. Throws std::system_error.
pid_t spawn(const Process::Options& options, int input, int output, int errors);

/// True when the process behind the pidfd has ended before the deadline.
bool wait_for_end(int pidfd);

}  // namespace cellblock::harness
