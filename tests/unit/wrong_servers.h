#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/unit/fake_gateway.h"

/// Servers that break the protocol, each in one way, for tests of the client library.
namespace cellblock::testing {

struct WrongServer {
  std::string what;  ///< "answers twice"
  FakeGateway::Script script;
};

std::vector<WrongServer> wrong_servers();

/// Reads all, and answers nothing.
void silent_server(FakeConnection& peer);
/// Announces something at each line, asks the host something, and answers.
void talkative_server(FakeConnection& peer);

/// Longer than any line that a client of these tests takes.
inline constexpr std::size_t longest_line = 4096;

}  // namespace cellblock::testing
