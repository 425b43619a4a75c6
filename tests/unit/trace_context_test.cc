#include "policy/mcp/trace_context.h"

#include <gtest/gtest.h>

#include <string>

namespace cellblock {
namespace {

constexpr std::string_view sound = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string with(std::size_t at, std::string_view text) {
  return std::string(sound).replace(at, text.size(), text);
}

TEST(TraceContext, IsFourHexadecimalFields) {
  EXPECT_TRUE(is_traceparent(sound));
  EXPECT_TRUE(is_traceparent(with(0, "01"))) << "a later version, as far as this one is known";
}

TEST(TraceContext, IsNothingElse) {
  EXPECT_FALSE(is_traceparent(""));
  EXPECT_FALSE(is_traceparent(sound.substr(1)));
  EXPECT_FALSE(is_traceparent(std::string(sound) + "-"));
  EXPECT_FALSE(is_traceparent(with(0, "ff"))) << "a version that there will never be";
  EXPECT_FALSE(is_traceparent(with(3, "4BF9"))) << "capitals";
  EXPECT_FALSE(is_traceparent(with(3, std::string(32, '0')))) << "no trace";
  EXPECT_FALSE(is_traceparent(with(36, std::string(16, '0')))) << "no span";
  EXPECT_FALSE(is_traceparent(with(52, "_")));
  EXPECT_FALSE(is_traceparent(with(53, "\n1")));
}

TEST(TraceContext, IsReadFromAStringOfJson) {
  EXPECT_EQ(traceparent_in('"' + std::string(sound) + '"'), sound);
  EXPECT_EQ(traceparent_in(sound), "");
  EXPECT_EQ(traceparent_in(R"("00-1")"), "");
  EXPECT_EQ(traceparent_in(""), "");
}

}  // namespace
}  // namespace cellblock
