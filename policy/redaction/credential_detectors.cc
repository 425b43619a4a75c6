#include "policy/redaction/credential_detectors.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace cellblock {

namespace {

constexpr std::size_t longest_private_key = 64U << 10;

// Up to its end line; without one, as much as a key can be. What is inside may be escaped.
TextRange private_key(const DetectorMatch& match) {
  constexpr std::string_view end_of_key = "-----END ";
  constexpr std::string_view dashes = "KEY-----";
  const std::string_view rest = match.text.substr(match.whole.end, longest_private_key);
  std::size_t end = rest.find(end_of_key);
  if (end != std::string_view::npos) end = rest.find(dashes, end);
  end = end == std::string_view::npos ? rest.size() : end + dashes.size();
  return {match.whole.begin, match.whole.end + end};
}

bool has(std::string_view text, char first, char last) {
  return std::ranges::any_of(text, [=](char letter) { return letter >= first && letter <= last; });
}

// Names of classes and packages look like keys that have no digits or capitals.
TextRange random_looking(const DetectorMatch& match) {
  const std::string_view key = match.found();
  const bool is_random = has(key, '0', '9') && has(key, 'A', 'Z') && has(key, 'a', 'z');
  return is_random ? match.group : TextRange{};
}

// 40 letters and digits may be a digest in hexadecimal, or the beginning of something else.
TextRange aws_secret_key(const DetectorMatch& match) {
  constexpr std::string_view alphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=";
  const bool is_digest =
      match.found().find_first_not_of("0123456789abcdef") == std::string_view::npos;
  const std::size_t end = match.group.end;
  const bool goes_on = end < match.text.size() && alphabet.contains(match.text[end]);
  return is_digest || goes_on ? TextRange{} : match.group;
}

// The places that examples fill in: <password>, ${PASSWORD}, {password}, ***.
TextRange no_placeholder(const DetectorMatch& match) {
  const std::string_view password = match.found();
  const bool is_placeholder = std::string_view("<{$%*").contains(password.front()) ||
                              password.find_first_not_of("*x.") == std::string_view::npos;
  return is_placeholder ? TextRange{} : match.group;
}

std::vector<Detector> general() {
  return {
      {"private_key", credentials_set, R"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----)",
       private_key},
      {"putty_key", credentials_set, R"(PuTTY-User-Key-File-[23]: (?s:.+?)Private-MAC: [0-9a-f]+)",
       nullptr},
      {"age_key", credentials_set, R"(\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b)", nullptr},
      {"jwt", credentials_set,
       R"(\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*)?)", nullptr},
      {"authorization", credentials_set,
       R"((?i)\bauthorization\W+(?:bearer|basic|token|bot)\s+([0-9A-Za-z._~+/=-]{8,}))", nullptr},
      {"url_password", credentials_set,
       R"((?i)\b[a-z][a-z0-9+.-]*://[^\s/:@"'<>\\]*:([^\s/@"'<>\\]{3,})@)", no_placeholder},
  };
}

std::vector<Detector> of_clouds() {
  return {
      {"aws_access_key", credentials_set, R"(\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b)", nullptr},
      {"aws_secret_key", credentials_set,
       R"((?i:secret[_-]?(?:access[_-]?)?key)\W+([0-9A-Za-z/+]{40}))", aws_secret_key},
      {"google_api_key", credentials_set, R"(\bAIza[0-9A-Za-z_-]{35})", nullptr},
      {"google_oauth", credentials_set,
       R"(\b(?:ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{28}))", nullptr},
      {"azure_key", credentials_set,
       R"((?i:(?:account|sharedaccess)key)\W+([0-9A-Za-z+/]{43,86}={1,2}))", nullptr},
      {"digitalocean_token", credentials_set, R"(\bdo[opr]_v1_[0-9a-f]{64}\b)", nullptr},
      {"vault_token", credentials_set, R"(\bhv[bsr]\.[0-9A-Za-z_-]{24,})", nullptr},
      {"docker_token", credentials_set, R"(\bdckr_(?:pat|oat)_[0-9A-Za-z_-]{24,})", nullptr},
      {"databricks_token", credentials_set, R"(\bdapi[0-9a-f]{32}\b)", nullptr},
  };
}

std::vector<Detector> of_code() {
  return {
      {"github_token", credentials_set,
       R"(\b(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}))", nullptr},
      {"gitlab_token", credentials_set,
       R"(\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas|imt)-[0-9A-Za-z_.-]{20,})", nullptr},
      {"npm_token", credentials_set, R"(\bnpm_[0-9A-Za-z]{36}\b)", nullptr},
      {"pypi_token", credentials_set, R"(\bpypi-AgE[0-9A-Za-z_-]{50,})", nullptr},
      {"atlassian_token", credentials_set, R"(\bAT[AC]TT3xFf[0-9A-Za-z_=-]{50,})", nullptr},
      {"linear_key", credentials_set, R"(\blin_(?:api|oauth)_[0-9A-Za-z]{32,})", nullptr},
  };
}

std::vector<Detector> of_services() {
  return {
      {"slack_token", credentials_set,
       R"(\b(?:xox[abeoprs](?:\.xox[bp])?|xapp)-[0-9]+-[0-9A-Za-z-]{10,})", nullptr},
      {"slack_webhook", credentials_set,
       R"(\bhooks\.slack\.com/(?:services|workflows)/(T[0-9A-Z]{6,}/[0-9A-Z]{6,}/[0-9A-Za-z/]{20,}))",
       nullptr},
      {"discord_token", credentials_set,
       R"(\b[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,40}\b)", nullptr},
      {"telegram_token", credentials_set, R"(\b[0-9]{8,10}:AA[0-9A-Za-z_-]{33}\b)", nullptr},
      {"model_api_key", credentials_set,
       R"(\bsk-(?:(?:ant|proj|svcacct|admin|or)-)?[0-9A-Za-z_-]{32,})", random_looking},
      {"huggingface_token", credentials_set, R"(\bhf_[0-9A-Za-z]{34}\b)", random_looking},
      {"stripe_key", credentials_set,
       R"(\b(?:[rs]k_(?:live|test)_[0-9A-Za-z]{16,}|whsec_[0-9A-Za-z+/]{32,}))", nullptr},
      {"sendgrid_key", credentials_set, R"(\bSG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43})", nullptr},
      {"twilio_key", credentials_set, R"(\bSK[0-9a-f]{32}\b)", nullptr},
      {"shopify_token", credentials_set, R"(\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}\b)", nullptr},
      {"notion_token", credentials_set, R"(\bntn_[0-9A-Za-z]{43,})", nullptr},
  };
}

}  // namespace

std::span<const Detector> credential_detectors() {
  static const std::vector<Detector> detectors = [] {
    std::vector<Detector> all = general();
    for (auto& some : {of_clouds(), of_code(), of_services()}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return detectors;
}

}  // namespace cellblock
