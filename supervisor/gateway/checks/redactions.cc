#include "supervisor/gateway/checks/redactions.h"

#include <utility>
#include <vector>

namespace cellblock::gateway {

void Redactions::reconfigure() {
  for (auto& [server, entry] : entries_) {
    // Its cells are ending, and may still print a secret that it had.
    if (!config_.servers[server].is_usable()) continue;
    Source source = source_of(server);
    if (source == entry.source) continue;
    entry.redactor = made_from(source);
    entry.source = std::move(source);
    ++entry.revision;
  }
}

Redactions::Source Redactions::source_of(std::uint32_t server) const {
  const Server& declared = config_.servers[server];
  Source source{.rules = declared.redaction, .marks = declared.secret_marks, .secrets = {}};
  source.secrets.reserve(declared.secrets.size());
  for (const SecretVariable& secret : declared.secrets) source.secrets.push_back(secret.name);
  return source;
}

Result<Redactor> Redactions::made_from(const Source& source) {
  return Redactor::make({source.rules, source.marks, source.secrets}, scanners_);
}

Redactions::Entry& Redactions::entry(std::uint32_t server) {
  const auto known = entries_.find(server);
  if (known != entries_.end()) return known->second;
  Source source = source_of(server);
  auto redactor = made_from(source);
  return entries_
      .emplace(server, Entry{.source = std::move(source),
                             .redactor = std::move(redactor),
                             .to_server = {},
                             .to_host = {}})
      .first->second;
}

void Redactions::add(std::uint32_t server, Direction direction, const FoundCounts& found) {
  Entry& its = entry(server);
  FoundCounts& all = direction == Direction::to_server ? its.to_server : its.to_host;
  for (const auto& [name, count] : found) all[name] += count;
}

const FoundCounts* Redactions::found(std::uint32_t server, Direction direction) const {
  const auto its = entries_.find(server);
  if (its == entries_.end()) return nullptr;
  return direction == Direction::to_server ? &its->second.to_server : &its->second.to_host;
}

std::string Redactions::clean(std::uint32_t server, std::string_view text) {
  const Result<Redactor>& redactor = of(server);
  if (!redactor) return "[redacted]";
  if (!redactor->watches(Direction::to_host)) return std::string(text);
  FoundCounts found;
  std::string cleaned = redactor->of_text(Direction::to_host, text, found);
  add(server, Direction::to_host, found);
  return cleaned;
}

bool Redactions::watches_host(std::uint32_t server) {
  const Result<Redactor>& redactor = of(server);
  return !redactor || redactor->watches(Direction::to_host);
}

std::optional<std::string> Redactions::clean_json(std::uint32_t server, std::string_view json) {
  const Result<Redactor>& redactor = of(server);
  if (!redactor) return std::nullopt;
  const Redaction made = redactor->of_json(Direction::to_host, json, {});
  add(server, Direction::to_host, made.found);
  if (made.is_blocked) return std::nullopt;
  if (made.edits.empty()) return std::string(json);
  std::string cleaned = EditedMessage(json, made.edits).flatten();
  cleaned.pop_back();  // the newline
  return cleaned;
}

}  // namespace cellblock::gateway
