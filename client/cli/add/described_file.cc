#include "client/cli/add/described_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/add/bundle_manifest.h"
#include "client/cli/import/propose/configured_bundle.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/bundle_archive.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/manifest_readers.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/import_format.h"

namespace cellblock::cli {
namespace {

std::string whole_name(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

bool is_plain_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// ---- bundles ----

std::string missing_lines(const std::vector<BundleSetting>& missing) {
  std::string text;
  for (const auto& setting : missing) {
    text += fmt::format("\n  --set {}=VALUE   {}", safe_line(setting.key),
                        cut_to(safe_line(setting.title), 80));
  }
  return text;
}

// What nobody can be asked for stays missing.
std::vector<std::string> with_answers(const std::vector<BundleSetting>& missing,
                                      std::vector<std::string> given, const AskSetting& ask) {
  if (!ask) return given;
  for (const auto& setting : missing) {
    if (const auto answer = ask(setting)) given.push_back(setting.key + "=" + *answer);
  }
  return given;
}

Result<DeclaredServer> described_bundle(const DescribedFile& file) {
  const auto manifest = CELLBLOCK_TRY(manifest_of_archive(whole_name(file.path)));
  const SettingPlaces places{.home = environment_variable("HOME"), .directory = whole_name(".")};
  auto values = CELLBLOCK_TRY(setting_values(manifest.settings, file.given, places));
  const auto given =
      with_answers(missing_settings(manifest.settings, values), file.given, file.ask);
  values = CELLBLOCK_TRY(setting_values(manifest.settings, given, places));
  const auto missing = missing_settings(manifest.settings, values);
  if (!missing.empty()) {
    return fail(
        fmt::format("the bundle asks for:{}\n(before the --; --set KEY alone takes the value "
                    "from your environment)",
                    missing_lines(missing)));
  }
  return with_settings(manifest.server, manifest.settings, values);
}

// ---- a registry's server.json ----

Result<void> give_value(DeclaredVariable& variable, const DescribedFile& file) {
  const auto found = std::ranges::find(file.variables, variable.name, &DeclaredVariable::name);
  if (found != file.variables.end()) {
    variable.value = found->value;
    return {};
  }
  if (!is_placeholder(variable.value)) return {};
  const BundleSetting setting{
      .key = variable.name, .title = variable.name, .is_secret = variable.secret};
  const auto answer = file.ask ? file.ask(setting) : std::nullopt;
  if (!answer || answer->empty()) {
    return fail(
        fmt::format("it needs {0}: --env {0} (before the --) takes it from your environment",
                    safe_line(variable.name)));
  }
  variable.value = *answer;
  return {};
}

// "${NAME}": its value is given by --set, or asked for.
Result<void> give_word(std::string& word, const DescribedFile& file) {
  if (!word.starts_with("${") || word.find('}') + 1 != word.size()) return {};
  const BundleSetting setting{.key = word.substr(2, word.size() - 3),
                              .title = word.substr(2, word.size() - 3)};
  const auto beginning = setting.key + "=";
  const auto found = std::ranges::find_if(
      file.given, [&](const std::string& given) { return given.starts_with(beginning); });
  if (found != file.given.end()) {
    word = found->substr(beginning.size());
    return {};
  }
  const auto answer = file.ask ? file.ask(setting) : std::nullopt;
  if (!answer || answer->empty()) {
    return fail(fmt::format("its command needs {0}: --set {0}=VALUE (before the --)",
                            safe_line(setting.key)));
  }
  word = *answer;
  return {};
}

Result<DeclaredServer> described_package(const DescribedFile& file) {
  const auto text = CELLBLOCK_TRY(bounded_file(whole_name(file.path), max_import_bytes));
  const auto document = CELLBLOCK_TRY(json_of_json(text));
  if (CELLBLOCK_TRY(recognised_format(document)) != ImportFormat::registry) {
    return fail(
        "it is no registry's server.json and no packed bundle: `cellblock import FILE --install` "
        "takes a host's configuration");
  }
  auto servers = CELLBLOCK_TRY(servers_of_registry(document));
  for (auto& word : servers.front().command) CELLBLOCK_CHECK(give_word(word, file));
  auto server = CELLBLOCK_TRY(as_package_line(std::move(servers.front())));
  for (auto& variable : server.variables) CELLBLOCK_CHECK(give_value(variable, file));
  return server;
}

}  // namespace

bool is_described_file(const std::vector<std::string>& command) {
  if (command.size() != 1 || !is_plain_file(command.front())) return false;
  return command.front().ends_with(".json") || is_zip(command.front());
}

Result<DeclaredServer> described_server(const DescribedFile& file) {
  if (is_zip(file.path)) return described_bundle(file);
  auto server = described_package(file);
  if (server) return server;
  return fail(fmt::format("{}: {}", safe_line(file.path), server.error().text));
}

Result<DeclaredServer> as_package_line(DeclaredServer server) {
  if (!server.obstacle.empty()) return fail(server.obstacle);
  if (!server.package) return server;
  const bool is_npm = server.package->registry == Registry::npm;
  auto name = server.package->version.empty() ? server.package->name : pinned(*server.package);
  std::vector<std::string> line = is_npm ? std::vector<std::string>{"npx", "-y", std::move(name)}
                                         : std::vector<std::string>{"uvx", std::move(name)};
  std::ranges::move(server.command, std::back_inserter(line));
  server.command = std::move(line);
  server.package.reset();
  return server;
}

}  // namespace cellblock::cli
