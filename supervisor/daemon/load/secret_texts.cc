#include "supervisor/daemon/load/secret_texts.h"

#include <utility>

#include "supervisor/daemon/load/secret_files.h"
#include "supervisor/daemon/load/wipe.h"

namespace cellblock {
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

}  // namespace cellblock
