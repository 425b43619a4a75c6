#include <gtest/gtest.h>

#include <string>

#include "policy/egress/dns_message.h"
#include "supervisor/gateway/records/egress_text.h"
#include "tests/unit/egress_question.h"

namespace cellblock::gateway {
namespace {

using egress::question_for;
using wire::EgressKind;
using wire::EgressReason;

constexpr std::size_t id_and_flags = 4;

std::string host_of(const wire::EgressEvent& event) {
  return {event.host.data(), event.host_length};
}

/// The code of a reply to this question; -1: it is none.
int code_of(const RefusedName& refused, const std::string& question) {
  if (refused.reply.size() < id_and_flags || refused.reply.substr(0, 2) != question.substr(0, 2)) {
    return -1;
  }
  const bool is_response = (static_cast<unsigned char>(refused.reply[2]) & 0x80U) != 0;
  return is_response ? refused.reply[3] & 0xf : -1;
}

TEST(RefusedNames, DoNotExistWhateverIsAskedOfThem) {
  for (const std::uint16_t type : {egress::type_a, egress::type_aaaa, std::uint16_t{65}}) {
    const std::string question = question_for("Api.Example.org", type);
    const RefusedName refused = refuse_name(question);
    EXPECT_EQ(code_of(refused, question), 3) << type;
    EXPECT_EQ(refused.event.kind, EgressKind::name_refused);
    EXPECT_EQ(refused.event.reason, EgressReason::not_allowed);
    EXPECT_EQ(host_of(refused.event), "api.example.org");
    EXPECT_TRUE(is_sound(refused.event));
  }
}

TEST(RefusedNames, AreToldWithoutTheNameWhereNoHostCanHaveIt) {
  const std::string question = question_for("a b.example.org", egress::type_a);
  const RefusedName refused = refuse_name(question);
  EXPECT_EQ(code_of(refused, question), 3);
  EXPECT_EQ(host_of(refused.event), "");
  EXPECT_TRUE(is_sound(refused.event));
}

TEST(RefusedNames, OfBytesThatAreNoQuestionAreToldAsMalformed) {
  const std::string whole = question_for("a.org", egress::type_a);
  const std::string cut = whole.substr(0, whole.size() - 1);
  const RefusedName refused = refuse_name(cut);
  EXPECT_EQ(code_of(refused, cut), 1);
  EXPECT_EQ(refused.event.reason, EgressReason::malformed);
  EXPECT_TRUE(is_sound(refused.event));
}

TEST(RefusedNames, OfAnAnswerOrOfNothingAreNotAnswered) {
  std::string answer = question_for("a.org", egress::type_a);
  answer[2] = static_cast<char>(0x80);
  EXPECT_EQ(refuse_name(answer).reply, "");
  EXPECT_EQ(refuse_name("").reply, "");
  EXPECT_TRUE(is_sound(refuse_name("").event));
}

}  // namespace
}  // namespace cellblock::gateway
