#include "client/cli/install/places.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/install/scratch.h"
#include "client/cli/programs/configuration.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;

constexpr const char* default_user = "cellblock";
constexpr std::int64_t default_first_id = 1879048192;
constexpr std::int64_t default_ids = 65536;
constexpr std::int64_t private_ids = 64;
constexpr std::int64_t most_id = (std::int64_t{1} << 31) - 1;

std::int64_t number_or(const Ordered& table, const char* name, std::int64_t otherwise) {
  const bool is_there =
      table.is_object() && table.contains(name) && table[name].is_number_integer();
  return is_there ? table[name].get<std::int64_t>() : otherwise;
}

// A user or a group, by name or by number, as it stands there.
std::string identity_line(const Ordered& daemon, const char* name) {
  if (!daemon.contains(name)) return {};
  const auto& value = daemon[name];
  if (value.is_number_integer()) return fmt::format("{} = {}\n", name, value.get<std::int64_t>());
  return value.is_string() ? fmt::format("{} = {}\n", name, toml_text(value.get<std::string>()))
                           : std::string();
}

// Behind the others, or before them where nothing is left behind.
std::int64_t first_private_id(const Ordered& range) {
  const auto first = number_or(range, "first", default_first_id);
  const auto behind = first + number_or(range, "count", default_ids);
  return behind + private_ids <= most_id ? behind : first - private_ids;
}

std::string identity_lines(const Ordered& daemon) {
  auto user = identity_line(daemon, "user");
  if (user.empty()) user = fmt::format("user = \"{}\"\n", default_user);
  return fmt::format("{}{}id_range = {{ first = {}, count = {} }}\n", user,
                     identity_line(daemon, "group"),
                     first_private_id(object_member(daemon, "id_range")), private_ids);
}

// Without one, as where nothing is declared yet, the defaults hold.
Result<Ordered> main_configuration(const std::string& path) {
  if (!fs::exists(path)) return Ordered::object();
  const auto text = CELLBLOCK_TRY(bounded_file(path, max_import_bytes));
  auto whole = json_of_toml(text);
  if (whole) return *std::move(whole);
  return fail(fmt::format("{}: {}", safe_line(path), whole.error().text));
}

std::string sandbox_lines(const Ordered& whole) {
  const auto abi = number_or(object_member(whole, "sandbox"), "min_landlock", -1);
  return abi < 0 ? std::string() : fmt::format("\n[sandbox]\nmin_landlock = {}\n", abi);
}

}  // namespace

AddPlaces places_of(const Context& context, Mode mode) {
  auto asked = context;
  asked.mode = mode;
  auto found = configuration_of(asked);
  std::error_code ignored;
  found.path = fs::absolute(found.path, ignored).lexically_normal().string();
  const auto directory = fs::path(found.path).parent_path().string();
  AddPlaces places{.mode = found.mode,
                   .main_file = found.path,
                   .declarations = directory + "/servers.d",
                   .secrets = directory + "/secrets",
                   .servers = user_data_directory() + "/servers"};
  if (found.mode == Mode::user) return places;
  places.servers = found.by == FoundBy::place ? "/opt/cellblock/servers" : directory + "/servers";
  return places;
}

Result<AddPlaces> add_places(const Context& context) {
  const Mode usual = ::geteuid() == 0 ? Mode::system : Mode::user;
  auto places = places_of(context, context.mode == Mode::either ? usual : context.mode);
  if (places.mode == Mode::user || ::geteuid() == 0) return places;
  return fail(
      "only root adds servers to the system's cellblock; with --user you add one to your own");
}

Result<std::optional<unsigned>> daemon_group(const AddPlaces& places) {
  if (places.mode == Mode::user) return std::nullopt;
  const auto whole = CELLBLOCK_TRY(main_configuration(places.main_file));
  const auto& daemon = object_member(whole, "daemon");
  const auto number = number_or(daemon, "group", -1);
  if (number > 0) return static_cast<unsigned>(number);
  const auto name =
      daemon.contains("group") ? CELLBLOCK_TRY(text_member(daemon, "group")) : std::string();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread asks
  if (const auto* group = ::getgrnam(name.c_str()); !name.empty() && group != nullptr) {
    return group->gr_gid;
  }
  const bool has_user = daemon.contains("user") && daemon["user"].is_string();
  const auto user = has_user ? daemon["user"].get<std::string>() : std::string(default_user);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread asks
  const auto* account = name.empty() ? ::getpwnam(user.c_str()) : nullptr;
  if (account != nullptr) return account->pw_gid;
  return fail(
      fmt::format("the group of cellblock's own processes is not known (daemon.user, "
                  "daemon.group in {})",
                  safe_line(places.main_file)));
}

Result<std::string> private_daemon_toml(const AddPlaces& places, const std::string& directory) {
  const auto whole = CELLBLOCK_TRY(main_configuration(places.main_file));
  const auto own =
      places.mode == Mode::user ? std::string() : identity_lines(object_member(whole, "daemon"));
  return fmt::format(
      "[daemon]\n{}state_directory = {}\naudit_log = {}\n\n[socket]\npath = {}\nmode = "
      "\"0600\"\n{}",
      own, toml_text(directory + "/state"), toml_text(directory + "/audit.jsonl"),
      toml_text(directory + "/" + scratch_socket), sandbox_lines(whole));
}

}  // namespace cellblock::cli
