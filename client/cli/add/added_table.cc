#include "client/cli/add/added_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/import/cell_toml.h"
#include "client/cli/import/declared_server.h"
#include "client/cli/import/input_json.h"
#include "client/cli/import/members.h"

namespace cellblock::cli {
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
