#include <CLI/CLI.hpp>
#include <memory>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"
#include "client/cli/export/host_entry.h"
#include "client/cli/import/import_format.h"

// What goes over from hosts' configurations, and into them.
namespace cellblock::cli {
namespace {

void declare_import(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  const auto asked = std::make_shared<ImportRequest>();
  auto* sub = add_command(app, command, "import",
                          "propose cells for the servers of a host's configuration, as TOML",
                          "cellblock import ~/.cursor/mcp.json --output servers.toml",
                          [flags, asked] { return run_import(context_of(*flags), *asked); });
  sub->add_option("FILE", asked->file, "the configuration, server.json or manifest; - is stdin")
      ->required();
  sub->add_option("--from", asked->format, "what it is, where that cannot be seen")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(import_format_names()));
  sub->add_option("--output", asked->output, "a new file, instead of stdout")->type_name("FILE");
}

void declare_export(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  const auto asked = std::make_shared<ExportRequest>();
  auto* sub = add_command(app, command, "export",
                          "what a host's configuration says so that it uses these servers",
                          "cellblock export vscode files git",
                          [flags, asked] { return run_export(context_of(*flags), *asked); });
  sub->add_option("HOST", asked->host, "whose configuration")
      ->required()
      ->check(CLI::IsMember(host_names()));
  sub->add_option("SERVER", asked->servers, "only these; else all that you may use");
}

}  // namespace

void declare_exchange(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  declare_import(app, command, flags);
  declare_export(app, command, flags);
}

}  // namespace cellblock::cli
