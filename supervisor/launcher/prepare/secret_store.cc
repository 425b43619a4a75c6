#include "supervisor/launcher/prepare/secret_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cellblock::launcher {
namespace {

void wipe(Secrets& secrets) {
  for (auto& server : secrets.servers) {
    for (std::string& value : server.values) explicit_bzero(value.data(), value.size());
  }
}

// In its last place and reserved whole: growing, copying, and moving what a string keeps inside
// itself would each leave a piece of the secret behind in memory that nobody wipes.
void fill(CellSecret& secret, const SecretVariable& declared, const std::string& value) {
  secret.delivery = declared.delivery;
  secret.name = declared.name;
  secret.text.reserve(declared.name.size() + 1 + value.size());
  if (declared.delivery == SecretDelivery::environment) secret.text.append(declared.name + "=");
  secret.text.append(value);
}

std::unexpected<SysError> none_for_it() { return std::unexpected(SysError{"secrets", ENODATA}); }

SysResult<std::vector<CellSecret>> join(const Server& server, const ServerSecrets& secrets) {
  if (secrets.values.size() != server.secrets.size()) return none_for_it();
  std::vector<CellSecret> joined(secrets.values.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    fill(joined[i], server.secrets[i], secrets.values[i]);
  }
  return joined;
}

}  // namespace

void wipe(std::vector<CellSecret>& secrets) {
  for (CellSecret& secret : secrets) explicit_bzero(secret.text.data(), secret.text.size());
}

SysResult<std::vector<CellSecret>> SecretStore::of(const Server& server,
                                                   std::uint32_t server_index) const {
  if (server.secrets.empty()) return std::vector<CellSecret>{};
  auto bytes = CELLBLOCK_TRY(read_all(memory_.get(), max_config_bytes, Sealing::must_be_sealed));
  auto secrets = decode_secrets(bytes);
  explicit_bzero(bytes.data(), bytes.size());
  if (!secrets) return std::unexpected(SysError{"secrets", EBADMSG});
  auto joined = server_index < secrets->servers.size()
                    ? join(server, secrets->servers[server_index])
                    : SysResult<std::vector<CellSecret>>(none_for_it());
  wipe(*secrets);
  return joined;
}

bool SecretStore::fits(const Config& config) const {
  auto bytes = read_all(memory_.get(), max_config_bytes, Sealing::must_be_sealed);
  if (!bytes) return false;
  auto secrets = decode_secrets(*bytes);
  explicit_bzero(bytes->data(), bytes->size());
  if (!secrets) return false;
  const bool fit = std::ranges::equal(
      config.servers, secrets->servers, {},
      [](const Server& server) { return server.secrets.size(); },
      [](const ServerSecrets& its) { return its.values.size(); });
  wipe(*secrets);
  return fit;
}

SysResult<std::vector<Fd>> secret_memfds(const std::vector<CellSecret>& secrets) {
  std::vector<Fd> memfds;
  for (const CellSecret& secret : secrets) {
    if (secret.delivery != SecretDelivery::memfd) continue;
    const std::span<const char> text(secret.text);
    auto made = make_sealed(secret.name.c_str(), std::as_bytes(text));
    if (!made) return std::unexpected(made.error());
    memfds.push_back(std::move(*made));
  }
  return memfds;
}

}  // namespace cellblock::launcher
