#include "client/cli/add/added_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ranges>
#include <system_error>

#include "client/cli/add/authorization.h"
#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/install/scratch.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned for_all = 0755;
constexpr unsigned for_owner = 0700;
constexpr unsigned secret_mode = 0600;

}  // namespace

std::string declaration_of(const AddPlaces& places, const std::string& server) {
  return places.declarations + "/" + server + ".toml";
}

std::string authorization_file(const AddPlaces& places, const std::string& server) {
  return fmt::format("{}/{}.{}", places.secrets, server, authorization_variable);
}

Result<void> make_place(const std::string& directory, unsigned mode) {
  std::error_code error;
  const bool is_new = fs::create_directories(directory, error);
  if (error) return fail(fmt::format("{}: {}", safe_line(directory), error.message()));
  if (!is_new || ::chmod(directory.c_str(), mode) == 0) return {};
  return fail(fmt::format("{}: {}", safe_line(directory), std::generic_category().message(errno)));
}

// A directory in which somebody else has put something stays.
AddedFiles::~AddedFiles() {
  std::error_code ignored;
  for (const auto& path : made_ | std::views::reverse) fs::remove(path, ignored);
}

Result<void> AddedFiles::make_directory(const std::string& directory, unsigned mode) {
  const auto missing = missing_directories(directory);
  made_.insert(made_.end(), missing.begin(), missing.end());
  return make_place(directory, mode);
}

Result<void> AddedFiles::add_directory(const std::string& directory) {
  return make_directory(directory, for_all);
}

Result<void> AddedFiles::make_main_file() {
  if (fs::exists(places_.main_file)) return {};
  CELLBLOCK_CHECK(make_directory(fs::path(places_.main_file).parent_path().string(), for_all));
  CELLBLOCK_CHECK(write_new_file(places_.main_file,
                                 "# cellblock's configuration. Each server has a file in "
                                 "servers.d beside this one.\n"));
  made_.push_back(places_.main_file);
  return {};
}

// The mask, since its directory may be one that others read.
Result<void> AddedFiles::add_secret(const std::string& path, const std::string& value) {
  CELLBLOCK_CHECK(make_directory(fs::path(path).parent_path().string(), for_owner));
  const auto mask = ::umask(0777 & ~secret_mode);
  const auto written = write_new_file(path, value);
  ::umask(mask);
  if (written) made_.push_back(path);
  return written;
}

Result<void> AddedFiles::add_declaration(const std::string& server, const std::string& text) {
  CELLBLOCK_CHECK(make_directory(places_.declarations, for_all));
  const auto path = declaration_of(places_, server);
  CELLBLOCK_CHECK(write_new_file(path, text));
  made_.push_back(path);
  return {};
}

namespace {

using Ordered = nlohmann::ordered_json;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// As it stands between the quotes: a package says what its script is called.
std::string in_toml(const std::string& path) {
  const auto quoted = toml_text(path);
  return quoted.substr(1, quoted.size() - 2);
}

Result<Ordered> table_of(const std::string& text, const std::string& server) {
  const auto whole = CELLBLOCK_TRY(json_of_toml(text));
  return object_member(object_member(whole, "server"), server.c_str());
}

}  // namespace

std::string moved(const std::string& text, const MovedProgram& program) {
  const auto with_script = replaced(text, in_toml(program.old_script), in_toml(program.new_script));
  return replaced(with_script, in_toml(program.from), in_toml(program.to));
}

std::string with_secret(const std::string& text, const std::string& server,
                        const std::string& variable, const std::string& file) {
  const auto header = fmt::format("[server.{}.env_from_file]\n", server);
  const auto line = fmt::format("{} = {}\n", variable, toml_text(file));
  const auto at = text.find("\n" + header);
  if (at == std::string::npos) return text + "\n" + header + line;
  auto changed = text;
  return changed.insert(at + 1 + header.size(), line);
}

std::string without_secret(const std::string& text, const std::string& variable) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const auto line = text.substr(at, end - at);
    if (!line.starts_with(variable + " = ")) kept += line;
    at = end;
  }
  return kept;
}

Result<std::vector<std::string>> listed_tools(const std::string& text, const std::string& server) {
  const auto table = CELLBLOCK_TRY(table_of(text, server));
  const auto& allow = object_member(table, "allow");
  if (!allow.contains("tools") || !allow["tools"].is_array()) return std::vector<std::string>{};
  return texts_member(allow, "tools");
}

Result<std::vector<std::string>> secret_files_in(const std::string& text, const std::string& server,
                                                 const std::string& directory) {
  const auto table = CELLBLOCK_TRY(table_of(text, server));
  std::vector<std::string> files;
  const auto beginning = fmt::format("{}/{}.", directory, server);
  for (const auto& [name, value] : object_member(table, "env_from_file").items()) {
    if (!value.is_string()) continue;
    auto path = value.get<std::string>();
    const bool is_ours =
        path.starts_with(beginning) && path.find('/', directory.size() + 1) == std::string::npos;
    if (is_ours) files.push_back(std::move(path));
  }
  return files;
}

}  // namespace cellblock::cli
