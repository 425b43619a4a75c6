#include "policy/failures/failure_code.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "policy/base/json_string.h"

namespace cellblock {
namespace {

constexpr int first_error_code = -31001;

constexpr std::array<std::string_view, failure_code_count> code_names = {
    "not_allowlisted",     "not_attached", "server_failed",
    "handshake_timeout",   "too_large",    "too_many",
    "audit_unavailable",   "disabled",     "invalid_request",
    "shutting_down",       "bad_answer",   "workspace_refused",
    "identity_not_mapped", "denied",       "approval_required",
    "invalid_arguments",   "timeout",      "rate_limited",
    "quarantined",         "blocked",
};

constexpr std::array<std::string_view, failure_code_count> advice_texts = {
    // not_allowlisted
    "use a server that `cellblock tools` lists, or ask an administrator for this one",
    // not_attached
    "attach to a server first",
    // server_failed
    "try again later; the cause and what the server wrote are in `cellblock logs` and `cellblock "
    "status`",
    // handshake_timeout
    "try again later; a server that needs longer to start needs a longer start.handshake_timeout",
    // too_large
    "ask for less at once",
    // too_many
    "try again when something that is in flight is answered",
    // audit_unavailable
    "try again later; an administrator has to see why the audit log cannot be written",
    // disabled
    "do not try again until an administrator has switched it on",
    // invalid_request
    "correct the request",
    // shutting_down
    "connect again in a moment",
    // bad_answer
    "report it to whoever makes the server; the same call will likely fail again",
    // workspace_refused
    "pass a directory that `cellblock status NAME` shows as allowed",
    // identity_not_mapped
    "ask an administrator; it does not work for this user",
    // denied
    "do not repeat it; use arguments that the sentence says are allowed, or ask an administrator",
    // approval_required
    "do it without this call, or ask the person who may approve it",
    // invalid_arguments
    "correct the arguments as the sentence says and call again",
    // timeout
    "ask for less, or call again; what was asked may have been done in part",
    // rate_limited
    "call again after retry_after_ms, and less often",
    // quarantined
    "do without it until somebody has accepted its definition",
    // blocked
    "do without what the sentence names",
};

}  // namespace

std::string_view name_of(FailureCode code) {
  const auto index = static_cast<std::size_t>(code);
  return index < code_names.size() ? code_names[index] : "unknown";
}

std::string_view advice_for(FailureCode code) {
  const auto index = static_cast<std::size_t>(code);
  return index < advice_texts.size() ? advice_texts[index] : "";
}

int error_code_of(FailureCode code) { return first_error_code - static_cast<int>(code); }

std::string plain_error_reply(FailureCode code, std::string_view sentence) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","error":{{"code":{},"message":{},"data":{{"code":{},"advice":{}}}}}}})",
      error_code_of(code), json_string(sentence), json_string(name_of(code)),
      json_string(advice_for(code)));
}

}  // namespace cellblock
