#include "supervisor/loader/load/secret_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/encoding/sha256.h"
#include "policy/redaction/secret_marks.h"
#include "supervisor/loader/load/trusted_path.h"
#include "supervisor/process/wipe.h"

namespace cellblock {
namespace {

constexpr mode_t group_and_others = 077;
constexpr mode_t group_reads_and_enters = 050;

// An ACL for the daemon's user alone, by which systemd gives a credential, shows as bits of the
// group, which then is root's.
std::optional<std::string> openness_of(const struct stat& status, std::span<const uid_t> owners) {
  if (auto problem = unsafe_owner_or_mode(status, owners)) return problem;
  const mode_t open_to = status.st_mode & group_and_others;
  const mode_t harmless = S_ISDIR(status.st_mode) ? group_reads_and_enters : mode_t{S_IRGRP};
  const bool for_root_group = (open_to & ~harmless) == 0 && status.st_gid == 0;
  if (open_to == 0 || for_root_group) return std::nullopt;
  return fmt::format("is open to its group or to others (mode {:04o})", status.st_mode & 07777U);
}

std::optional<std::string> problem_of(const struct stat& status, std::span<const uid_t> owners) {
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  return openness_of(status, owners);
}

Result<std::string> content_of(const TrustedFile& file) {
  const auto fd = reopen_for_reading(file);
  if (!fd && fd.error().number == EACCES) return fail(closed_text(file.status.st_uid));
  if (!fd) return fail("cannot be opened: " + fd.error().text());
  auto bytes = read_all(fd->get(), max_secret_bytes, Sealing::any);
  if (!bytes && bytes.error().number == EFBIG) return fail("is larger than 64KiB");
  if (!bytes) return fail("cannot be read: " + bytes.error().text());
  std::string secret = secret_text({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  wipe(*bytes);
  return secret;
}

Result<std::string> secret_in(const TrustedFile& file, std::span<const uid_t> owners) {
  if (auto problem = problem_of(file.status, owners)) return fail(std::move(*problem));
  std::string secret = CELLBLOCK_TRY(content_of(file));
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.find('\0') == std::string::npos) return secret;
  wipe(secret);
  return fail("has a NUL in it");
}

constexpr std::string_view of_services = "/run/credentials/";

// Gives no advice to change the owner if only systemd's own directory is closed.
std::string unusable(const std::string& directory, const WalkFailure& why) {
  const std::string text =
      why.kind == WalkFailure::Kind::closed
          ? fmt::format("uid {} may not look there; run `cellblock reload` as root", ::geteuid())
          : why.text;
  return fmt::format("cannot be used: {}: {}", directory, text);
}

Result<TrustedFile> open_in(const TrustedFile& directory, const std::string& name) {
  auto fd = open_at(directory.fd.get(), name.c_str(), O_PATH | O_NOFOLLOW);
  if (!fd && fd.error().number == ENOENT) {
    return fail("is none of the credentials that cellblockd was started with");
  }
  if (!fd) return fail("cannot be opened: " + fd.error().text());
  TrustedFile file{std::move(*fd), {}, directory.path + "/" + name};
  if (::fstat(file.fd.get(), &file.status) < 0) return sys_fail("fstat");
  return file;
}

Result<std::string> credential_in(const TrustedFile& directory, const std::string& name,
                                  std::span<const uid_t> owners) {
  if (!S_ISDIR(directory.status.st_mode)) {
    return fail("cannot be used: " + directory.path + " is no directory");
  }
  if (auto problem = openness_of(directory.status, owners)) {
    return fail("cannot be used: " + directory.path + " " + *problem);
  }
  const TrustedFile file = CELLBLOCK_TRY(open_in(directory, name));
  return secret_in(file, owners);
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path, std::span<const uid_t> owners) {
  const auto file = open_trusted(path, {owners, LastLink::refuse});
  if (!file) return fail("cannot be used: " + file.error().text);
  return secret_in(*file, owners);
}

Result<std::string> read_credential(const std::string& directory, const std::string& name,
                                    std::span<const uid_t> owners) {
  if (directory.empty()) {
    return fail(
        "cannot be there: cellblockd was started without credentials "
        "($CREDENTIALS_DIRECTORY is not set)");
  }
  const auto opened = open_trusted(directory, {owners, LastLink::follow});
  if (!opened) return fail(unusable(directory, opened.error()));
  return credential_in(*opened, name, owners);
}

Result<std::string> read_credential(const Fd& opened, const std::string& directory,
                                    const std::string& name, std::span<const uid_t> owners) {
  TrustedFile known{CELLBLOCK_TRY(duplicate(opened.get())), {}, directory};
  if (::fstat(known.fd.get(), &known.status) < 0) return sys_fail("fstat");
  return credential_in(known, name, owners);
}

bool is_closed_to_us(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES;
}

Fd open_service_credentials(const std::string& directory) {
  if (!directory.starts_with(of_services)) return {};
  const std::string service = directory.substr(of_services.size());
  if (service.empty() || service.starts_with('.') || service.find('/') != std::string::npos)
    return {};
  auto opened = open_at(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return opened ? std::move(*opened) : Fd();
}

namespace {

bool is_visible(char letter) { return letter > ' ' && letter <= '~'; }

std::string problem_of(const std::string& token) {
  if (!std::ranges::all_of(token, is_visible)) {
    return "is not one line of visible ASCII without spaces";
  }
  if (token.size() >= shortest_token) return {};
  return "has fewer than 32 characters; make one with: openssl rand -hex 32";
}

}  // namespace

TokenFacts look_at_token(const std::string& path, std::span<const uid_t> owners) {
  auto token = read_secret_file(path, owners);
  if (!token) return {{}, token.error().text};
  TokenFacts facts;
  facts.problem = problem_of(*token);
  if (facts.problem.empty()) facts.sha256 = sha256(*token);
  wipe(*token);
  return facts;
}

namespace {

void put(const std::string& key, Result<std::string> text, ByName<std::string>& texts,
         ByName<std::string>& bad) {
  if (text) {
    texts.emplace(key, std::move(*text));
  } else {
    bad.emplace(key, text.error().text);
  }
}

std::string found_in(const ByName<std::string>& texts, const std::string& key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : secret_text(found->second);
}

std::string value_of(const SecretVariable& secret, const SecretTexts& texts) {
  switch (secret.origin) {
    case SecretOrigin::file:
      return found_in(texts.files, secret.from);
    case SecretOrigin::credential:
      return found_in(texts.credentials, secret.from);
    case SecretOrigin::command:
      break;
  }
  return {};
}

}  // namespace

SecretTexts read_secret_texts(const FactsWanted& wanted, const SecretReader& reader,
                              HostFacts& facts) {
  SecretTexts texts;
  for (const std::string& path : wanted.secrets) {
    if (reader.is_somebody_else && is_closed_to_us(path)) {
      facts.closed_secrets.insert(path);
      continue;
    }
    put(path, read_secret_file(path, reader.owners), texts.files, facts.bad_secrets);
  }
  if (facts.credentials == Credentials::not_here) return texts;
  for (const std::string& name : wanted.credentials) {
    auto text = reader.credentials == nullptr
                    ? read_credential(facts.credentials_directory, name, reader.owners)
                    : read_credential(*reader.credentials, facts.credentials_directory, name,
                                      reader.owners);
    put(name, std::move(text), texts.credentials, facts.bad_credentials);
  }
  return texts;
}

Secrets in_order(const Config& config, SecretTexts texts) {
  Secrets secrets;
  for (const Server& server : config.servers) {
    ServerSecrets& values = secrets.servers.emplace_back();
    for (const SecretVariable& secret : server.secrets) {
      values.values.push_back(value_of(secret, texts));
    }
  }
  for (auto& [path, text] : texts.files) wipe(text);
  for (auto& [name, text] : texts.credentials) wipe(text);
  return secrets;
}

namespace {

MarkKeyBytes new_key() {
  MarkKeyBytes key{};
  // getrandom(2) returns so few bytes whole or not at all.
  while (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    if (errno != EINTR) std::abort();
  }
  return key;
}

}  // namespace

void mark_secrets(Config& config, const Secrets& secrets) {
  for (std::size_t i = 0; i < config.servers.size() && i < secrets.servers.size(); ++i) {
    if (secrets.servers[i].values.empty()) continue;
    config.servers[i].secret_marks = mark_secrets(secrets.servers[i].values, new_key());
  }
}

std::vector<UnmarkedSecret> unmarked_secrets(const Config& config, const Secrets& secrets) {
  std::vector<UnmarkedSecret> found;
  for (std::size_t i = 0; i < config.servers.size() && i < secrets.servers.size(); ++i) {
    const auto& values = secrets.servers[i].values;
    for (std::size_t k = 0; k < values.size() && k < config.servers[i].secrets.size(); ++k) {
      if (values[k].empty() || !is_too_short_to_mark(values[k])) continue;
      found.push_back({config.servers[i].name, config.servers[i].secrets[k].name});
    }
  }
  return found;
}

}  // namespace cellblock
