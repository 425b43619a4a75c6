#include "policy/config_reader/text_reader.h"

namespace cellblock {
namespace {

constexpr std::string_view secret_values =
    "the path of a file in quotes, { credential = \"NAME\" } or { command = [...] }";

}  // namespace

void TextReader::secrets(std::string_view key, std::vector<SecretText>& out,
                         std::string_view /*about*/) {
  auto table = reader_.table(key);
  if (!table) return;
  for (TextAt& name : table->names()) {
    if (table->holds_table(name.value)) {
      auto reader = table->table(name.value);
      SecretText& secret = out.emplace_back();
      secret.name = std::move(name);
      read(*reader, secret);
    } else if (auto path = table->text(name.value, secret_values)) {
      const Place at = path->at;
      out.push_back({.name = std::move(name), .at = at, .file = std::move(path)});
    }
  }
}

RedactionChoiceText TextReader::choice_of(TextOrTable value) {
  RedactionChoiceText choice;
  if (value.table) {
    read(*value.table, choice);
  } else {
    choice.both = std::move(value.text);
  }
  return choice;
}

void TextReader::actions(std::string_view key, std::vector<DetectorText>& out,
                         std::string_view /*about*/) {
  auto table = reader_.table(key);
  if (!table) return;
  for (TextAt& name : table->names()) {
    RedactionChoiceText choice = choice_of(table->text_or_table(name.value));
    out.push_back({std::move(name), std::move(choice)});
  }
}

void TextReader::table(std::string_view key, RedactionText& out, std::string_view /*about*/) {
  if (auto reader = reader_.table(key)) read(*reader, out);
}

void TextReader::listen(std::string_view key, std::optional<HttpText>& out,
                        std::string_view about) {
  if (auto reader = reader_.table("listen")) {
    for (const char* misplaced : {"address", "port", "socket", "mode", "group", "token"}) {
      reader->refuse(misplaced, "stands in [listen.http]; did you mean that table?");
    }
    TextReader(*reader).table(key, out, about);
  }
  reader_.refuse(key, "is no table of its own; did you mean [listen.http]?");
}

}  // namespace cellblock
