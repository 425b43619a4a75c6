#include "client/cli/tool_rows/auth.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "client/cli/add/added_files.h"
#include "client/cli/add/authorization.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/origin.h"
#include "client/cli/add/remote_authorization.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/common/prompt.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/table/words.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/added.h"
#include "client/cli/tools/tools.h"

// What a remote server's user has allowed its cell: shown, obtained, forgotten.
namespace cellblock::cli {
namespace {

using Ordered = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr unsigned readable_declaration = 0644;
constexpr unsigned secret_mode = 0600;

/// A server that was added, and where its declaration and its authorization are.
struct Remote {
  AddPlaces places;
  std::string server;
  std::string declaration;  ///< path
  std::string before;       ///< its text
  std::string secret;       ///< path
};

Result<Remote> remote_named(const AddPlaces& places, const std::string& server) {
  Remote remote{.places = places,
                .server = server,
                .declaration = declaration_of(places, server),
                .secret = authorization_file(places, server)};
  remote.before = CELLBLOCK_TRY(bounded_file(remote.declaration, max_import_bytes));
  CELLBLOCK_CHECK(declared_remote(remote.before, server));
  return remote;
}

bool is_authorized(const Remote& remote) {
  std::error_code ignored;
  return fs::exists(remote.secret, ignored);
}

// ---- shown ----

Exit show_authorization(const Context& context, const Remote& remote) {
  const auto text = bounded_file(remote.secret, max_import_text);
  const auto authorization =
      text ? read_authorization(*text) : Result<Authorization>(fail(text.error().text));
  if (!authorization) {
    return cannot(context, fmt::format("{}: {}; --again replaces it", safe_line(remote.secret),
                                       authorization.error().text));
  }
  if (context.output == Output::json) {
    return print_json(Ordered{{"server", remote.server},
                              {"obtained", authorization->obtained},
                              {"expires", authorization->expires},
                              {"scope", authorization->scope},
                              {"renewed", authorization->is_renewed}}
                          .dump(-1, ' ', true, Ordered::error_handler_t::replace));
  }
  fmt::print("{}: {}\n", remote.server, described(*authorization));
  return Exit::ok;
}

// ---- changed ----

Result<void> put_declaration(const Context& context, const Remote& remote,
                             const std::string& text) {
  if (text == remote.before) return {};
  CELLBLOCK_CHECK(replace_file(remote.declaration, text, readable_declaration));
  auto usable = check_configuration(context, remote.places, remote.server);
  if (!usable) {
    CELLBLOCK_CHECK(replace_file(remote.declaration, remote.before, readable_declaration));
  }
  return usable;
}

// Cells that run have read what they have; they end, and start with it.
Result<void> take_effect(const Context& context, const Remote& remote) {
  const auto reloaded = reload_daemon(context, remote.places);
  stop_cells(context, remote.places, remote.server);
  if (reloaded.is_failed) {
    return fail(fmt::format("the files are changed, but {}", reloaded.words));
  }
  tell(context, reloaded.words);
  return {};
}

Result<void> keep(const Context& context, const Remote& remote, const std::string& value) {
  AddedFiles files(remote.places);
  if (is_authorized(remote)) {
    CELLBLOCK_CHECK(replace_file(remote.secret, value, secret_mode));
  } else {
    CELLBLOCK_CHECK(files.add_secret(remote.secret, value));
  }
  const auto table = without_secret(remote.before, authorization_variable);
  CELLBLOCK_CHECK(put_declaration(
      context, remote, with_secret(table, remote.server, authorization_variable, remote.secret)));
  files.keep();
  return {};
}

// Of the system's servers all who may use one would act as who went to the browser.
Result<void> check_users(const Remote& remote) {
  if (remote.places.mode == Mode::user) return {};
  const Ordered whole = CELLBLOCK_TRY(json_of_toml(remote.before));
  const Ordered& table = object_member(object_member(whole, "server"), remote.server.c_str());
  const Ordered& allow = object_member(table, "allow");
  // By name or by number.
  const bool is_one = array_member(allow, "users").size() == 1 &&
                      array_member(allow, "groups").empty() &&
                      array_member(table, "rule").empty() && array_member(whole, "role").empty();
  if (is_one) return {};
  return fail(
      fmt::format("{}: its authorization is one user's; its declaration has to allow one "
                  "user, in `allow.users`, and nobody else",
                  safe_line(remote.server)));
}

Result<void> obtain(const Context& context, const Remote& remote,
                    const Interruption& interruption) {
  CELLBLOCK_CHECK(check_users(remote));
  const auto group = CELLBLOCK_TRY(daemon_group(remote.places));
  const auto scratch = CELLBLOCK_TRY(Scratch::make(remote.places.servers, group));
  const Work work{context, remote.places, scratch, interruption.token()};
  const auto proposal = CELLBLOCK_TRY(declared_remote(remote.before, remote.server));
  const auto directory = CELLBLOCK_TRY(run_authorization(work, proposal, interruption));
  const auto value = CELLBLOCK_TRY(obtained_authorization(work, directory));
  CELLBLOCK_CHECK(keep(context, remote, value));
  return take_effect(context, remote);
}

Exit forget_authorization(const Context& context, const Remote& remote) {
  if (!is_authorized(remote)) return cannot(context, remote.server + " is not authorized");
  const auto changed =
      put_declaration(context, remote, without_secret(remote.before, authorization_variable));
  if (!changed) return cannot(context, changed.error().text);
  std::error_code error;
  fs::remove(remote.secret, error);
  if (error) {
    return cannot(context, fmt::format("{}: {}", safe_line(remote.secret), error.message()));
  }
  const auto taken = take_effect(context, remote);
  if (!taken) return cannot(context, taken.error().text);
  tell(context,
       "its cells forget it when they start next; whoever gave it can withdraw it as well");
  return Exit::ok;
}

}  // namespace

Exit run_auth(const Context& asked, const Words& words) {
  const Interruption interruption;
  const auto places = add_places(asked);
  if (!places) return cannot(asked, places.error().text);
  auto context = asked;
  context.mode = places->mode;
  const auto server = words.text(added_name);
  if (!was_added(*places, server)) return explain(context, not_added(server));
  const auto remote = remote_named(*places, server);
  if (!remote) return cannot(context, remote.error().text);
  if (words.has(forget_option)) return forget_authorization(context, *remote);
  if (!is_authorized(*remote) || words.has(again_option)) {
    const auto obtained = obtain(context, *remote, interruption);
    if (!obtained) return cannot(context, obtained.error().text);
  }
  return show_authorization(context, *remote);
}

}  // namespace cellblock::cli
