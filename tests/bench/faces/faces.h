#pragma once

#include <memory>
#include <string>

#include "tests/bench/faces/round.h"

namespace cellblock::bench {

/// Each throws std::runtime_error where it cannot connect or a call fails.
std::unique_ptr<Face> blocking_face(const std::string& server);
std::unique_ptr<Face> poll_face(const std::string& server);
std::unique_ptr<Face> coroutine_face(const std::string& server);

}  // namespace cellblock::bench
