#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/bounds.h"
#include "cellblock/types.h"

/// Reads the results of MCP's tool methods and composes their parameters.
namespace cellblock::client {

/// The gateway's own question for the user, behind the approval handler: a rule of the
/// administrator asks the user through the host.
struct ApprovalQuestion {
  CallToApprove call;   ///< as the server will get it
  std::string call_id;  ///< the id, raw, under which this side made the call; empty: not said
};

/// nullopt: another request, of a server say, which no server can make look like one.
std::optional<ApprovalQuestion> read_question(std::string_view method, std::string_view params);

/// The answer to the question.
std::string question_answer(Verdict verdict);

/// The capabilities, an object on one line, of a client that can be asked.
std::string with_elicitation(const std::string& capabilities);

/// The texts of a result, joined by newlines; and what it says of itself.
std::string joined_text(std::string_view result, ResultShape shape);
bool says_error(std::string_view result);

/// A failure of cellblock that came dressed for the model (`_meta["cellblock/error"]`) is an error
/// here.
Result<ToolResult> read_tool_result(std::string result);
/// invalid_argument, if `arguments` is not a JSON object.
Result<std::string> tool_call_params(std::string_view tool, std::string_view arguments);

/// invalid_argument, if the options' capabilities are not a JSON object.
Result<std::string> initialize_params(const Options& options);

struct AttachFlags {
  bool stdio = false;
  bool journal = false;
  bool workspace = false;
  bool probe = false;
  bool on_demand = false;
  ToolListing tools = ToolListing::standard;
};
/// No server: all at once.
std::string attach_params(std::string_view server, AttachFlags flags,
                          const std::map<std::string, std::string>& labels = {},
                          std::string_view role = {});
Result<Attached> read_attached(std::string_view result);

}  // namespace cellblock::client
