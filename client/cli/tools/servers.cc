#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/add/added_files.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/origin.h"
#include "client/cli/common/prompt.h"
#include "client/cli/supply_chain/bom.h"
#include "client/cli/supply_chain/installed_bom.h"
#include "client/cli/supply_chain/registry_audit.h"
#include "client/cli/supply_chain/server_audit.h"
#include "client/cli/table/words.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/added.h"
#include "client/cli/tools/tools.h"

// Servers that `cellblock add` made: a list of them, what they are made of, and what their
// registries say.
namespace cellblock::cli {
namespace {

using Ordered = nlohmann::ordered_json;

std::string server_line(const AddPlaces& places, const std::string& server, std::size_t width) {
  const auto origin = origin_of(places, server);
  if (!origin) return fmt::format("{:<{}}  {}", safe_line(server), width, origin.error().text);
  const auto what = origin->package.empty()
                        ? fmt::format("{}", fmt::join(origin->command, " "))
                        : fmt::format("{} {}", origin->package, origin->version);
  return fmt::format("{:<{}}  {}", safe_line(server), width, safe_line(what));
}

Ordered server_json(const AddPlaces& places, const std::string& server) {
  const auto origin = origin_of(places, server);
  if (!origin) return Ordered{{"server", server}, {"error", origin.error().text}};
  return Ordered{{"server", server},
                 {"package", origin->package},
                 {"version", origin->version},
                 {"command", origin->command},
                 {"file", declaration_of(places, server)}};
}

void tell_if_none(const Context& context, const std::vector<std::string>& servers) {
  if (servers.empty()) tell(context, "no server was added with `cellblock add`");
}

Exit list_servers(const Context& context, const AddPlaces& places) {
  const auto servers = added_servers(places);
  if (context.output == Output::json) {
    Ordered list = Ordered::array();
    for (const auto& server : servers) list.push_back(server_json(places, server));
    return print_json(list.dump(-1, ' ', false, Ordered::error_handler_t::replace));
  }
  std::size_t width = 0;
  for (const auto& server : servers) width = std::max(width, server.size());
  for (const auto& server : servers) fmt::print("{}\n", server_line(places, server, width));
  tell_if_none(context, servers);
  return Exit::ok;
}

// ---- what their registries say ----

Exit exit_of_audits(const std::vector<ServerAudit>& audits, bool is_whole) {
  const auto has_findings = [](const auto& audit) { return !audit.findings.empty(); };
  const auto has_error = [](const auto& audit) { return !audit.error.empty(); };
  if (std::ranges::any_of(audits, has_findings)) return Exit::audit_findings;
  return is_whole && std::ranges::none_of(audits, has_error) ? Exit::ok : Exit::error;
}

// Each in a scratch of its own: what was asked about one leaves nothing to the next.
Result<ServerAudit> audit_one(const Context& context, const AddPlaces& places,
                              const std::optional<unsigned>& group, const std::string& server,
                              const Interruption& interruption) {
  const auto scratch = CELLBLOCK_TRY(Scratch::make(places.servers, group));
  const Work work{context, places, scratch, interruption.token()};
  return audit_server(work, server);
}

Exit audit_servers(const Context& context, const AddPlaces& places) {
  const Interruption interruption;
  const auto group = daemon_group(places);
  if (!group) return cannot(context, group.error().text);
  std::vector<ServerAudit> audits;
  const auto servers = added_servers(places);
  for (const auto& server : servers) {
    if (interruption.token().stop_requested()) break;
    auto audit = audit_one(context, places, *group, server, interruption);
    if (!audit) return cannot(context, audit.error().text);
    if (context.output == Output::human) fmt::print("{}", audit_text(*audit));
    audits.push_back(*std::move(audit));
  }
  if (context.output == Output::json) print_json(audit_json(audits));
  tell_if_none(context, servers);
  return exit_of_audits(audits, audits.size() == servers.size());
}

Exit show_bom(const Context& context, const AddPlaces& places, const std::string& server) {
  if (!was_added(places, server)) return explain(context, not_added(server));
  const auto origin = origin_of(places, server);
  if (!origin) return cannot(context, origin.error().text);
  const auto bom = installed_bom(*origin);
  if (!bom) return cannot(context, fmt::format("{}: {}", server, bom.error().text));
  return print_json(bom_json(*bom));
}

}  // namespace

Exit run_servers(const Context& context, const Words& words) {
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  if (words.has(sbom_option)) return show_bom(context, *places, words.text(sbom_option));
  if (!words.has(audit_option)) return list_servers(context, *places);
  auto asked = context;
  asked.mode = places->mode;
  return audit_servers(asked, *places);
}

}  // namespace cellblock::cli
