#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cellblock/types.h"

/// The gateway's own question for the user, behind the approval handler: a rule of the
/// administrator's asks the user through his host.
namespace cellblock::client {

struct ApprovalQuestion {
  CallToApprove call;   ///< as the server will get it
  std::string call_id;  ///< the id, raw, under which this side made the call; empty: not said
};

/// nullopt: another request, of a server say, which no server can make look like one.
std::optional<ApprovalQuestion> read_question(std::string_view method, std::string_view params);

/// Its answer.
std::string question_answer(Verdict verdict);

/// The capabilities, an object on one line, of a client that can be asked.
std::string with_elicitation(const std::string& capabilities);

}  // namespace cellblock::client
