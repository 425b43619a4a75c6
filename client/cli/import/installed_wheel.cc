#include "client/cli/import/installed_wheel.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "client/cli/import/bounded_file.h"
#include "client/cli/import/input_json.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view description_end = ".dist-info";

struct WheelDescription {
  fs::path directory;
  std::string version;
};

// "mcp_server_git-1.2.3.dist-info". The wheel of a dependency can carry one of that name too, and
// would choose the version and the program: of two neither is believed.
std::optional<WheelDescription> description_of(const std::string& directory,
                                               const std::string& package) {
  std::optional<WheelDescription> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    auto name = entry.path().filename().string();
    if (!name.ends_with(description_end)) continue;
    name.resize(name.size() - description_end.size());
    const auto dash = name.rfind('-');
    if (dash == std::string::npos || normal_name(name.substr(0, dash)) != normal_name(package)) {
      continue;
    }
    if (found) return std::nullopt;
    found = WheelDescription{.directory = entry.path(), .version = name.substr(dash + 1)};
  }
  return found;
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::string chosen_script(const std::vector<std::string>& scripts, const std::string& package) {
  const auto named = std::ranges::find(scripts, normal_name(package), normal_name);
  if (named != scripts.end()) return *named;
  return scripts.size() == 1 ? scripts.front() : std::string();
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

std::string normal_name(const std::string& package) {
  std::string name;
  for (const char byte : package) {
    const bool is_separator = byte == '-' || byte == '_' || byte == '.';
    if (!is_separator) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    } else if (!name.ends_with('-')) {
      name += '-';
    }
  }
  return name;
}

std::vector<std::string> console_scripts(const std::string& entry_points) {
  std::vector<std::string> names;
  std::istringstream lines(entry_points);
  bool is_inside = false;
  for (std::string raw; std::getline(lines, raw);) {
    const auto line = trimmed(raw);
    if (line.starts_with('[')) is_inside = line == "[console_scripts]";
    const auto equals = line.find('=');
    if (is_inside && equals != std::string::npos) names.push_back(trimmed(line.substr(0, equals)));
  }
  return names;
}

std::optional<InstalledPackage> installed_by_pip(const std::string& directory,
                                                 const std::string& package) {
  const auto description = description_of(directory, package);
  if (!description) return std::nullopt;
  const auto text =
      bounded_file((description->directory / "entry_points.txt").string(), max_import_bytes);
  const auto script = chosen_script(console_scripts(text.value_or("")), package);
  std::error_code ignored;
  auto entry = directory + "/bin/" + script;
  if (!is_file_name(script) || !fs::is_regular_file(entry, ignored)) return std::nullopt;
  return InstalledPackage{.entry = std::move(entry), .version = description->version};
}

}  // namespace cellblock::cli
