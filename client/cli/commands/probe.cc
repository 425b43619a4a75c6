#include <fmt/format.h>

#include "client/cli/commands/commands.h"
#include "client/cli/status/probe_text.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"

// What a declaration really permits, tried from inside.
namespace cellblock::cli {
namespace {

client::Result<client::ToolResult> run(const Context& context, const ServerRequest& request) {
  const client::AttachOptions with{.workspace = request.workspace,
                                   .program = client::CellProgram::probe};
  auto probe = CELLBLOCK_TRY(open_server(context, request.server, with, request.timeout));
  return probe.call_tool("run", "{}", {.timeout = request.timeout, .stop = {}});
}

}  // namespace

Exit prove(const Context& context, const ServerRequest& request) {
  const auto result = run(context, request);
  if (!result) return explain(context, result.error());
  const auto report = probe_report(result->json, Style::for_stdout(), terminal_width());
  if (result->is_error || !report.readable) {
    return explain(context, {.code = client::ErrorCode::protocol,
                             .text = "the probe did not report: " + result->text});
  }
  if (context.output == Output::json) {
    print_json(result->json);
  } else {
    fmt::print("{}", report.text);
  }
  if (report.unexpected != 0) return Exit::unexpectedly_open;
  if (report.held != 0) return Exit::ok;
  return explain(context, {.code = client::ErrorCode::protocol,
                           .text = "not one attempt was held, which says nothing about the cell"});
}

namespace {

Exit run_probe(const Context& context, const Words& words) {
  return prove(context, server_request(words));
}

}  // namespace

Command probe_command() {
  return {.name = "probe",
          .group = Group::see,
          .what = "try from inside a server's cell what it should not do",
          .newer = "explain NAME --prove",
          .example = "cellblock probe files",
          .required = {&server_name},
          .options = {&workspace_directory, &timeout_option},
          .run = run_probe};
}

}  // namespace cellblock::cli
