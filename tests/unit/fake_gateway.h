#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "client/connection/fd.h"

/// A gateway for tests of the client: a Unix socket server in this process that follows a script.
/// Each connection runs the script on a thread of its own, with blocking calls.
namespace cellblock::testing {

class FakeConnection {
 public:
  explicit FakeConnection(client::OwnedFd socket) : socket_(std::move(socket)) {}

  /// The next line; none at the end of input. Descriptors that came with it are in `fds`.
  std::optional<std::string> read_line();
  void send(std::string_view bytes) const;

  /// Answers attach and initialize as a healthy gateway does.
  void greet();
  /// The raw JSON of a line's id.
  static std::string id_of(const std::string& line);
  void answer(const std::string& line, std::string_view result) const;

  std::vector<client::OwnedFd> fds;

 private:
  bool receive();

  client::OwnedFd socket_;
  std::string buffer_;
};

class FakeGateway {
 public:
  using Script = std::function<void(FakeConnection&)>;

  explicit FakeGateway(Script script);
  ~FakeGateway();
  FakeGateway(const FakeGateway&) = delete;
  FakeGateway& operator=(const FakeGateway&) = delete;

  const std::string& path() const { return path_; }

 private:
  void accept_all();

  Script script_;
  std::string directory_;
  std::string path_;
  client::OwnedFd listener_;
  std::jthread accepting_;
};

}  // namespace cellblock::testing
