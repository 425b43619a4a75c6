#include <gtest/gtest.h>

#include "supervisor/gateway/upstream/open_tasks.h"

namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;

TEST(OpenTasks, AreOpenUntilTheyEnd) {
  OpenTasks tasks;
  const Time now{};
  EXPECT_FALSE(tasks.any(now));
  tasks.begin("\"a\"", now + 1h);
  tasks.begin("\"b\"", now + 1h);
  tasks.begin("\"b\"", now + 1h);
  tasks.end("\"a\"");
  EXPECT_TRUE(tasks.any(now));
  tasks.end("\"b\"");
  EXPECT_FALSE(tasks.any(now));
}

TEST(OpenTasks, AreForgottenWithTheirNames) {
  OpenTasks tasks;
  const Time now{};
  tasks.begin("\"a\"", now + 1h);
  EXPECT_TRUE(tasks.any(now + 1h - 1ms));
  EXPECT_FALSE(tasks.any(now + 1h));
}

TEST(OpenTasks, TheOldestFallsOut) {
  OpenTasks tasks;
  const Time now{};
  for (std::size_t i = 0; i <= OpenTasks::most; ++i) tasks.begin(std::to_string(i), now + 1h);
  for (std::size_t i = 1; i <= OpenTasks::most; ++i) tasks.end(std::to_string(i));
  EXPECT_FALSE(tasks.any(now));
}

TEST(OpenTasks, EndWithTheStatesThatAreAnEnd) {
  for (const char* end : {"completed", "failed", "cancelled"}) {
    EXPECT_TRUE(says_ended(R"({"taskId":"a","status":")" + std::string(end) + "\"}")) << end;
  }
  for (const char* body : {R"({"status":"working"})", R"({"status":"input_required"})",
                           R"({"status":3})", "{}", "[]", "3"}) {
    EXPECT_FALSE(says_ended(body)) << body;
  }
}

}  // namespace
}  // namespace cellblock::gateway
