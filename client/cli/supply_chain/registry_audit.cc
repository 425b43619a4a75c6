#include "client/cli/supply_chain/registry_audit.h"

#include <fmt/format.h>

#include <utility>

#include "client/cli/add/origin.h"
#include "client/cli/common/prompt.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/registry_installer.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

Result<RegistryReport> report_on(const Work& work, const Origin& origin) {
  const PackageName package{
      .registry = origin.registry, .name = origin.package, .version = origin.version};
  const auto installer =
      CELLBLOCK_TRY(installer_for(package, {.named = for_any_host(origin.private_addresses)}));
  auto lock = CELLBLOCK_TRY(bounded_file(origin.directory + "/" + installer.lock, most_lock_bytes));
  return ask_registry(work.context, work.places, work.scratch, installer,
                      {.package = CELLBLOCK_TRY(wanted_of(package)), .lock = std::move(lock)},
                      work.stop);
}

ServerAudit failed(const std::string& server, const Origin& origin, std::string why) {
  auto audit = audit_without_registry(server, origin);
  audit.notes.clear();
  audit.error = std::move(why);
  return audit;
}

bool has_registry(const Origin& origin) {
  return !origin.package.empty() && origin.registry != Registry::bundle;
}

}  // namespace

ServerAudit audit_server(const Work& work, const std::string& server) {
  const auto origin = origin_of(work.places, server);
  if (!origin) return failed(server, {}, origin.error().text);
  if (!has_registry(*origin)) return audit_without_registry(server, *origin);
  tell(work.context, fmt::format("asking the registry of {}", safe_line(origin->package)));
  const auto report = report_on(work, *origin);
  if (!report) return failed(server, *origin, report.error().text);
  return audit_of(server, *origin, *report);
}

}  // namespace cellblock::cli
