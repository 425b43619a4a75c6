#pragma once

#include <cstddef>
#include <string_view>

/// How a gateway asks the user, through an `elicitation/create` of its own, whether a call may be
/// made; and how the host's library knows the question for what it is.
namespace cellblock::approval_question {

/// What `message` begins with. No server's question does: these begin with "[server NAME] ".
inline constexpr std::string_view beginning = "cellblock: may this call be made? ";

/// In `params._meta` of a question that begins so: `id` of the host's call, `server`, `method`,
/// `name`, `arguments` and `params`: JSON texts as the server will get them, and whole.
inline constexpr const char* meta_key = "cellblock/approval";

/// The member of the answer's `content` that has to be true. Hosts that answer questions without
/// asking anybody say "accept" with an empty one.
inline constexpr const char* answer_member = "allow";

}  // namespace cellblock::approval_question
