#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cellblock/client.h"
#include "tests/unit/fake_gateway.h"

/// A gateway that remembers what one client has said.
namespace cellblock::testing {

enum class RecordedLines : std::uint8_t { all, requests };

class RecordingGateway {
 public:
  /// The result for a line that has an id; none: it is left without an answer.
  using ResultOf = std::function<std::optional<std::string>(const std::string& line)>;

  RecordingGateway(RecordedLines kept, ResultOf result_of)
      : gateway_([this, kept, result_of = std::move(result_of)](FakeConnection& peer) {
          while (auto line = peer.read_line()) {
            const bool has_id = FakeConnection::id_of(*line) != "null";
            if (has_id || kept == RecordedLines::all) lines_.push_back(*line);
            const auto result = has_id ? result_of(*line) : std::nullopt;
            if (result) peer.answer(*line, *result);
          }
          ended_.count_down();
        }) {}

  const std::string& path() const { return gateway_.path(); }
  client::Options options() const { return {.socket = path()}; }

  client::Client connect(client::Options options = {}) const {
    options.socket = path();
    auto connected = client::Client::connect(std::move(options));
    EXPECT_TRUE(connected) << connected.error().text;
    return *std::move(connected);
  }

  /// When the client has closed.
  const std::vector<std::string>& lines() {
    ended_.wait();
    return lines_;
  }

 private:
  std::vector<std::string> lines_;
  std::latch ended_{1};
  FakeGateway gateway_;
};

}  // namespace cellblock::testing
