#include "client/cli/host_files/host_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "client/cli/host_files/host_entries.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Replacement {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

// From the end, so that the places before it hold.
std::string replaced(std::string_view text, std::vector<Replacement> replacements) {
  std::ranges::sort(replacements, std::ranges::greater(), &Replacement::begin);
  std::string result(text);
  for (const auto& one : replacements) result.replace(one.begin, one.end - one.begin, one.text);
  return result;
}

const HostEntry* entry_with(const std::vector<HostEntry>& entries,
                            const std::vector<std::string>& path) {
  const auto found = std::ranges::find(entries, path, &HostEntry::path);
  return found == entries.end() ? nullptr : &*found;
}

std::string_view text_of_entry(std::string_view text, const HostEntry& entry) {
  return text.substr(entry.begin, entry.end - entry.begin);
}

// ---- JSON ----

bool has_comment(std::string_view text, std::string_view plain) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != plain[at] && text[at] != ',') return true;
  }
  return false;
}

std::string margin_at(std::string_view text, std::size_t place) {
  const auto newline = text.rfind('\n', place);
  const auto begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto end = std::min(text.find_first_not_of(" \t", begin), text.size());
  return std::string(text.substr(begin, end - begin));
}

struct Indentation {
  std::string margin;  ///< of the line on which the entry begins
  std::string step;    ///< what its members have more; empty: all stands on one line
};

Indentation indentation_of(std::string_view text, const HostEntry& entry) {
  Indentation found{.margin = margin_at(text, entry.begin), .step = {}};
  const auto newline = text.find('\n', entry.begin);
  if (newline == std::string_view::npos || newline >= entry.end) return found;
  const auto inner = margin_at(text, newline + 1);
  found.step = inner.starts_with(found.margin) ? inner.substr(found.margin.size()) : "  ";
  if (found.step.empty()) found.step = "  ";
  return found;
}

// nlohmann indents with one character that is repeated: all steps here are of blanks or of tabs.
std::string written(const Json& value, const Indentation& indentation) {
  if (indentation.step.empty()) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const auto lines = value.dump(static_cast<int>(indentation.step.size()), indentation.step[0],
                                false, Json::error_handler_t::replace);
  std::string text;
  for (const char byte : lines) {
    text += byte;
    if (byte == '\n') text += indentation.margin;
  }
  return text;
}

Result<std::string> connecting_json(std::string_view text, const HostEntry& entry,
                                    const std::vector<std::string>& arguments) {
  const auto own = text_of_entry(text, entry);
  const auto plain = CELLBLOCK_TRY(plain_json(own, max_import_depth));
  if (has_comment(own, plain)) return fail("it has a comment in it, which would be lost");
  return written(connecting_entry(entry.value, arguments), indentation_of(text, entry));
}

// ---- both ----

nlohmann::json unordered(const Json& value) {
  return nlohmann::json::parse(value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

Result<Json> document_of(std::string_view text) {
  return looks_like_json(text) ? json_of_json(text) : json_of_toml(text);
}

void set_entry(Json& document, const Connection& connection, bool is_json) {
  Json* place = &document;
  for (const auto& name : connection.path) place = &(*place)[name];
  *place = connecting_entry(std::move(*place), connection.arguments);
  if (!is_json) (*place)["env_vars"] = Json::array({passed_variable});
}

// Whatever was misread in the text shows here: nothing else may have changed.
Result<void> prove(std::string_view before, std::string_view after,
                   const std::vector<Connection>& connections) {
  auto expected = CELLBLOCK_TRY(document_of(before));
  for (const auto& one : connections) set_entry(expected, one, looks_like_json(before));
  const auto found = document_of(after);
  if (found && unordered(*found) == unordered(expected)) return {};
  return fail("it is written in a way that cannot be changed without changing something else");
}

}  // namespace

Result<std::string> connected_text(std::string_view text,
                                   const std::vector<Connection>& connections) {
  const auto entries = CELLBLOCK_TRY(host_entries(text));
  std::vector<Replacement> replacements;
  for (const auto& [path, arguments] : connections) {
    const auto* entry = entry_with(entries, path);
    if (entry == nullptr) return fail(fmt::format("{}: it is not there", safe_line(path.back())));
    auto fresh = looks_like_json(text) ? connecting_json(text, *entry, arguments)
                                       : connecting_toml(text_of_entry(text, *entry), arguments);
    if (!fresh) {
      return fail(fmt::format("{}: {}", safe_line(path.back()), fresh.error().text));
    }
    replacements.push_back({.begin = entry->begin, .end = entry->end, .text = *std::move(fresh)});
  }
  auto result = replaced(text, std::move(replacements));
  CELLBLOCK_CHECK(prove(text, result, connections));
  return result;
}

Result<std::string> restored_text(std::string_view text, std::string_view before) {
  const auto entries = CELLBLOCK_TRY(host_entries(text));
  const auto old_entries = CELLBLOCK_TRY(restored_entries(text, before));
  std::vector<Replacement> replacements;
  for (const auto& old : old_entries) {
    const auto* entry = entry_with(entries, old.path);
    replacements.push_back({.begin = entry->begin,
                            .end = entry->end,
                            .text = std::string(text_of_entry(before, old))});
  }
  auto result = replaced(text, std::move(replacements));
  CELLBLOCK_CHECK(document_of(result));
  return result;
}

Result<std::vector<HostEntry>> restored_entries(std::string_view text, std::string_view before) {
  const auto entries = CELLBLOCK_TRY(host_entries(text));
  auto old_entries = CELLBLOCK_TRY(host_entries(before));
  std::erase_if(old_entries, [&](const HostEntry& old) {
    const auto* entry = entry_with(entries, old.path);
    return entry == nullptr || !is_cellblock(entry->value) || is_cellblock(old.value);
  });
  return old_entries;
}

}  // namespace cellblock::cli
