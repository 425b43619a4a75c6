#pragma once

#include "client/cli/common/context.h"
#include "client/cli/table/words.h"

/// What `cellblock-tools` carries out; the rows are in `tool_rows`.
namespace cellblock::cli {

Exit run_add(const Context& context, const Words& words);
Exit run_auth(const Context& asked, const Words& words);
Exit run_audit_verify(const Context& context, const Words& words);
Exit run_doctor(const Context& asked, const Words& words);
Exit run_export(const Context& context, const Words& words);
Exit run_import(const Context& context, const Words& words);
Exit run_inspect(const Context& context, const Words& words);
Exit run_learn(const Context& context, const Words& words);
Exit run_purge(const Context& context, const Words& words);
Exit run_remove(const Context& context, const Words& words);
Exit run_run(const Context& context, const Words& words);
Exit run_scan(const Context& context, const Words& words);
Exit run_setup(const Context& asked, const Words& words);
Exit run_servers(const Context& context, const Words& words);
Exit run_top(const Context& context, const Words& words);
Exit run_ui(const Context& context, const Words& words);
Exit run_update(const Context& context, const Words& words);

}  // namespace cellblock::cli
