#pragma once

#include <string>

#include "client/cli/common/context.h"
#include "client/cli/table/words.h"
#include "policy/base/result.h"

/// What the commands that read the audit log have in common.
namespace cellblock::cli {

extern const Option audit_log_option;  ///< --log
extern const Option anchor_option;
extern const Option anchor_file_option;
extern const Option sign_option;        ///< --sign
extern const Option public_key_option;  ///< --public-key

/// Tells the error on stderr, and with --json as an object on stdout.
Exit audit_failure(const Context& context, const Error& error, Exit exit);

/// The log's path: --log, or else the configuration's.
std::string audit_log_in(const Context& context, const Words& words);

}  // namespace cellblock::cli
