#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "policy/base/result.h"

/// What the manifest of an MCPB bundle asks its user for (`user_config`), and what it is told. The
/// manifest is untrusted text. Pure.
namespace cellblock::cli {

enum class SettingKind : std::uint8_t { text, number, boolean, path };

struct BundleSetting {
  std::string key;
  std::string title;  ///< for people; the key where the manifest has none
  SettingKind kind = SettingKind::text;
  bool is_required = false;
  bool is_secret = false;
  bool takes_many = false;
  std::vector<std::string> defaults;  ///< empty: there is none
  std::pair<double, double> range;    ///< of a number: the least and the most
};

/// Keyed by setting. An optional setting without a value is absent; one with an empty list is
/// empty.
using SettingValues = std::map<std::string, std::vector<std::string>>;

/// What the manifest asks for. An error: more than 64 settings, or one of an unknown type.
Result<std::vector<BundleSetting>> bundle_settings(const nlohmann::ordered_json& manifest);

/// What `given` (KEY=VALUE each) and the defaults say, with `~`, `${HOME}` and the like as places
/// below `home`, and relative paths below `directory`. An error: an unknown key, a value that the
/// setting does not take, or two for one that takes one.
struct SettingPlaces {
  std::string home;
  std::string directory;
};
Result<SettingValues> setting_values(const std::vector<BundleSetting>& settings,
                                     const std::vector<std::string>& given,
                                     const SettingPlaces& places);

/// The required settings that have no value.
std::vector<BundleSetting> missing_settings(const std::vector<BundleSetting>& settings,
                                            const SettingValues& values);

}  // namespace cellblock::cli
