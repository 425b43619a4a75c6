// The asynchronous half of the C interface in poll().

#include <cellblock/cellblock_async.h>
#include <poll.h>

#include <cstdint>
#include <stdexcept>

#include "tests/bench/faces/faces.h"

namespace cellblock::bench {
namespace {

[[noreturn]] void fail(cellblock_error* error) {
  const std::string text = cellblock_error_text(error);
  cellblock_error_free(error);
  throw std::runtime_error(text);
}

class PollFace : public Face {
 public:
  explicit PollFace(const std::string& server) {
    cellblock_error* error = nullptr;
    if (cellblock_connect(nullptr, &client_, &error) != CELLBLOCK_OK ||
        cellblock_attach(client_, server.c_str(), nullptr, &error) != CELLBLOCK_OK ||
        cellblock_initialize(client_, handshake_ms, nullptr, &error) != CELLBLOCK_OK) {
      fail(error);
    }
  }
  ~PollFace() override { cellblock_client_free(client_); }
  PollFace(const PollFace&) = delete;
  PollFace& operator=(const PollFace&) = delete;

  void run(Round& round) override {
    round_ = &round;
    std::vector<Call> calls(round.in_flight(), Call{this, {}});
    for (Call& call : calls) begin(call);
    while (open_ > 0) {
      pollfd waited{cellblock_fd(client_), cellblock_events(client_), 0};
      ::poll(&waited, 1, cellblock_timeout(client_));
      if (cellblock_process(client_, nullptr) != CELLBLOCK_OK) {
        throw std::runtime_error("a call failed");
      }
    }
  }

 private:
  static constexpr std::uint64_t handshake_ms = 60'000;

  struct Call {
    PollFace* face;
    Round::Clock::time_point began;
  };

  void begin(Call& call) {
    if (!round_->take()) return;
    call.began = Round::Clock::now();
    cellblock_error* error = nullptr;
    if (cellblock_call_tool_async(client_, face_tool, face_arguments, nullptr, answered, &call,
                                  nullptr, &error) != CELLBLOCK_OK) {
      fail(error);
    }
    ++open_;
  }

  static void answered(void* user, cellblock_code code, cellblock_result* result,
                       cellblock_error* error) {
    Call& call = *static_cast<Call*>(user);
    --call.face->open_;
    if (code != CELLBLOCK_OK) fail(error);
    call.face->round_->answered(call.began, cellblock_result_text(result, nullptr));
    cellblock_result_free(result);
    call.face->begin(call);
  }

  cellblock_client* client_ = nullptr;
  Round* round_ = nullptr;
  unsigned open_ = 0;
};

}  // namespace

std::unique_ptr<Face> poll_face(const std::string& server) {
  return std::make_unique<PollFace>(server);
}

}  // namespace cellblock::bench
