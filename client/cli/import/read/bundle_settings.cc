#include "client/cli/import/read/bundle_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "client/cli/import/read/declared_server.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Manifest = nlohmann::ordered_json;

// A manifest can put one value many times into many words.
constexpr std::size_t most_settings = 64;
constexpr std::size_t most_values = 64;
constexpr std::size_t longest_value = 4096;

// ---- what is asked for ----

Result<SettingKind> setting_kind(const std::string& type, const std::string& key) {
  if (type == "string" || type.empty()) return SettingKind::text;
  if (type == "number") return SettingKind::number;
  if (type == "boolean") return SettingKind::boolean;
  if (type == "directory" || type == "file") return SettingKind::path;
  return fail(
      fmt::format("user_config.{}: the type \"{}\" is not known", safe_line(key), safe_line(type)));
}

std::string scalar_of(const Manifest& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> defaults_of(const Manifest& input) {
  const auto found = input.find("default");
  if (found == input.end() || found->is_null() || found->is_object()) return {};
  if (!found->is_array()) return {scalar_of(*found)};
  std::vector<std::string> all;
  for (const auto& value : *found) {
    if (all.size() == most_values) break;
    if (!value.is_structured() && !value.is_null()) all.push_back(scalar_of(value));
  }
  return all;
}

double bound_of(const Manifest& input, const char* name, double otherwise) {
  const auto found = input.find(name);
  return found != input.end() && found->is_number() ? found->get<double>() : otherwise;
}

Result<BundleSetting> read_setting(const std::string& key, const Manifest& input) {
  if (!input.is_object()) return fail(fmt::format("user_config.{} is no object", safe_line(key)));
  constexpr double endless = std::numeric_limits<double>::infinity();
  BundleSetting setting{.key = key, .title = CELLBLOCK_TRY(text_member(input, "title"))};
  if (setting.title.empty()) setting.title = key;
  const auto type = CELLBLOCK_TRY(text_member(input, "type"));
  setting.kind = CELLBLOCK_TRY(setting_kind(type, key));
  setting.is_required = is_true(input, "required");
  setting.is_secret = is_true(input, "sensitive");
  setting.takes_many = is_true(input, "multiple");
  setting.defaults = defaults_of(input);
  setting.range = {bound_of(input, "min", -endless), bound_of(input, "max", endless)};
  return setting;
}

// ---- what it is told ----

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

// As desktop hosts fill them in, for a home with the usual names.
std::string with_home(std::string text, const std::string& home) {
  if (home.empty()) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> usual_places{
      {{"${HOME}", ""},
       {"${DESKTOP}", "/Desktop"},
       {"${DOCUMENTS}", "/Documents"},
       {"${DOWNLOADS}", "/Downloads"}}};
  for (const auto& [name, place] : usual_places) {
    if (text.starts_with(name)) return fmt::format("{}{}{}", home, place, text.substr(name.size()));
  }
  return text == "~" || text.starts_with("~/") ? home + text.substr(1) : text;
}

std::string whole_path(const std::string& text, const SettingPlaces& places) {
  const std::filesystem::path path = with_home(text, places.home);
  const auto whole = path.is_absolute() ? path : std::filesystem::path(places.directory) / path;
  auto normal = whole.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

Result<std::string> taken_value(const BundleSetting& setting, const std::string& text,
                                const SettingPlaces& places) {
  if (text.find('\n') != std::string::npos || text.size() > longest_value) {
    return fail(
        fmt::format("{}: allowed: one line of at most {} bytes", setting.key, longest_value));
  }
  if (setting.kind == SettingKind::path) {
    if (!text.empty()) return whole_path(text, places);
    return fail(fmt::format("{}: allowed: a path; an empty one would be this directory",
                            safe_line(setting.key)));
  }
  if (setting.kind == SettingKind::boolean && text != "true" && text != "false") {
    return fail(fmt::format("{}: allowed: true or false", setting.key));
  }
  if (setting.kind != SettingKind::number) return text;
  const auto number = number_in(text);
  if (!number) return fail(fmt::format("{}: allowed: a number", setting.key));
  if (*number >= setting.range.first && *number <= setting.range.second) return text;
  return fail(fmt::format("{}: allowed: a number from {} to {}", setting.key, setting.range.first,
                          setting.range.second));
}

std::string keys_of(const std::vector<BundleSetting>& settings) {
  std::vector<std::string> keys;
  keys.reserve(settings.size());
  for (const auto& setting : settings) keys.push_back(safe_line(setting.key));
  return keys.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(keys, ", "));
}

Result<void> take_given(const std::vector<BundleSetting>& settings, const std::string& word,
                        const SettingPlaces& places, SettingValues& values) {
  const auto equals = std::min(word.find('='), word.size());
  const auto key = word.substr(0, equals);
  const auto found = std::ranges::find(settings, key, &BundleSetting::key);
  if (found == settings.end()) {
    return fail(fmt::format("--set {}: it does not ask for that; it asks for {}", safe_line(key),
                            keys_of(settings)));
  }
  auto& own = values[key];
  if (!own.empty() && !found->takes_many) {
    return fail(fmt::format("--set {}: it takes one value", safe_line(key)));
  }
  const auto text = equals < word.size() ? word.substr(equals + 1) : std::string();
  auto value = taken_value(*found, text, places);
  if (!value) return fail("--set " + safe_line(value.error().text));
  own.push_back(*std::move(value));
  if (own.size() <= most_values) return {};
  return fail(fmt::format("--set {}: it takes at most {} values", safe_line(key), most_values));
}

}  // namespace

Result<std::vector<BundleSetting>> bundle_settings(const Manifest& manifest) {
  const auto& asked = object_member(manifest, "user_config");
  if (asked.size() > most_settings) {
    return fail(fmt::format("it asks for more than {} settings", most_settings));
  }
  std::vector<BundleSetting> settings;
  for (const auto& [key, input] : asked.items()) {
    settings.push_back(CELLBLOCK_TRY(read_setting(key, input)));
  }
  return settings;
}

Result<SettingValues> setting_values(const std::vector<BundleSetting>& settings,
                                     const std::vector<std::string>& given,
                                     const SettingPlaces& places) {
  SettingValues values;
  for (const auto& word : given) CELLBLOCK_CHECK(take_given(settings, word, places, values));
  for (const auto& setting : settings) {
    if (setting.defaults.empty() || values.contains(setting.key)) continue;
    for (const auto& text : setting.defaults) {
      if (text.empty() && setting.kind == SettingKind::path) continue;
      values[setting.key].push_back(
          CELLBLOCK_TRY(taken_value(setting, with_home(text, places.home), places)));
    }
  }
  return values;
}

std::vector<BundleSetting> missing_settings(const std::vector<BundleSetting>& settings,
                                            const SettingValues& values) {
  std::vector<BundleSetting> missing;
  std::ranges::copy_if(settings, std::back_inserter(missing), [&](const BundleSetting& setting) {
    const auto found = values.find(setting.key);
    const bool is_empty = found == values.end() || found->second == std::vector<std::string>{""};
    return setting.is_required && is_empty;
  });
  return missing;
}

}  // namespace cellblock::cli
