#include "client/cli/import/propose/import_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/import/read/host_reader.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/manifest_readers.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

std::string lines_of(const char* what, const std::vector<std::string>& texts) {
  std::string lines;
  for (const auto& text : texts) lines += fmt::format("  {}: {}\n", what, safe_line(text));
  return lines;
}

std::string secret_lines(const Proposal& proposal) {
  std::string lines;
  for (const auto& secret : proposal.secrets) {
    lines += fmt::format("  secret: the value of {} goes into {}\n", safe_line(secret.variable),
                         safe_line(secret.file));
  }
  return lines;
}

std::string summary_of(const Proposal& proposal) {
  if (!proposal.obstacle.empty()) {
    return fmt::format("{}: no cell: {}\n", safe_line(proposal.declared_as),
                       safe_line(proposal.obstacle));
  }
  return fmt::format("{}:\n", proposal.name) + lines_of("as root", proposal.steps) +
         lines_of("to do", proposal.todos) + secret_lines(proposal) +
         lines_of("not taken over", proposal.remarks);
}

}  // namespace

namespace {

Result<std::vector<DeclaredServer>> read_servers(std::string_view text,
                                                 const ImportQuestion& question) {
  const auto document =
      CELLBLOCK_TRY(looks_like_json(text) ? json_of_json(text) : json_of_toml(text));
  if (!document.is_object()) return fail("it is no configuration: an object was expected");
  const auto format =
      question.format ? *question.format : CELLBLOCK_TRY(recognised_format(document));
  if (format == ImportFormat::registry) return servers_of_registry(document);
  if (format == ImportFormat::bundle) return servers_of_bundle(document, question.bundle);
  return servers_of_host(document, format);
}

}  // namespace

Result<std::vector<DeclaredServer>> declared_servers(std::string_view text,
                                                     const ImportQuestion& question) {
  auto servers = CELLBLOCK_TRY(read_servers(text, question));
  for (auto& server : servers) {
    const auto checked = check_hosts_of_options(server);
    if (server.obstacle.empty() && !checked) server.obstacle = checked.error().text;
  }
  return servers;
}

std::string import_summary(const std::vector<Proposal>& proposals) {
  std::string text;
  for (const auto& proposal : proposals) text += summary_of(proposal);
  return text;
}

}  // namespace cellblock::cli
