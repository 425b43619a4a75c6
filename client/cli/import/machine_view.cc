#include "client/cli/import/machine_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "client/cli/import/bounded_file.h"
#include "client/cli/import/input_json.h"
#include "client/cli/import/installed_wheel.h"
#include "client/cli/import/members.h"

namespace cellblock::cli {
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
