#include "client/cli/tool_rows/import.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/add/add_request.h"
#include "client/cli/add/addition.h"
#include "client/cli/common/prompt.h"
#include "client/cli/host_files/host_change.h"
#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/import_file.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/propose.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/bundle_archive.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/programs/configuration.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"

// Servers of hosts' configurations, as cells.
namespace cellblock::cli {
namespace {

// Whose daemon it is for decides where its servers and secrets are.
Places places_for(const Context& context) {
  const auto found = configuration_of(context);
  if (found.mode != Mode::user) {
    return {.programs = "/opt/cellblock", .secrets = "/etc/cellblock/secrets"};
  }
  const auto directory = std::filesystem::path(found.path).parent_path();
  return {.programs = user_data_directory(), .secrets = (directory / "secrets").string()};
}

struct Document {
  std::string text;
  ImportQuestion question;
};

// A packed bundle is all that a zip archive can be here.
Result<Document> document_in(const Words& words) {
  std::error_code ignored;
  const auto file = words.text(imported_file);
  const auto whole = std::filesystem::absolute(file, ignored);
  const auto format = import_format_named(words.text(import_from));
  if (file != "-" && is_zip(file)) {
    auto manifest = CELLBLOCK_TRY(packed_manifest(file, max_import_bytes));
    const DeclaredBundle bundle{.archive = whole.string(), .manifest = manifest};
    return Document{std::move(manifest), {format, bundle}};
  }
  auto text = CELLBLOCK_TRY(bounded_file(file, max_import_bytes));
  return Document{std::move(text), {format, {.directory = whole.parent_path().string()}}};
}

Json as_json(const std::vector<Proposal>& proposals, const std::string& toml) {
  Json servers = Json::array();
  for (const auto& proposal : proposals) {
    Json secrets = Json::array();
    for (const auto& secret : proposal.secrets) {
      secrets.push_back(Json{{"variable", secret.variable}, {"file", secret.file}});
    }
    servers.push_back(Json{{"declared_as", proposal.declared_as},
                           {"name", proposal.name},
                           {"obstacle", proposal.obstacle},
                           {"steps", proposal.steps},
                           {"todos", proposal.todos},
                           {"secrets", secrets},
                           {"not_taken_over", proposal.remarks}});
  }
  return Json{{"toml", toml}, {"servers", servers}};
}

Exit hand_out(const Context& context, const std::string& output,
              const std::vector<Proposal>& proposals) {
  const auto toml = cell_toml(proposals);
  if (!output.empty()) {
    const auto written = write_new_file(output, toml);
    if (!written) return cannot(context, written.error().text);
  }
  if (context.output == Output::json) {
    return print_json(as_json(proposals, toml).dump(-1, ' ', true, Json::error_handler_t::replace));
  }
  fmt::print(stderr, "{}", import_summary(proposals));
  if (output.empty()) fmt::print("{}", toml);
  return Exit::ok;
}

std::vector<std::string> names_of(const std::vector<DeclaredServer>& servers) {
  std::vector<std::string> names;
  names.reserve(servers.size());
  for (const auto& server : servers) names.push_back(server.name);
  return names;
}

// One after the other; what one lacks keeps none of the others out.
Exit install_all(const Context& context, const Words& words,
                 const std::vector<DeclaredServer>& servers) {
  const AddOptions options{
      .consent = words.has(without_asking) ? Consent::given : Consent::before_trial,
      .may_authorize = can_ask(context)};
  if (options.consent != Consent::given && !can_ask(context)) {
    return cannot(context, nobody_to_ask);
  }
  const Interruption interruption;
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  const auto users = users_of(words.all(installed_for), *places);
  if (!users) return cannot(context, users.error().text);
  const auto ranges = check_named_ranges(words.all(named_range_option), names_of(servers));
  if (!ranges) return cannot(context, ranges.error().text);
  std::size_t count = 0;
  for (const auto& server : servers) {
    tell(context, fmt::format("--- {}", safe_line(server.name)));
    auto added = imported_server(server, {.users = *users,
                                          .environment = words.all(passed_on),
                                          .ranges = words.all(named_range_option)});
    const Exit exit = added ? add_server(context, *places, *std::move(added), options, interruption)
                            : cannot(context, added.error().text);
    count += exit == Exit::ok ? 1 : 0;
    if (interruption.token().stop_requested()) break;
  }
  tell(context, fmt::format("{} of {} servers added", count, servers.size()));
  return count == servers.size() ? Exit::ok : Exit::error;
}

Exit change_hosts(const Context& context, const Words& words) {
  const HostChange change{.file = words.text(imported_file), .agrees = words.has(without_asking)};
  return words.has(undo_option) ? restore_hosts(context, change) : connect_hosts(context, change);
}

}  // namespace

Exit run_import(const Context& context, const Words& words) {
  if (words.has(into_host_option)) return change_hosts(context, words);
  const auto document = document_in(words);
  if (!document) return cannot(context, document.error().text);
  const auto servers = declared_servers(document->text, document->question);
  if (servers && words.has(install_option)) return install_all(context, words, *servers);
  const auto proposals = servers ? propose_all(*servers, this_machine(), places_for(context))
                                 : Result<std::vector<Proposal>>(fail(servers.error().text));
  if (!proposals) {
    return cannot(context, fmt::format("{}: {}", safe_line(words.text(imported_file)),
                                       proposals.error().text));
  }
  return hand_out(context, words.text(output_file), *proposals);
}

}  // namespace cellblock::cli
