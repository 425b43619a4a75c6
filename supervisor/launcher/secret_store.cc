#include "supervisor/launcher/secret_store.h"

#include <cstring>

namespace cellblock::launcher {
namespace {

void wipe(Secrets& secrets) {
  for (auto& server : secrets.servers) {
    for (std::string& value : server.values) explicit_bzero(value.data(), value.size());
  }
}

Result<std::vector<std::string>> join(const Server& server, const ServerSecrets& secrets) {
  if (secrets.values.size() != server.secrets.size()) return fail("a secret's value is missing");
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < secrets.values.size(); ++i) {
    std::string& entry = entries.emplace_back();
    // Reserved whole: growing would leave a piece of the secret behind in freed memory.
    entry.reserve(server.secrets[i].name.size() + 1 + secrets.values[i].size());
    entry.append(server.secrets[i].name).append("=").append(secrets.values[i]);
  }
  return entries;
}

}  // namespace

Result<std::vector<std::string>> SecretStore::of(const Server& server,
                                                 std::uint32_t server_index) const {
  if (server.secrets.empty()) return std::vector<std::string>{};
  auto bytes = CELLBLOCK_TRY(read_all(memory_.get(), max_config_bytes, Sealing::must_be_sealed));
  auto secrets = decode_secrets(bytes);
  explicit_bzero(bytes.data(), bytes.size());
  if (!secrets) return std::unexpected(secrets.error());
  auto entries = server_index < secrets->servers.size()
                     ? join(server, secrets->servers[server_index])
                     : Result<std::vector<std::string>>(fail("no secrets for this server"));
  wipe(*secrets);
  return entries;
}

}  // namespace cellblock::launcher
