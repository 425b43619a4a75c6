#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/programs/daemon_program.h"
#include "client/cli/table/shared_options.h"
#include "client/connection/fd.h"
#include "client/connection/unix_connect.h"

// Whoever reloads reads the files: the daemon has given up the right to.
namespace cellblock::cli {
namespace {

constexpr Option reload_dry_run = flag("--dry-run", "only tell what would change");
constexpr Option reload_partial =
    flag("--partial", "leave what only a restart can change, and take the rest");
constexpr Option reload_configuration{.name = "--config",
                                      .what = "the file that cellblockd was started with",
                                      .placeholder = "FILE",
                                      .completes = Completes::files};

/// Where `cellblockd --reload` looks for the connection.
constexpr int reload_descriptor = 3;

constexpr const char* for_root =
    "Only root reloads cellblock's configuration; with --user, the user himself.";

// A copy is not close-on-exec; a descriptor that has the number already stays what it was.
bool outlives_exec(client::OwnedFd& socket) {
  if (socket.get() != reload_descriptor) {
    return ::dup2(socket.get(), reload_descriptor) == reload_descriptor;
  }
  return ::fcntl(socket.release(), F_SETFD, 0) == 0;
}

Exit explain_unreached(const Context& context, const client::Error& error) {
  if (error.code == client::ErrorCode::no_access) return explain(context, error, for_root);
  if (error.code != client::ErrorCode::unreachable) return explain(context, error);
  if (const auto fault = daemon_fault(context)) return explain(context, *fault);
  return explain(context, error,
                 "cellblockd runs, but without sockets for administrators: see its log.");
}

// Becomes `cellblockd --reload`, connected to the daemon: its exit code is ours.
Exit run_reload(const Context& context, const Words& words) {
  auto socket = client::connect_blocking(switch_path(context.socket, "reload"));
  if (!socket) return explain_unreached(context, socket.error());
  if (!outlives_exec(*socket)) {
    return explain(context, {.code = client::ErrorCode::too_many, .text = "no descriptor is free"});
  }
  auto daemon = daemon_words(context, words.text(reload_configuration));
  daemon.emplace_back("--reload");
  if (words.has(reload_dry_run)) daemon.emplace_back("--dry-run");
  if (words.has(reload_partial)) daemon.emplace_back("--partial");
  if (context.output == Output::json) daemon.emplace_back("--json");
  become(std::move(daemon));
}

}  // namespace

Command reload_command() {
  return {.name = "reload",
          .group = Group::change,
          .what = "have cellblockd use its configuration as it is now",
          .example = "cellblock reload --dry-run\n  cellblock reload",
          .options = {&reload_dry_run, &reload_partial, &reload_configuration},
          .run = run_reload};
}

}  // namespace cellblock::cli
