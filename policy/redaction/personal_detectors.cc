#include "policy/redaction/personal_detectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "policy/redaction/check_digits.h"

namespace cellblock {

namespace {

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

}  // namespace

std::span<const Detector> personal_detectors() {
  static const std::vector<Detector> detectors = [] {
    std::vector<Detector> all = names_and_places();
    std::ranges::move(numbers(), std::back_inserter(all));
    return all;
  }();
  return detectors;
}

}  // namespace cellblock
