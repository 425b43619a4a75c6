#include "policy/encoding/base64.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cellblock {
namespace {

// RFC 4648, section 10.
const std::map<std::string, std::string> known{{"", ""},
                                               {"f", "Zg=="},
                                               {"fo", "Zm8="},
                                               {"foo", "Zm9v"},
                                               {"foob", "Zm9vYg=="},
                                               {"fooba", "Zm9vYmE="},
                                               {"foobar", "Zm9vYmFy"}};

TEST(Base64, WritesAndReadsTheExamplesOfItsStandard) {
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(base64_text(bytes), text);
    EXPECT_EQ(base64_bytes(text), bytes);
  }
}

TEST(Base64, KeepsEveryByte) {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes += static_cast<char>(value);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_EQ(base64_bytes(base64_text(bytes.substr(0, size))), bytes.substr(0, size));
  }
}

TEST(Base64, ReadsNothingThatItDoesNotWrite) {
  for (const char* text :
       {"Zg", "Zg=", "Z", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9", "Zm9v\n",
        "Zm9v\n\n\n\n", "Zm9-", "Zm9_", "=m9v", "Zm=v", "\xc3\xa4\xc3\xa4"}) {
    EXPECT_EQ(base64_bytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cellblock
