#include "policy/redaction/detectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>

namespace cellblock {
namespace {

// The rules by which numbers of persons and cards are told from other numbers. Each takes the
// number as it is written; spaces and hyphens do not count.

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::string digits_of(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), is_digit);
  return digits;
}

unsigned number_of(std::string_view digits) {
  unsigned number = 0;
  for (const char digit : digits) number = number * 10 + static_cast<unsigned>(digit - '0');
  return number;
}

bool has_luhn_sum(std::string_view digits) {
  unsigned sum = 0;
  bool is_doubled = false;
  for (std::size_t i = digits.size(); i-- > 0; is_doubled = !is_doubled) {
    const auto digit = static_cast<unsigned>(digits[i] - '0');
    sum += !is_doubled ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 == 0;
}

/// Cards whose first digits lie between these are of these lengths.
struct Brand {
  unsigned first;
  unsigned last;
  std::size_t prefix;
  std::array<std::size_t, 2> lengths;
};

constexpr std::array brands = {
    Brand{4, 4, 1, {16, 19}},        // Visa
    Brand{51, 55, 2, {16, 16}},      // Mastercard
    Brand{2221, 2720, 4, {16, 16}},  // Mastercard
    Brand{34, 34, 2, {15, 15}},      // American Express
    Brand{37, 37, 2, {15, 15}},      // American Express
    Brand{300, 305, 3, {14, 14}},    // Diners Club
    Brand{36, 36, 2, {14, 14}},      // Diners Club
    Brand{38, 39, 2, {14, 14}},      // Diners Club
    Brand{6011, 6011, 4, {16, 19}},  // Discover
    Brand{644, 659, 3, {16, 19}},    // Discover
    Brand{3528, 3589, 4, {16, 19}},  // JCB
    Brand{62, 62, 2, {16, 19}},      // UnionPay
};

bool is_of_brand(std::string_view digits, const Brand& brand) {
  const unsigned prefix = number_of(digits.substr(0, brand.prefix));
  return prefix >= brand.first && prefix <= brand.last &&
         std::ranges::find(brand.lengths, digits.size()) != brand.lengths.end();
}

struct Country {
  std::string_view code;
  std::size_t length;
};

constexpr std::array countries = {
    Country{"AT", 20}, Country{"BE", 16}, Country{"BG", 22}, Country{"CH", 21}, Country{"CZ", 24},
    Country{"DE", 22}, Country{"DK", 18}, Country{"EE", 20}, Country{"ES", 24}, Country{"FI", 18},
    Country{"FR", 27}, Country{"GB", 22}, Country{"GR", 27}, Country{"HU", 28}, Country{"IE", 22},
    Country{"IT", 27}, Country{"LT", 20}, Country{"LU", 20}, Country{"LV", 21}, Country{"NL", 18},
    Country{"NO", 15}, Country{"PL", 28}, Country{"PT", 25}, Country{"RO", 24}, Country{"SE", 24},
    Country{"SI", 19}, Country{"SK", 24}, Country{"TR", 26},
};

bool has_length_of_country(std::string_view iban) {
  const auto country = std::ranges::find(countries, iban.substr(0, 2), &Country::code);
  if (country != countries.end()) return iban.size() == country->length;
  return iban.size() >= 15 && iban.size() <= 34;
}

// Length and first digits of a card's brand, and Luhn's sum.
bool is_card_number(std::string_view text) {
  const std::string digits = digits_of(text);
  return digits.size() >= 14 && has_luhn_sum(digits) &&
         std::ranges::any_of(brands,
                             [&](const Brand& brand) { return is_of_brand(digits, brand); });
}

// What the Social Security Administration has given out, or could: no area 000, 666 or 900 and
// above, no group 00, no serial 0000.
bool is_social_security_number(std::string_view text) {
  const std::string digits = digits_of(text);
  if (digits.size() != 9) return false;
  const std::string_view number = digits;
  const unsigned area = number_of(number.substr(0, 3));
  return area != 0 && area != 666 && area < 900 && number_of(number.substr(3, 2)) != 0 &&
         number_of(number.substr(5)) != 0;
}

// ISO 13616: the length of its country, where that is known, and the remainder modulo 97.
bool is_iban(std::string_view text) {
  std::string iban(text);
  std::erase_if(iban, [](char letter) { return letter == ' ' || letter == '-'; });
  if (!has_length_of_country(iban)) return false;
  std::ranges::rotate(iban, iban.begin() + 4);
  unsigned remainder = 0;
  for (const char letter : iban) {
    const auto value = static_cast<unsigned>(is_digit(letter) ? letter - '0' : letter - 'A' + 10);
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return remainder == 1;
}

// Ten digits, the last of them the check digit of the NHS (modulo 11).
bool is_nhs_number(std::string_view text) {
  const std::string digits = digits_of(text);
  if (digits.size() != 10) return false;
  unsigned sum = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    sum += static_cast<unsigned>(digits[i] - '0') * static_cast<unsigned>(10 - i);
  }
  const unsigned check = (11 - sum % 11) % 11;
  return check < 10 && check == static_cast<unsigned>(digits[9] - '0');
}

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

// Keys and tokens, by the forms that their issuers gave them so that they can be found.
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

bool is_word(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || letter == '_';
}

char before(const DetectorMatch& match) {
  return match.whole.begin == 0 ? ' ' : match.text[match.whole.begin - 1];
}

char after(const DetectorMatch& match) {
  return match.whole.end == match.text.size() ? ' ' : match.text[match.whole.end];
}

bool is_number_part(char letter) { return is_word(letter) || letter == '-' || letter == '.'; }

TextRange if_true(bool is_one, const DetectorMatch& match) {
  return is_one ? match.group : TextRange{};
}

// A longer one may be a shorter one and three digits more, a security code or an age.
TextRange card(const DetectorMatch& match) {
  if (is_number_part(before(match)) || is_word(after(match))) return {};
  if (is_card_number(match.found())) return match.group;
  const std::size_t space = match.found().find_last_of(" -");
  if (space == std::string_view::npos) return {};
  return if_true(is_card_number(match.found().substr(0, space)),
                 {match.text, match.whole, {match.group.begin, match.group.begin + space}});
}

TextRange social_security(const DetectorMatch& match) {
  const bool stands_alone =
      !is_number_part(before(match)) && !is_word(after(match)) && after(match) != '-';
  return if_true(stands_alone && is_social_security_number(match.found()), match);
}

TextRange iban(const DetectorMatch& match) { return if_true(is_iban(match.found()), match); }

TextRange nhs_number(const DetectorMatch& match) {
  return if_true(is_nhs_number(match.found()), match);
}

// The user of a remote repository is nobody.
TextRange email(const DetectorMatch& match) {
  const std::string_view address = match.found();
  return if_true(!address.starts_with("git@") && address.front() != '.', match);
}

TextRange phone(const DetectorMatch& match) {
  return if_true(!is_number_part(before(match)) && before(match) != '+' && !is_word(after(match)) &&
                     after(match) != '-',
                 match);
}

TextRange with_a_digit(const DetectorMatch& match) {
  return if_true(match.found().find_first_of("0123456789") != std::string_view::npos, match);
}

// A label begins where a word does, or behind an underscore (`patient_mrn`), and ends where its
// value begins: in the same text, or as the value of the member that has this name.
const std::string number_suffix = "[ _-]?(?:number|num|nr|no|id|identifier)?";

std::string labelled(std::string_view label, std::string_view value) {
  return fmt::format(R"((?i:(?:\b|_)(?:{}))\W+{})", label, value);
}

std::string date() {
  constexpr std::string_view month =
      R"((?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?)";
  constexpr std::string_view in_numbers =
      R"([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/. ][0-9]{1,2}[-/. ][0-9]{2,4}|[0-9]{8}\b)";
  return fmt::format(
      R"(({}|[0-9]{{1,2}}(?:st|nd|rd|th)?[. -]{{1,2}}{},?[ -][0-9]{{2,4}}|{} [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}}))",
      in_numbers, month, month);
}

std::vector<Detector> numbers() {
  return {
      {"card", pii_set,
       R"(\b[2-6][0-9]{13,18}\b|\b[2-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}(?:[ -][0-9]{3})?\b)"
       R"(|\b3[0-9]{3}[ -][0-9]{6}[ -][0-9]{4,5}\b)",
       card},
      {"ssn", pii_set | phi_set,
       R"(\b[0-8][0-9]{2}[ -][0-9]{2}[ -][0-9]{4}\b|)" +
           labelled("ssn|social[ _-]?security(?:[ _-]?(?:number|num|no))?", R"(([0-8][0-9]{8})\b)"),
       social_security},
      {"iban", pii_set, R"(\b[A-Z]{2}[0-9]{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,3})?\b)", iban},
      {"passport", pii_set,
       labelled("passport" + number_suffix, R"((?i:(?:number|no|nr)\W+)?([0-9A-Z]{6,9})\b)"),
       with_a_digit},
      {"driving_licence", pii_set,
       labelled("(?:driver'?s?|driving)[ _-]?licen[cs]e" + number_suffix,
                R"((?i:(?:number|no|nr)\W+)?([0-9A-Z][0-9A-Z -]{3,18}[0-9A-Z])\b)"),
       with_a_digit},
      {"medical_record", phi_set,
       labelled("mrn|(?:medical|health|patient)[ _-]?record" + number_suffix +
                    "|(?:patient|chart)[ _-]?(?:number|num|no|id|identifier)|mr[ _-]?no",
                R"((?i:(?:number|no|nr)\W+)?([A-Za-z]{0,4}-?[0-9][0-9-]{2,14}[A-Za-z]?)\b)"),
       nullptr},
      {"insurance_number", phi_set,
       labelled("(?:insurance|policy|member|membership|subscriber|beneficiary|health[ _-]?plan|"
                "medicaid|medicare|claim)[ _-]?(?:policy[ _-]?)?(?:number|num|nr|no|id|identifier)",
                R"(([A-Za-z]{0,5}-?[0-9][0-9A-Za-z-]{3,17})\b)"),
       nullptr},
      {"medicare_number", phi_set,
       R"(\b[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y][0-9]-?[AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y])"
       R"([0-9]-?[AC-HJKMNP-RT-Y]{2}[0-9]{2}\b)",
       nullptr},
      {"nhs_number", phi_set,
       labelled("nhs" + number_suffix,
                R"((?i:(?:number|no|nr)\W+)?([0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4})\b)"),
       nhs_number},
  };
}

std::vector<Detector> names_and_places() {
  return {
      {"email", pii_set | phi_set, R"([0-9A-Za-z._%+'-]+@(?:[0-9A-Za-z-]+\.)+[A-Za-z]{2,}\b)",
       email},
      {"phone", pii_set | phi_set,
       R"((?:\+[0-9]{1,3}[ .-]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}\b)"
       R"(|\+[1-9][0-9]{7,14}\b|\+[1-9][0-9]{0,2}(?:[ .-]\(?[0-9]{2,5}\)?){2,5}\b)",
       phone},
      {"person_name", pii_set | phi_set,
       labelled(
           "(?:(?:patient|member|subscriber|insured|beneficiary|customer|employee)(?:'s)?[ _-]?"
           "(?:full[ _-]?)?|full[ _-]?|first[ _-]?|last[ _-]?|middle[ _-]?|maiden[ _-]?|"
           "family[ _-]?|given[ _-]?)name|surname",
           R"(([A-Z][A-Za-z'\x80-\xff-]+(?:,? [A-Z][A-Za-z.'\x80-\xff-]*){0,3}))"),
       nullptr},
      {"date_of_birth", pii_set | phi_set,
       labelled(R"(dob|d\.o\.b|date[ _-]?of[ _-]?birth|birth[ _-]?(?:date|day)|born(?: on)?)",
                date()),
       nullptr},
  };
}

// What tells of a person: by its own form where it has one, else by the label beside it, in the
// same text or as the name of the member.
std::span<const Detector> personal_detectors() {
  static const std::vector<Detector> detectors = [] {
    std::vector<Detector> all = names_and_places();
    std::ranges::move(numbers(), std::back_inserter(all));
    return all;
  }();
  return detectors;
}

}  // namespace

std::vector<const Detector*> all_detectors() {
  std::vector<const Detector*> all;
  for (const auto& detectors : {credential_detectors(), personal_detectors()}) {
    for (const Detector& detector : detectors) all.push_back(&detector);
  }
  return all;
}

const Detector* find_detector(std::string_view name) {
  const auto all = all_detectors();
  const auto found = std::ranges::find(all, name, &Detector::name);
  return found == all.end() ? nullptr : *found;
}

}  // namespace cellblock
