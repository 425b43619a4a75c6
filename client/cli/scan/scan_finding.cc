#include "client/cli/scan/scan_finding.h"

#include <algorithm>
#include <tuple>

#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/secret_guess.h"

namespace cellblock::cli {

std::string_view name_of(ScanFinding::Kind kind) {
  switch (kind) {
    case ScanFinding::Kind::configured:
      return "configured";
    case ScanFinding::Kind::running:
      return "running";
    case ScanFinding::Kind::listening:
      break;
  }
  return "listening";
}

std::string where_it_leads(std::string_view address) {
  const std::size_t scheme = address.find("://");
  if (scheme == std::string_view::npos) return "an address";
  const std::string_view rest = address.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  return std::string(address.substr(0, scheme + 3)) +
         std::string(authority.substr(authority.rfind('@') + 1));
}

namespace {

constexpr const char* hidden = "[hidden]";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What an option or a variable is called.
bool is_name(std::string_view text) {
  constexpr std::string_view others = "-_.";
  return !text.empty() &&
         std::ranges::all_of(text, [=](char c) { return is_letter(c) || others.contains(c); });
}

// `--token=abc`, `API_KEY=abc`, `Authorization: abc`: what it is called stays. Of an address where
// it leads: the rest may be a key.
std::string without_secret(const std::string& word, bool is_named_secret) {
  const std::size_t sign = word.find_first_of("=:");
  const std::string_view name = std::string_view(word).substr(0, sign);
  const bool has_name = sign != std::string::npos && is_name(name) && sounds_secret(name);
  if (has_name) return word.substr(0, sign + 1) + hidden;
  if (is_named_secret) return hidden;
  if (const std::size_t scheme = word.find("://"); scheme != std::string::npos) {
    return is_name(std::string_view(word).substr(0, scheme)) ? where_it_leads(word) : hidden;
  }
  return looks_secret(word) ? hidden : word;
}

}  // namespace

std::string shown_command(const std::vector<std::string>& command) {
  std::string text;
  bool is_named_secret = false;
  for (const std::string& word : command) {
    const std::string shown = without_secret(word, is_named_secret);
    if (!text.empty()) text += ' ';
    text += shown.contains(hidden) ? shown : plain_or_shell_word(shown);
    is_named_secret = word.starts_with('-') && !word.contains('=') && sounds_secret(word);
  }
  return text;
}

namespace {

auto identity_of(const ScanFinding& finding) {
  const bool is_place = finding.kind == ScanFinding::Kind::configured;
  return std::tuple(finding.kind, std::string_view(finding.user), std::string_view(finding.host),
                    std::string_view(finding.name), std::string_view(finding.command),
                    is_place ? std::string_view(finding.where) : std::string_view());
}

std::vector<ScanFinding> only_in(const std::vector<ScanFinding>& some,
                                 const std::vector<ScanFinding>& others) {
  std::vector<ScanFinding> alone;
  std::ranges::copy_if(some, std::back_inserter(alone), [&](const ScanFinding& one) {
    return std::ranges::none_of(
        others, [&](const ScanFinding& other) { return identity_of(other) == identity_of(one); });
  });
  return alone;
}

}  // namespace

ScanDifference difference_of(const std::vector<ScanFinding>& before,
                             const std::vector<ScanFinding>& now) {
  return {.fresh = only_in(now, before), .gone = only_in(before, now)};
}

}  // namespace cellblock::cli
