#include "supervisor/loader/start/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "supervisor/loader/load/config_files.h"

namespace cellblock::daemon {
namespace {

struct Flags {
  std::string config;
  std::string socket;
  std::string check;
  bool effective = false;
  std::string keys;
  bool markdown = false;
  bool schema = false;
  bool user = false;
  std::vector<std::string> explain;
  std::string role;
  bool json = false;
  bool doctor = false;
  bool reload = false;
  bool dry_run = false;
  bool partial = false;
  bool quiet = false;
  bool brief = false;
};

// Resolves a relative path here, since the daemon works in `/`.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? path : result.lexically_normal().string();
}

void declare_keys(CLI::App& app, Flags& flags) {
  auto* keys = app.add_option("--keys", flags.keys,
                              "list the keys of the configuration, or those of one table, and end")
                   ->type_name("[TABLE]")
                   ->expected(0, 1);
  auto* markdown =
      app.add_flag("--markdown", flags.markdown, "with --keys: as a page")->needs(keys);
  app.add_flag("--schema", flags.schema,
               "print a JSON Schema of the configuration, for editors, and end")
      ->excludes(keys, markdown);
}

void declare_check(CLI::App& app, Flags& flags) {
  auto* check =
      app.add_option("--check", flags.check, "check the configuration, print the verdict and end")
          ->type_name("[FILE]")
          ->expected(0, 1);
  app.add_flag("--effective", flags.effective,
               "with --check: print what holds, key by key, written or not")
      ->needs(check);
  app.add_flag("--brief", flags.brief,
               "with --check: print only what is wrong or left out, and nothing if all is well")
      ->needs(check);
}

void declare_explain(CLI::App& app, Flags& flags) {
  auto* explain = app.add_option("--explain", flags.explain,
                                 "say what a server can see and do, what a user may do with it, or "
                                 "which rule decides of "
                                 "a tool's call, and end")
                      ->type_name("[USER] SERVER [TOOL [ARGUMENTS]]")
                      ->expected(1, 4)
                      ->allow_extra_args(false);  // which would take "[...]" apart
  app.add_option("--as", flags.role, "with --explain: as this role")
      ->type_name("ROLE")
      ->needs(explain);
}

void declare_reload(CLI::App& app, Flags& flags) {
  auto* reload = app.add_flag("--reload", flags.reload,
                              "bring the configuration to the cellblockd to which descriptor 3 is "
                              "connected, and end: \"cellblock reload\" does this");
  app.add_flag("--dry-run", flags.dry_run, "with --reload: only tell what would change")
      ->needs(reload);
  app.add_flag("--partial", flags.partial,
               "with --reload: leave for a restart what only that can change, and take the rest")
      ->needs(reload);
  app.add_flag("--quiet", flags.quiet, "with --reload: say only what goes wrong")->needs(reload);
}

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config, "configuration file")
      ->type_name("FILE")
      ->envname("CELLBLOCK_CONFIG");
  // CELLBLOCK_SOCKET does not count: it is for clients, and set in the shell that starts a daemon
  // it would move the daemon's socket as well.
  app.add_option("--socket", flags.socket, "listen here instead of where the configuration says")
      ->type_name("PATH");
  app.add_flag("--user", flags.user,
               "rootless: serve only the user who starts it (no protection from that user)");
  declare_check(app, flags);
  declare_keys(app, flags);
  declare_explain(app, flags);
  app.add_flag("--doctor", flags.doctor,
               "print as one JSON object what this machine can give to cells, and end: \"cellblock "
               "doctor\" shows it");
  declare_reload(app, flags);
  app.add_flag("--json", flags.json, "with --explain and --reload: as one JSON object");
  app.set_version_flag("--version", "cellblockd " CELLBLOCK_VERSION);
}

Options resolve(const CLI::App& app, const Flags& flags) {
  Options options;
  options.mode = flags.user ? RunMode::user : RunMode::system;
  options.check_only = app.count("--check") > 0;
  std::string config = options.check_only && !flags.check.empty() ? flags.check : flags.config;
  if (config.empty()) config = default_config_path(options.mode);
  options.config = absolute(config);
  options.is_effective = flags.effective;
  options.is_brief = flags.brief;
  if (app.count("--keys") > 0) options.keys = flags.keys;
  options.is_markdown = flags.markdown;
  options.schema = flags.schema;
  options.explain = flags.explain;
  options.role = flags.role;
  options.json = flags.json;
  options.doctor = flags.doctor;
  options.reload = flags.reload;
  options.dry_run = flags.dry_run;
  options.partial = flags.partial;
  options.quiet = flags.quiet;
  if (!flags.socket.empty()) options.socket = absolute(flags.socket);
  return options;
}

}  // namespace

std::expected<Options, int> parse_options(int argc, char** argv) {
  CLI::App app("Runs declared MCP servers in cells and serves them on one Unix socket.",
               "cellblockd");
  Flags flags;
  declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return std::unexpected(app.exit(stop));
  }
  return resolve(app, flags);
}

}  // namespace cellblock::daemon
