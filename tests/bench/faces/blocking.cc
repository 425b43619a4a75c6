// The blocking Client: one call at a time, whatever the round asks for.

#include <cellblock/client.h>

#include <stdexcept>
#include <utility>

#include "tests/bench/faces/faces.h"

namespace cellblock::bench {
namespace {

template <class T>
T taken(client::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

class BlockingFace : public Face {
 public:
  explicit BlockingFace(const std::string& server) : client_(taken(client::Client::connect())) {
    taken(client_.attach(server));
    taken(client_.initialize());
  }

  void run(Round& round) override {
    while (round.take()) {
      const auto began = Round::Clock::now();
      round.answered(began, taken(client_.call_tool(face_tool, face_arguments)).text);
    }
  }

 private:
  client::Client client_;
};

}  // namespace

std::unique_ptr<Face> blocking_face(const std::string& server) {
  return std::make_unique<BlockingFace>(server);
}

}  // namespace cellblock::bench
