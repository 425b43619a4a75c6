#include "policy/config_reader/secret_reader.h"

#include <utility>

namespace cellblock {
namespace {

constexpr const char* allowed_values =
    "the path of a file in quotes, { credential = \"NAME\" } or { command = [...] }";

SecretText read_secret(TextAt name, TableReader reader) {
  SecretText secret{.name = std::move(name)};
  secret.at = reader.at();
  secret.credential = reader.text("credential");
  secret.command = reader.located_texts("command");
  secret.timeout = reader.text("timeout");
  return secret;
}

}  // namespace

std::vector<SecretText> read_secrets(std::optional<TableReader> table) {
  std::vector<SecretText> secrets;
  if (!table) return secrets;
  for (TextAt& name : table->names()) {
    if (table->holds_table(name.value)) {
      auto reader = table->table(name.value);
      secrets.push_back(read_secret(std::move(name), std::move(*reader)));
    } else if (auto path = table->text(name.value, allowed_values)) {
      const Place at = path->at;
      secrets.push_back({.name = std::move(name), .at = at, .file = std::move(path)});
    }
  }
  return secrets;
}

}  // namespace cellblock
