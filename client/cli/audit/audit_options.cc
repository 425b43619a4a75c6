#include "client/cli/audit/audit_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "client/cli/audit/log_files.h"
#include "client/cli/programs/configuration.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

// A script's unset variable must not leave out what it asks for.
std::string empty_mistake(const std::string& value) { return value.empty() ? "it is empty" : ""; }

}  // namespace

constinit const Option audit_log_option{
    .name = "--log",
    .what = "the log's path; else daemon.audit_log of the configuration",
    .placeholder = "PATH",
    .check = empty_mistake,
    .completes = Completes::files};
constinit const Option anchor_option{.name = "--anchor",
                                     .what = "what an earlier verify printed, kept elsewhere",
                                     .placeholder = "SEQ:HASH",
                                     .check = empty_mistake};

constinit const Option anchor_file_option{
    .name = "--anchor-file",
    .what = "read the anchor from there, and write today's there if the log is whole",
    .placeholder = "PATH",
    .check = empty_mistake,
    .completes = Completes::files};

constinit const Option sign_option{
    .name = "--sign",
    .what = "sign the anchor with this private key (PEM, Ed25519), if the log is whole",
    .placeholder = "KEY",
    .check = empty_mistake,
    .completes = Completes::files};

constinit const Option public_key_option{
    .name = "--public-key",
    .what = "check the signatures in --anchor-file; the log only where --log names it",
    .placeholder = "KEY",
    .check = empty_mistake,
    .completes = Completes::files};

Exit audit_failure(const Context& context, const Error& error, Exit exit) {
  fmt::print(stderr, "cellblock: {}\n", safe_text(error.text));
  if (context.output == Output::json) {
    print_json(error_json({.code = client::ErrorCode::invalid_argument, .text = error.text}, exit));
  }
  return exit;
}

std::string audit_log_in(const Context& context, const Words& words) {
  const auto path = words.text(audit_log_option);
  return path.empty() ? audit_log_path(configuration_of(context)) : path;
}

}  // namespace cellblock::cli
