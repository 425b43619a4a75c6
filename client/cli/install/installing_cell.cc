#include "client/cli/install/installing_cell.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/private_daemon.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_install = 15min;
constexpr const char* with_network = "install";
constexpr const char* without_network = "scripts";
constexpr const char* no_network = "network = \"none\"\n";

std::string list_text(const std::vector<std::string>& texts) {
  std::string line;
  for (const auto& text : texts) line += (line.empty() ? "" : ", ") + toml_text(text);
  return "[" + line + "]";
}

std::string environment_of(const PackageInstaller& installer) {
  std::string text;
  for (const auto& [name, value] : installer.variables) {
    text += fmt::format("{} = {}\n", name, toml_text(value));
  }
  return text;
}

struct CellLines {
  const char* name;
  std::string network;
  std::string secrets = {};  ///< behind the others
};

std::string secret_table(const PackageInstaller& installer, const std::string& directory) {
  if (installer.secrets.empty()) return {};
  std::string text = fmt::format("\n[server.{}.secret_files]\n", with_network);
  for (const auto& [name, value] : installer.secrets) {
    text += fmt::format("{} = {}\n", name, toml_text(fmt::format("{}/{}", directory, name)));
  }
  return text;
}

std::string cell_text(const PackageInstaller& installer, const CellLines& cell,
                      const InstallPlaces& places) {
  auto read = installer.read;
  read.push_back(places.script + ":/installer");
  return fmt::format(
      "\n[server.{0}]\ncommand = [{1}, {2}]\nread = {3}\nwrite = [{4}]\nprofile = \"{5}\"\n"
      "home = \"temporary\"\nlimits = {{ home = \"2GiB\", tmp = \"1GiB\", pids = 256 }}\n{6}"
      "calls = {{ deadline = \"15m\" }}\npin = \"off\"\n"
      "allow = {{ users = [{7}], tools = [\"*\"] }}\n\n[server.{0}.env]\n{8}{9}",
      cell.name, toml_text(installer.program), toml_text("/installer/" + installer.script_name),
      list_text(read), toml_text(places.output + ":/out"), installer.profile, cell.network,
      places.user, environment_of(installer), cell.secrets);
}

std::string arguments_of(const std::string& package) {
  return package.empty() ? std::string("{}") : nlohmann::json{{"package", package}}.dump();
}

// A package says what npm prints: set apart, it is not taken for words of ours. The log that it
// names is in a cell that is gone.
std::string quoted_output(const std::string& output) {
  std::istringstream lines(output.substr(0, output.find("npm error A complete log of this run")));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "\n  | " + safe_line(line);
  return text;
}

std::string words_of(const client::Error& error) {
  return error.code == client::ErrorCode::cancelled ? "interrupted" : safe_text(error.text);
}

/// One call of a tool of a cell.
struct InstallCall {
  const char* cell;
  std::string tool;
  std::string package;
};

const char* failure_of(const std::string& tool) {
  return tool == "check" ? "its registry could not be asked" : "it could not be installed";
}

Result<void> call_installer(const PrivateDaemon& daemon, const InstallCall& wanted,
                            const std::stop_token& stop) {
  auto client = open_server(daemon.context(), wanted.cell, {}, longest_install);
  if (!client) return fail(words_of(client.error()));
  const auto result = client->call_tool(wanted.tool, arguments_of(wanted.package),
                                        {.timeout = longest_install, .stop = stop});
  if (!result) return fail(words_of(result.error()));
  if (!result->is_error) return {};
  return fail(fmt::format("{}:{}", failure_of(wanted.tool), quoted_output(result->text)));
}

// With a daemon of its own: its cells have ended when it is over.
Result<void> run_call(const Context& context, const Scratch& scratch,
                      const std::string& configuration, const InstallCall& wanted,
                      const std::stop_token& stop) {
  const auto daemon = CELLBLOCK_TRY(PrivateDaemon::start(context, scratch, configuration, stop));
  return call_installer(daemon, wanted, stop);
}

Result<void> write_secrets(const PackageInstaller& installer, const std::string& directory) {
  constexpr mode_t secret = 0600;
  for (const auto& [name, value] : installer.secrets) {
    const auto path = fmt::format("{}/{}", directory, name);
    CELLBLOCK_CHECK(write_new_file(path, value));
    if (::chmod(path.c_str(), secret) != 0) {
      return fail(fmt::format("{}: {}", safe_line(path), std::generic_category().message(errno)));
    }
  }
  return {};
}

}  // namespace

std::string installing_cells(const PackageInstaller& installer, const InstallPlaces& places) {
  const CellLines first{with_network,
                        installer.egress.empty()
                            ? std::string(no_network)
                            : fmt::format("network = \"egress\"\negress = {{ allow = {} }}\n",
                                          list_text(installer.egress)),
                        secret_table(installer, places.secrets)};
  const CellLines second{without_network, std::string(no_network)};
  return cell_text(installer, first, places) +
         (installer.has_scripts ? cell_text(installer, second, places) : std::string());
}

// In system mode the cells' ids are nobody's yet; nobody else gets to the directory above it.
Result<InstallingCell> InstallingCell::make(const Context& context, const AddPlaces& places,
                                            const Scratch& scratch,
                                            const PackageInstaller& installer) {
  constexpr unsigned for_all = 0777;
  constexpr unsigned readable_by_all = 0755;
  constexpr unsigned own = 0700;
  InstallingCell cell(context, scratch, installer);
  auto& made = cell.places_;
  made.user = ::geteuid();
  made.script = CELLBLOCK_TRY(scratch.directory("installer", readable_by_all));
  CELLBLOCK_CHECK(
      write_new_file(made.script + "/" + installer.script_name, std::string(installer.script)));
  made.output = CELLBLOCK_TRY(scratch.directory("out", places.mode == Mode::user ? own : for_all));
  cell.tables_ = CELLBLOCK_TRY(private_daemon_toml(places, scratch.root()));
  made.secrets = CELLBLOCK_TRY(scratch.directory("credentials", own));
  CELLBLOCK_CHECK(write_secrets(installer, made.secrets));
  return cell;
}

InstallingCell::InstallingCell(InstallingCell&& other) noexcept
    : context_(other.context_),
      scratch_(other.scratch_),
      installer_(other.installer_),
      places_(std::exchange(other.places_, {})),
      tables_(std::move(other.tables_)) {}

InstallingCell::~InstallingCell() { remove_secrets(); }

void InstallingCell::remove_secrets() const {
  std::error_code ignored;
  if (!places_.secrets.empty()) std::filesystem::remove_all(places_.secrets, ignored);
}

Result<void> InstallingCell::call(const std::string& tool, const std::string& package,
                                  const std::stop_token& stop) const {
  return run_call(context_, scratch_, tables_ + installing_cells(installer_, places_),
                  {with_network, tool, package}, stop);
}

Result<void> InstallingCell::run_scripts(const std::stop_token& stop) const {
  remove_secrets();
  auto without_secrets = installer_;
  without_secrets.secrets.clear();
  return run_call(context_, scratch_, tables_ + installing_cells(without_secrets, places_),
                  {without_network, "run_scripts", {}}, stop);
}

}  // namespace cellblock::cli
