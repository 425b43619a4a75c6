#include "client/cli/add/origin.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/config/names.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;

std::string origin_path(const AddPlaces& places, const std::string& server) {
  return directory_of(places, server) + "/origin.json";
}

const char* name_of(Registry registry) {
  switch (registry) {
    case Registry::npm:
      break;
    case Registry::pypi:
      return "pypi";
    case Registry::image:
      return "image";
    case Registry::bundle:
      return "bundle";
  }
  return "npm";
}

Registry registry_named(const std::string& name) {
  if (name == "image") return Registry::image;
  if (name == "bundle") return Registry::bundle;
  return name == "pypi" ? Registry::pypi : Registry::npm;
}

Ordered json_of(const InstallRecord& record) {
  return {{"installed", record.installed},
          {"maintainers", record.maintainers},
          {"publisher", record.publisher},
          {"is_signed", record.is_signed}};
}

Result<InstallRecord> read_record(const Ordered& json) {
  return InstallRecord{.installed = CELLBLOCK_TRY(text_member(json, "installed")),
                       .maintainers = CELLBLOCK_TRY(texts_member(json, "maintainers")),
                       .publisher = CELLBLOCK_TRY(text_member(json, "publisher")),
                       .is_signed = is_true(json, "is_signed")};
}

}  // namespace

InstallRecord record_of(const RegistryReport& report) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {.installed = fmt::format("{:%FT%TZ}", fmt::gmtime(now)),
          .maintainers = report.maintainers,
          .publisher = report.publisher,
          .is_signed = report.has_keys};
}

std::string origin_text(const Origin& origin) {
  Ordered json{{"command", origin.command},          {"registry", name_of(origin.registry)},
               {"package", origin.package},          {"version", origin.version},
               {"directory", origin.directory},      {"previous", origin.previous},
               {"runs_scripts", origin.runs_scripts}};
  if (!origin.private_addresses.empty()) json["private_addresses"] = origin.private_addresses;
  json["record"] = json_of(origin.record);
  if (!origin.previous.empty()) json["previous_record"] = json_of(origin.previous_record);
  return json.dump(2, ' ', true, Ordered::error_handler_t::replace) + "\n";
}

Result<Origin> read_origin(const std::string& text) {
  const auto json = CELLBLOCK_TRY(json_of_json(text));
  Origin origin;
  origin.command = CELLBLOCK_TRY(texts_member(json, "command"));
  const auto registry = CELLBLOCK_TRY(text_member(json, "registry"));
  origin.registry = registry_named(registry);
  origin.package = CELLBLOCK_TRY(text_member(json, "package"));
  origin.version = CELLBLOCK_TRY(text_member(json, "version"));
  origin.directory = CELLBLOCK_TRY(text_member(json, "directory"));
  origin.previous = CELLBLOCK_TRY(text_member(json, "previous"));
  origin.runs_scripts = is_true(json, "runs_scripts");
  origin.private_addresses = CELLBLOCK_TRY(texts_member(json, "private_addresses"));
  origin.record = CELLBLOCK_TRY(read_record(object_member(json, "record")));
  origin.previous_record = CELLBLOCK_TRY(read_record(object_member(json, "previous_record")));
  return origin;
}

std::string directory_of(const AddPlaces& places, const std::string& server) {
  return places.servers + "/" + server;
}

bool was_added(const AddPlaces& places, const std::string& server) {
  std::error_code ignored;
  return is_short_name(server) && fs::exists(origin_path(places, server), ignored);
}

client::Error not_added(const std::string& server) {
  return {.code = client::ErrorCode::refused,
          .text = fmt::format("\"{}\" was not added by `cellblock add`; `cellblock servers` lists "
                              "those that were",
                              safe_line(server))};
}

Result<Origin> origin_of(const AddPlaces& places, const std::string& server) {
  const auto path = origin_path(places, server);
  if (!was_added(places, server)) return fail(not_added(server).text);
  const auto text = CELLBLOCK_TRY(bounded_file(path, max_import_bytes));
  auto origin = read_origin(text);
  if (origin) return *std::move(origin);
  return fail(fmt::format("{}: {}", safe_line(path), origin.error().text));
}

Result<void> write_origin(const AddPlaces& places, const std::string& server,
                          const Origin& origin) {
  constexpr unsigned readable = 0644;
  return replace_file(origin_path(places, server), origin_text(origin), readable);
}

std::vector<std::string> added_servers(const AddPlaces& places) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(places.servers, ignored)) {
    auto name = entry.path().filename().string();
    if (fs::exists(entry.path() / "origin.json", ignored)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

bool starts_the_same(const Origin& origin, const std::vector<std::string>& command) {
  if (origin.command == command) return true;
  const auto asked = package_run(command);
  const auto added = package_run(origin.command);
  if (!asked || !*asked || !added || !*added) return false;
  const auto& package = (*asked)->package;
  const bool is_version = package.version.empty() || package.version == origin.version;
  const bool is_package = package.registry == origin.registry && package.name == origin.package;
  return is_package && is_version && (*asked)->program == (*added)->program &&
         (*asked)->arguments == (*added)->arguments;
}

std::vector<std::string> servers_with_line(const AddPlaces& places,
                                           const std::vector<std::string>& command) {
  auto servers = added_servers(places);
  std::erase_if(servers, [&](const auto& server) {
    const auto origin = origin_of(places, server);
    return !origin || !starts_the_same(*origin, command);
  });
  return servers;
}

// Of a file that is replaced its own: whoever closed it meant it.
Result<void> replace_file(const std::string& path, const std::string& text, unsigned usual) {
  struct stat status{};
  const unsigned mode = ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : usual;
  const auto fresh = path + ".new";
  std::error_code error;
  fs::remove(fresh, error);
  CELLBLOCK_CHECK(write_new_file(fresh, text));
  const bool is_in_place =
      ::chmod(fresh.c_str(), mode) == 0 && ::rename(fresh.c_str(), path.c_str()) == 0;
  if (is_in_place) return {};
  const int why = errno;
  fs::remove(fresh, error);
  return fail(fmt::format("{}: {}", safe_line(path), std::generic_category().message(why)));
}

}  // namespace cellblock::cli
