#include "client/cli/import/read/secret_guess.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <ranges>
#include <vector>

#include "policy/redaction/scanner.h"

namespace cellblock::cli {
namespace {

constexpr std::array<std::string_view, 17> secret_words = {
    "key",           "apikey", "token", "secret",     "password",    "passwd",
    "passphrase",    "pwd",    "pat",   "credential", "credentials", "auth",
    "authorization", "bearer", "dsn",   "cookie",     "pass"};
constexpr std::array<std::string_view, 6> endings = {"token",  "secret", "password",
                                                     "apikey", "passwd", "accesskey"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return result;
}

bool is_letter(char byte) { return byte >= 'a' && byte <= 'z'; }

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char byte : lower(name)) {
    if (is_letter(byte)) {
      words.back() += byte;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

std::shared_ptr<const Scanner> make_scanner() {
  std::vector<std::string> names;
  for (const Detector* detector : all_detectors()) {
    if ((detector->sets & credentials_set) != 0) names.emplace_back(detector->name);
  }
  return Scanner::compile(names, {}).value_or(nullptr);
}

bool is_known_secret(const std::string& value) {
  static const auto scanner = make_scanner();
  if (scanner == nullptr) return true;
  std::vector<Finding> found;
  scanner->find(value, found);
  return !found.empty();
}

bool is_of_keys(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
         std::string_view("-_+=.").find(byte) != std::string_view::npos;
}

// Long, one word, digits between letters: no text that a person would write.
bool is_random(std::string_view value) {
  if (value.size() < 24 || !std::ranges::all_of(value, is_of_keys)) return false;
  const auto digits =
      std::ranges::count_if(value, [](unsigned char byte) { return std::isdigit(byte) != 0; });
  return digits >= 3;
}

}  // namespace

bool is_placeholder(std::string_view value) {
  const auto words = words_of(value);
  const bool is_marked = value.find("${") != std::string_view::npos ||
                         (value.starts_with('$') && value.size() > 1) ||
                         (value.starts_with('<') && value.ends_with('>')) ||
                         (value.starts_with("{{") && value.ends_with("}}"));
  const bool says_so = words.front() == "your" || words.front() == "changeme" ||
                       words.front() == "todo" || value.starts_with("xxx") ||
                       value.starts_with("XXX");
  return is_marked || (says_so && value.find('/') == std::string_view::npos);
}

bool sounds_secret(std::string_view name) {
  return std::ranges::any_of(words_of(name), [](const std::string& word) {
    return std::ranges::find(secret_words, word) != secret_words.end() ||
           std::ranges::any_of(endings, [&word](auto end) { return word.ends_with(end); });
  });
}

bool has_password(std::string_view value) {
  const auto scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const auto authority =
      value.substr(scheme + 3, value.find_first_of("/?#", scheme + 3) - scheme - 3);
  const auto user = authority.substr(0, std::min(authority.rfind('@'), authority.size()));
  const auto colon = user.find(':');
  return user.size() < authority.size() && colon != std::string_view::npos &&
         colon + 1 < user.size();
}

bool looks_secret(const std::string& value) {
  return has_password(value) || is_random(value) || is_known_secret(value);
}

}  // namespace cellblock::cli
