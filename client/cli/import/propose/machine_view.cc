#include "client/cli/import/propose/machine_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <system_error>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "policy/base/trimmed.h"

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
    if (is_inside && equals != std::string::npos)
      names.emplace_back(trimmed(line.substr(0, equals)));
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

namespace {

using Json = nlohmann::ordered_json;

PathKind kind_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return PathKind::absent;
  return S_ISDIR(status.st_mode) ? PathKind::directory : PathKind::file;
}

// Where every cell looks, and sees what is there.
std::string find_program(const std::string& name) {
  for (const char* directory : {"/usr/local/bin/", "/usr/bin/", "/usr/sbin/"}) {
    auto path = directory + name;
    if (kind_of(path) == PathKind::file && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// The one that it has, or of several the one that is called as the package is: as npx chooses.
std::string program_of(const Json& description, const std::string& package) {
  if (description.contains("bin") && description["bin"].is_string()) {
    return description["bin"].get<std::string>();
  }
  const Json& programs = object_member(description, "bin");
  if (programs.size() == 1 && programs.begin()->is_string()) {
    return programs.begin()->get<std::string>();
  }
  const auto name = package.substr(package.rfind('/') + 1);
  return text_member(programs, name.c_str()).value_or("");
}

std::optional<InstalledPackage> installed_by_npm(const std::string& prefix,
                                                 const PackageName& package) {
  const auto directory = prefix + "/node_modules/" + package.name + "/";
  const auto text = bounded_file(directory + "package.json", max_import_bytes);
  const auto description = text ? json_of_json(*text) : Result<Json>(fail(""));
  if (!description || !description->is_object()) return std::nullopt;
  auto program = program_of(*description, package.name);
  if (program.starts_with("./")) program.erase(0, 2);
  const bool is_inside =
      !program.empty() && !program.starts_with('/') && program.find("..") == std::string::npos;
  if (!is_inside) return std::nullopt;
  return InstalledPackage{.entry = directory + program,
                          .version = text_member(*description, "version").value_or("")};
}

std::optional<InstalledPackage> installed(const std::string& prefix, const PackageName& package) {
  return package.registry == Registry::npm ? installed_by_npm(prefix, package)
                                           : installed_by_pip(prefix, package.name);
}

}  // namespace

MachineView this_machine() {
  return {.kind_of = kind_of, .find_program = find_program, .installed = installed};
}

}  // namespace cellblock::cli
