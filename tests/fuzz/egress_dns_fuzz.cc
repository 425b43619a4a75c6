#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/egress/dns_message.h"
#include "policy/egress/egress_policy.h"
#include "tests/fuzz/check.h"

using namespace cellblock;          // NOLINT(google-build-using-namespace)
using namespace cellblock::egress;  // NOLINT(google-build-using-namespace)

/// What is read as a question is echoed whole in answers of a bounded size; its name, if it has
/// one, is in the form that rules are compared in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const auto question = parse_question(message);
  if (!question) {
    if (question.error().code) CELLBLOCK_FUZZ_CHECK(dns_reply(question.error()).size() == 12);
    return 0;
  }
  if (question->name) CELLBLOCK_FUZZ_CHECK(normal_host_name(*question->name) == question->name);
  const std::string reply = dns_reply(*question, DnsCode::no_error, InternetAddress{});
  CELLBLOCK_FUZZ_CHECK(reply.size() <= 512);
  CELLBLOCK_FUZZ_CHECK(reply.substr(0, 2) == message.substr(0, 2));
  CELLBLOCK_FUZZ_CHECK(reply.substr(12, question->raw.size()) == question->raw);
  CELLBLOCK_FUZZ_CHECK(message.substr(12, question->raw.size()) == question->raw);
  return 0;
}
