#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "supervisor/http/backend.h"

namespace cellblock::http {
namespace {

TEST(HttpBackend, HearsWhyItIsTurnedAwayAlthoughNobodyTakesWhatItSays) {
  const auto loop = *EventLoop::make();
  std::vector<std::string> lines;
  bool ended = false;
  Backend backend(*loop, {.longest_line = 1024, .most_queued = 1024},
                  {.line = [&](std::string_view line) { lines.emplace_back(line); },
                   .ended = [&] { ended = true; }});
  const std::array<std::string_view, 1> request{"{}\n"};
  ASSERT_TRUE(backend.send(request));
  Pair ends = *make_stream_pair();
  ASSERT_EQ(::send(ends.first.get(), "why\n", 4, 0), 4);
  ::shutdown(ends.first.get(), SHUT_RDWR);
  backend.connect(std::move(ends.second));
  for (int i = 0; i < 8 && !ended; ++i) ASSERT_TRUE(loop->turn());
  EXPECT_EQ(lines, std::vector<std::string>{"why"});
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace cellblock::http
