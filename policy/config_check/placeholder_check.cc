#include "policy/config_check/placeholder_check.h"

#include <string_view>

namespace cellblock {
namespace {

constexpr std::string_view placeholder = "${client.";

void refuse_in(const Scope& scope, std::string_view key, const TextAt& text) {
  if (text.value.find(placeholder) == std::string::npos) return;
  scope.error(text.at, key,
              "\"${client.\" is filled in under env only; allowed: elsewhere other characters");
}

void refuse_in(const Scope& scope, std::string_view key, const TextList& texts) {
  for (const TextAt& text : texts) refuse_in(scope, key, text);
}

void refuse_in(const Scope& scope, std::string_view table, const std::vector<SecretText>& secrets) {
  const Scope here = scope.below(table);
  for (const SecretText& secret : secrets) {
    const std::string& name = secret.name.value;
    if (secret.file) refuse_in(here, name, TextAt{secret.file->value, secret.file->at});
    if (secret.command) refuse_in(here.below(name), "command", secret.command->value);
  }
}

}  // namespace

void refuse_placeholders(const Scope& scope, const ServerText& text) {
  if (text.command) refuse_in(scope, "command", text.command->value);
  if (text.program) refuse_in(scope, "program", TextAt{text.program->value, text.program->at});
  if (text.image) refuse_in(scope, "image", TextAt{text.image->value, text.image->at});
  if (text.working_directory) {
    refuse_in(scope, "working_directory",
              TextAt{text.working_directory->value, text.working_directory->at});
  }
  refuse_in(scope, "read", text.read);
  refuse_in(scope, "write", text.write);
  refuse_in(scope, "env_from_file", text.env_from_file);
  refuse_in(scope, "secret_files", text.secret_files);
  refuse_in(scope, "secret_memfds", text.secret_memfds);
  if (text.workspace) refuse_in(scope, "workspace.allow", text.workspace->allow);
  if (text.egress) refuse_in(scope, "egress.allow", text.egress->allow);
}

}  // namespace cellblock
