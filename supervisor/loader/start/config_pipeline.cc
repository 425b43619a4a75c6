#include "supervisor/loader/start/config_pipeline.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policy/config/config_bytes.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/loader/load/secret_commands.h"
#include "supervisor/loader/load/secret_files.h"
#include "supervisor/loader/report/check_report.h"
#include "supervisor/loader/report/declared_parts.h"
#include "supervisor/process/privileges.h"
#include "supervisor/process/wipe.h"

namespace cellblock::daemon {
namespace {

bool is_printed(const SecretVariable& secret) { return secret.origin == SecretOrigin::command; }

bool has_secret_commands(const Server& server) {
  return std::ranges::any_of(server.secrets, is_printed);
}

// Marks all secrets anew, since a server's marks have one key. Warns only about secrets of
// commands: the check has warned about the others.
void mark_printed(LoadedConfig& loaded) {
  mark_secrets(loaded.config, loaded.secrets);
  for (const UnmarkedSecret& unmarked : unmarked_secrets(loaded.config, loaded.secrets)) {
    const auto server = std::ranges::find(loaded.config.servers, unmarked.server, &Server::name);
    const auto secret = std::ranges::find(server->secrets, unmarked.name, &SecretVariable::name);
    if (!is_printed(*secret)) continue;
    spdlog::warn(
        "server {}: the secret {} has no line of 8 bytes or more, so redaction does not "
        "look for it",
        unmarked.server, unmarked.name);
  }
}

// Names the file of each server that is left out because of a command.
void name_files(LoadedConfig& loaded) {
  for (Server& server : loaded.config.servers) {
    if (!server.breakage.is_broken() || !server.breakage.file.empty()) continue;
    const auto file = loaded.declared_in.find(server.name);
    if (file != loaded.declared_in.end()) server.breakage.file = file->second;
  }
}

// Broken parts are reported once, when the final configuration is known.
bool is_told_later(const Complaint& complaint) {
  return complaint.severity == Complaint::Severity::broken;
}

Result<Fd> seal_declared(const Config& config) {
  const std::string parts = declared_parts(config);
  if (parts.size() > max_declared_bytes) {
    return fail(fmt::format("what is declared takes {} bytes to list; allowed: at most {}",
                            parts.size(), max_declared_bytes));
  }
  return CELLBLOCK_TRY(make_sealed("cellblock-declared", std::as_bytes(std::span(parts))));
}

}  // namespace

Result<LoadedConfig> load(const Options& options, LookPurpose purpose, const Config* in_use,
                          const Fd* credentials) {
  auto loaded =
      load_config({options.config, options.mode, options.socket, purpose, in_use, credentials});
  if (!loaded) return fail(check_report(options.config, loaded));
  // Each line has the word warning itself.
  for (const Complaint& warning : loaded->warnings) {
    if (!is_told_later(warning)) spdlog::info("{}", to_line(warning));
  }
  return std::move(*loaded);
}

Result<void> become_user_of(const Config& config) {
  if (config.mode == RunMode::user) return {};
  // Kept for giving the sockets to their groups, until bind_sockets() leaves them.
  std::vector<gid_t> groups;
  if (config.listen.group) groups.push_back(*config.listen.group);
  if (config.http && config.http->group) groups.push_back(*config.http->group);
  return become_daemon_user({config.identity.uid, config.identity.gid, groups});
}

Result<void> run_commands(LoadedConfig& loaded,
                          const std::function<void(std::chrono::milliseconds)>& ask_for_time) {
  const auto said = run_secret_commands(loaded.config, ask_for_time, loaded.secrets);
  // Logged here only, for readers of the journal and for the user who reloads.
  for (const std::string& line : said) spdlog::warn("{}", line);
  name_files(loaded);
  if (std::ranges::any_of(loaded.config.servers, has_secret_commands)) mark_printed(loaded);
  const std::size_t bytes = std::max(encode(loaded.config).size(), encoded_size(loaded.secrets));
  if (bytes <= max_config_bytes) return {};
  wipe(loaded.secrets);
  return fail(fmt::format("the configuration and its secrets make {} bytes; allowed: at most {}",
                          bytes, max_config_bytes));
}

Result<Sealed> seal(const Config& config, Secrets& secrets) {
  Sealed sealed;
  sealed.config = CELLBLOCK_TRY(make_sealed("cellblock-config", encode(config)));
  auto bytes = encode(secrets);
  wipe(secrets);
  auto memory = make_sealed("cellblock-secrets", bytes);
  wipe(bytes);
  sealed.secrets = CELLBLOCK_TRY(std::move(memory));
  sealed.declared = CELLBLOCK_TRY(seal_declared(config));
  return sealed;
}

}  // namespace cellblock::daemon
