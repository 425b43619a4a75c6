#include "supervisor/launcher/prepare/spawn_environment.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

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

namespace {

bool is_variable(const CellSecret& secret) {
  return secret.delivery == SecretDelivery::environment;
}
bool is_file(const CellSecret& secret) { return secret.delivery == SecretDelivery::file; }

std::string path_of(const CellSecret& secret) {
  return std::string(secrets_directory).substr(1) + "/" + secret.name;  // from the new root
}

// One page and one inode more than is needed, for the directory and what is rounded up.
std::string options_for(const std::vector<SecretFile>& files) {
  constexpr std::size_t page = 65'536;  // the largest there is
  std::size_t bytes = page;
  for (const SecretFile& file : files) bytes += (file.size / page + 1) * page;
  return "size=" + std::to_string(bytes) + ",nr_inodes=" + std::to_string(files.size() + 2) +
         ",mode=500";
}

std::size_t size_of(const std::vector<std::string>& plain, const std::vector<CellSecret>& secrets) {
  std::size_t size = 0;
  for (const std::string& entry : plain) size += entry.size() + 1;
  for (const CellSecret& secret : secrets) {
    if (is_variable(secret)) size += secret.text.size() + 1;
    if (is_file(secret)) size += secret.text.size() + 1 + path_of(secret).size() + 1;
  }
  return size;
}

}  // namespace

SpawnEnvironment::SpawnEnvironment(const std::vector<std::string>& plain,
                                   const std::vector<CellSecret>& secrets)
    : size_(size_of(plain, secrets)), block_(std::make_unique<char[]>(size_ + 1)) {
  for (const std::string& entry : plain) variables_.push_back(add(entry));
  for (const CellSecret& secret : secrets) {
    if (is_variable(secret)) variables_.push_back(add(secret.text));
    if (is_file(secret)) {
      files_.push_back({add(path_of(secret)), add(secret.text), secret.text.size()});
    }
  }
  variables_.push_back(nullptr);
  file_options_ = options_for(files_);
}

SpawnEnvironment::~SpawnEnvironment() { explicit_bzero(block_.get(), size_); }

char* SpawnEnvironment::add(const std::string& text) {
  char* const place = block_.get() + used_;
  std::copy_n(text.c_str(), text.size() + 1, place);
  used_ += text.size() + 1;
  return place;
}

void SpawnEnvironment::enter_into(ChildPlan& plan) const {
  plan.envp = variables_.data();
  plan.environment_block = block_.get();
  plan.environment_size = size_;
  plan.secret_files = files_.data();
  plan.secret_file_count = files_.size();
  plan.secret_options = file_options_.c_str();
}

}  // namespace cellblock::launcher
