#include "client/cli/import/propose/configured_bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr std::string_view setting_begin = "${user_config.";

/// Fills in one text after the other, and notes what stood in it.
class Filling {
 public:
  Filling(const std::vector<BundleSetting>& settings, const SettingValues& values)
      : settings_(settings), values_(values) {}

  /// In one pass: a value that looks like a placeholder stays what it is.
  std::string filled(const std::string& text) {
    has_secret_ = false;
    without_value_.clear();
    std::string result;
    std::size_t at = 0;
    for (auto begin = text.find(setting_begin); begin != std::string::npos;
         begin = text.find(setting_begin, at)) {
      const auto end = text.find('}', begin);
      if (end == std::string::npos) break;
      const auto key_at = begin + setting_begin.size();
      result += text.substr(at, begin - at) + value_for(text.substr(key_at, end - key_at));
      at = end + 1;
    }
    return result + text.substr(at);
  }

  /// The words that a setting alone stands for; none: the text is more than that.
  const std::vector<std::string>* words_for(const std::string& text) const {
    if (!text.starts_with(setting_begin) || text.find('}') + 1 != text.size()) return nullptr;
    const auto key = text.substr(setting_begin.size(), text.size() - setting_begin.size() - 1);
    const auto found = values_.find(key);
    const auto setting = std::ranges::find(settings_, key, &BundleSetting::key);
    const bool is_list = found != values_.end() && setting != settings_.end() &&
                         setting->takes_many && !setting->is_secret;
    return is_list ? &found->second : nullptr;
  }

  bool has_secret() const { return has_secret_; }
  /// The last setting without a value; empty: all had one.
  const std::string& without_value() const { return without_value_; }

 private:
  std::string value_for(const std::string& key) {
    const auto setting = std::ranges::find(settings_, key, &BundleSetting::key);
    has_secret_ = has_secret_ || (setting != settings_.end() && setting->is_secret);
    const auto found = values_.find(key);
    if (found == values_.end()) {
      without_value_ = key;
      return {};
    }
    return fmt::format("{}", fmt::join(found->second, ","));
  }

  const std::vector<BundleSetting>& settings_;
  const SettingValues& values_;
  bool has_secret_ = false;
  std::string without_value_;
};

Result<std::vector<std::string>> filled_command(const std::vector<std::string>& command,
                                                Filling& filling) {
  std::vector<std::string> words;
  for (const auto& word : command) {
    if (const auto* list = filling.words_for(word)) {
      std::ranges::copy(*list, std::back_inserter(words));
      continue;
    }
    words.push_back(filling.filled(word));
    if (filling.has_secret()) {
      return fail(
          "its manifest puts a secret among the words of its command, where every program on this "
          "machine could read it: it cannot be added");
    }
    if (!filling.without_value().empty()) {
      return fail(fmt::format("its command needs {0}: --set {0}=VALUE",
                              safe_line(filling.without_value())));
    }
  }
  return words;
}

// `${HOME}` and the like, which a cell has no value for.
bool has_unknown_placeholder(const std::string& text) {
  const auto known = filled_in(text, {.own_directory = "/"});
  for (auto at = known.find("${"); at != std::string::npos; at = known.find("${", at + 1)) {
    if (known.compare(at, setting_begin.size(), setting_begin) != 0) return true;
  }
  return false;
}

}  // namespace

Result<DeclaredServer> with_settings(DeclaredServer server,
                                     const std::vector<BundleSetting>& settings,
                                     const SettingValues& values) {
  Filling filling(settings, values);
  server.command = CELLBLOCK_TRY(filled_command(server.command, filling));
  std::vector<DeclaredVariable> variables;
  for (auto& variable : server.variables) {
    if (has_unknown_placeholder(variable.value)) {
      server.unheeded.push_back(
          fmt::format("the variable {} (it is left to another kind of host)", variable.name));
      continue;
    }
    variable.value = filling.filled(variable.value);
    variable.secret = variable.secret || filling.has_secret();
    if (filling.without_value().empty()) {
      variables.push_back(std::move(variable));
    } else {
      server.unheeded.push_back(
          fmt::format("the variable {} (no --set {})", variable.name, filling.without_value()));
    }
  }
  server.variables = std::move(variables);
  return server;
}

}  // namespace cellblock::cli
