#include "client/cli/install/pip_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <vector>

#include "client/cli/terminal/terminal_text.h"
#include "policy/encoding/hex.h"

namespace cellblock::cli {
namespace {

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      result += text[at];
      continue;
    }
    std::string digits(text.substr(at + 1, 2));
    std::ranges::transform(digits, digits.begin(), [](unsigned char byte) {
      return static_cast<char>(std::tolower(byte));
    });
    std::array<std::uint8_t, 1> byte{};
    if (!read_hex_text(digits, byte)) return std::nullopt;
    result += static_cast<char>(byte[0]);
    at += 2;
  }
  return result;
}

// Words as netrc(5) has them: a quoted one may have blanks. A comment goes to the end of its line.
class NetrcWords {
 public:
  explicit NetrcWords(std::string_view text) : rest_(text) {}

  std::optional<std::string> next() {
    skip_blanks();
    if (rest_.empty()) return std::nullopt;
    return rest_.front() == '"' ? quoted() : plain();
  }

  // To the next empty line.
  void skip_macro() {
    const auto end = rest_.find("\n\n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }

 private:
  static bool is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

  void skip_blanks() {
    while (!rest_.empty()) {
      const auto end = std::ranges::find_if_not(rest_, is_blank);
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.begin()));
      if (!rest_.starts_with('#')) return;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
  }

  std::string plain() {
    const auto end = std::ranges::find_if(rest_, is_blank);
    std::string word(rest_.begin(), end);
    rest_.remove_prefix(word.size());
    return word;
  }

  std::string quoted() {
    std::string word;
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      word += rest_.front();
      rest_.remove_prefix(1);
    }
    if (!rest_.empty()) rest_.remove_prefix(1);
    return word;
  }

  std::string_view rest_;
};

void set_field(const std::string& name, const std::string& value, IndexLogin& login) {
  if (name == "login") login.user = value;
  if (name == "password") login.password = value;
}

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "-._~+/=:@!*";
  return std::ranges::all_of(text, [marks](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || marks.contains(byte);
  });
}

}  // namespace

Result<IndexAddress> index_address(const std::string& url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return IndexAddress{.url = url, .login = {}};
  const auto host = scheme + 3;
  const auto authority = url.substr(host, url.find_first_of("/?#", host) - host);
  const auto at = authority.rfind('@');
  if (at == std::string::npos) return IndexAddress{.url = url, .login = {}};
  const auto colon = std::min(authority.find(':'), at);
  const auto user = percent_decoded(authority.substr(0, colon));
  const auto password =
      percent_decoded(authority.substr(std::min(colon + 1, at), at - std::min(colon + 1, at)));
  const auto plain = url.substr(0, host) + url.substr(host + at + 1);
  if (user && password) {
    return IndexAddress{.url = plain, .login = IndexLogin{.user = *user, .password = *password}};
  }
  return fail(
      fmt::format("the name or password in the configured address of {} is not encoded as "
                  "in an address",
                  safe_line(plain)));
}

std::string host_of_index(const std::string& url) {
  const auto begin = url.find("://") + 3;
  const auto host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  return host.substr(0, host.find(':'));
}

std::optional<IndexLogin> netrc_login(std::string_view text, const std::string& host) {
  NetrcWords words(text);
  std::optional<IndexLogin> found;
  bool is_own = false;
  for (auto word = words.next(); word; word = words.next()) {
    const bool begins_entry = *word == "machine" || *word == "default";
    if (begins_entry && found) break;
    if (*word == "macdef") {
      words.skip_macro();
    } else if (begins_entry) {
      is_own = *word == "machine" && words.next() == host;
      if (is_own) found.emplace();
    } else {
      const auto value = words.next().value_or("");
      if (is_own) set_field(*word, value, *found);
    }
  }
  return found;
}

UvIndex uv_index(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals > text.find("://")) return {.name = {}, .url = text};
  return {.name = text.substr(0, equals), .url = text.substr(equals + 1)};
}

std::string uv_login_prefix(const std::string& name) {
  std::string prefix = "UV_INDEX_";
  for (const char byte : name) {
    const auto letter = static_cast<unsigned char>(byte);
    prefix += std::isalnum(letter) != 0 ? static_cast<char>(std::toupper(letter)) : '_';
  }
  return prefix + "_";
}

Result<std::string> netrc_line(const std::string& host, const IndexLogin& login) {
  if (login.user.empty() || !is_token(login.user) || !is_token(login.password)) {
    return fail(fmt::format(
        "the name or password of the index at {} is empty or has characters that no token has",
        safe_line(host)));
  }
  const auto password = login.password.empty() ? "\"\"" : login.password;
  return fmt::format("machine {} login {} password {}\n", host, login.user, password);
}

}  // namespace cellblock::cli
