#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "supervisor/os/sys.h"
#include "tests/integration/process.h"

/// One way to reach the echo server: a program whose standard input and output are an MCP session.
namespace cellblock::bench {

class Subject {
 public:
  /// Starts the program and goes through MCP's handshake. Throws std::system_error or
  /// std::runtime_error.
  Subject(std::string name, const harness::Process::Options& options);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const std::string& name() const { return name_; }
  void send(std::string_view bytes) const;
  struct Received {
    unsigned lines = 0;  ///< newlines in what came
    std::size_t bytes = 0;
  };
  /// Reads what there is, blocking for the first byte. Throws at the end of the output.
  Received receive();

 private:
  std::string name_;
  pid_t pid_ = -1;
  Fd input_;
  Fd output_;
  std::vector<char> buffer_;
};

/// This process and what it starts from here on.
void pin_to(int cpu);

}  // namespace cellblock::bench
