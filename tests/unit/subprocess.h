#pragma once

#include <string>
#include <vector>

#include "client/connection/fd.h"

namespace cellblock::testing {

enum class Stdio { pipes, sockets };

/// A program that runs with its own stdin, stdout and stderr, seen from its parent.
class Subprocess {
 public:
  Subprocess(std::vector<std::string> words, Stdio kind = Stdio::pipes);
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  void write(const std::string& text) const;
  void close_input();
  void close_output() { out_ = client::OwnedFd(); }  ///< nobody reads it any more
  std::string read_line();
  void kill(int signal) const;

  struct Ended {
    int exit_code = -1;
    int signal = 0;
    std::string out;
    std::string err;
  };
  /// Closes its input, reads both outputs to their end and waits.
  Ended wait();

 private:
  int pid_ = -1;
  client::OwnedFd in_;
  client::OwnedFd out_;
  client::OwnedFd err_;
};

/// Runs it to its end without input.
Subprocess::Ended run(std::vector<std::string> words);

}  // namespace cellblock::testing
