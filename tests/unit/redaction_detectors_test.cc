#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policy/redaction/detectors.h"
#include "policy/redaction/scanner.h"

/// Each detector with what it is for, and with what only looks like it.
namespace cellblock {
namespace {

std::string letters(std::size_t count) {
  constexpr std::string_view some = "a1B2c3D4e5F6g7H8i9J0";
  std::string text;
  while (text.size() < count) text += some[text.size() % some.size()];
  return text;
}
std::string hex(std::size_t count) {
  std::string text;
  while (text.size() < count) text += "0123456789abcdef"[text.size() % 16];
  return text;
}
std::string capitals(std::size_t count) {
  std::string text;
  while (text.size() < count) text += "ABCDEFGH234567"[text.size() % 14];
  return text;
}

struct Case {
  std::string detector;
  std::string text;
  std::string found;  ///< empty: nothing
};

std::vector<std::string> found_in(const std::string& detector, const std::string& text) {
  const std::vector<std::string> names{detector};
  const auto scanner = Scanner::compile(names, {});
  EXPECT_TRUE(scanner.has_value()) << detector << (scanner ? "" : scanner.error().text);
  if (!scanner) return {};
  std::vector<Finding> found;
  (*scanner)->find(text, found);
  // What is found in a text is not overlooked in a message that has it.
  EXPECT_TRUE(found.empty() || (*scanner)->may_find("{\"text\":\"" + text + "\"}")) << text;
  std::vector<std::string> texts;
  for (const Finding& finding : found) {
    texts.push_back(text.substr(finding.where.begin, finding.where.end - finding.where.begin));
  }
  return texts;
}

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const auto expected =
        one.found.empty() ? std::vector<std::string>{} : std::vector<std::string>{one.found};
    EXPECT_EQ(found_in(one.detector, one.text), expected) << one.detector << ": " << one.text;
  }
}

/// The same: in the middle of a text. None: glued to a word.
Case within(const std::string& detector, const std::string& token) {
  return {detector, "it is " + token + " (keep it)", token};
}

const std::string pem =
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nxyz=\n-----END RSA PRIVATE KEY-----";

TEST(Detectors, FindKeysOfIssuersByTheirForm) {
  check({
      within("aws_access_key", "AKIA" + capitals(16)),
      within("google_api_key", "AIza" + letters(35)),
      within("google_oauth", "ya29." + letters(60)),
      within("google_oauth", "GOCSPX-" + letters(28)),
      within("github_token", "ghp_" + letters(36)),
      within("github_token", "github_pat_" + letters(22) + "_" + letters(59)),
      within("gitlab_token", "glpat-" + letters(20)),
      within("slack_token", "xoxb-123456789012-" + letters(24)),
      within("slack_token", "xapp-1-" + letters(40)),
      within("telegram_token", "123456789:AA" + letters(33)),
      within("discord_token", "M" + letters(25) + "." + letters(6) + "." + letters(30)),
      within("npm_token", "npm_" + letters(36)),
      within("pypi_token", "pypi-AgE" + letters(60)),
      within("model_api_key", "sk-proj-" + letters(48)),
      within("model_api_key", "sk-ant-" + letters(48)),
      within("huggingface_token", "hf_" + letters(34)),
      within("stripe_key", "sk_live_" + letters(24)),
      within("stripe_key", "whsec_" + letters(32)),
      within("sendgrid_key", "SG." + letters(22) + "." + letters(43)),
      within("twilio_key", "SK" + hex(32)),
      within("digitalocean_token", "dop_v1_" + hex(64)),
      within("vault_token", "hvs." + letters(40)),
      within("docker_token", "dckr_pat_" + letters(27)),
      within("databricks_token", "dapi" + hex(32)),
      within("shopify_token", "shpat_" + hex(32)),
      within("atlassian_token", "ATATT3xFf" + letters(60)),
      within("linear_key", "lin_api_" + letters(40)),
      within("notion_token", "ntn_" + letters(43)),
      within("age_key", "AGE-SECRET-KEY-1" + capitals(58)),
      within("jwt", "eyJ" + letters(20) + ".eyJ" + letters(4000) + "." + letters(43)),
      within("private_key", pem),
  });
}

TEST(Detectors, FindNoKeysInWhatOnlyLooksLikeOne) {
  check({
      {"aws_access_key", "AKIA" + capitals(15), ""},
      {"aws_access_key", "XAKIA" + capitals(16), ""},
      {"google_api_key", "AIza" + letters(34), ""},
      {"github_token", "ghp_" + letters(35), ""},
      {"gitlab_token", "glpat-" + letters(19), ""},
      {"slack_token", "xoxb-tape-and-other-things", ""},
      {"telegram_token", "12:AA" + letters(33), ""},
      {"npm_token", "npm_" + letters(37), ""},
      {"model_api_key", "sk-toggleable__content-and-a-long-class-name", ""},
      {"huggingface_token", "hf_" + std::string(34, 'x'), ""},
      {"stripe_key", "sk_live_short", ""},
      {"twilio_key", "SK" + hex(31), ""},
      {"jwt", "eyJhbGciOi.and a sentence", ""},
      {"private_key", "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", ""},
      {"private_key", "-----BEGIN CERTIFICATE-----", ""},
  });
}

TEST(Detectors, FindKeysBesideTheirLabels) {
  const std::string aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  check({
      {"aws_secret_key", "aws_secret_access_key = " + aws, aws},
      {"aws_secret_key", R"("SecretAccessKey": ")" + aws + '"', aws},
      {"aws_secret_key", "secret_key: " + hex(40), ""},
      {"aws_secret_key", "secret_key: " + letters(64), ""},
      {"azure_key", "AccountName=a;AccountKey=" + letters(86) + "==;", letters(86) + "=="},
      {"azure_key", "AccountKey=none", ""},
      {"authorization", "Authorization: Bearer " + letters(30), letters(30)},
      {"authorization", "authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
      {"authorization", "Authorization is by bearer of this letter", ""},
      {"url_password", "postgres://app:hunter2@db/x", "hunter2"},
      {"url_password", "https://user:pass%21word@host.example/", "pass%21word"},
      {"url_password", "https://user:${PASSWORD}@host.example/", ""},
      {"url_password", "https://host.example:8080/a@b", ""},
      {"slack_webhook", "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/" + letters(24),
       "T0AAAAAAA/B0AAAAAAA/" + letters(24)},
      {"slack_webhook", "https://hooks.slack.com/services/", ""},
      {"putty_key", "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-MAC: " + hex(64),
       "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-MAC: " + hex(64)},
      {"putty_key", "PuTTY-User-Key-File-3: how to make one", ""},
  });
}

TEST(Detectors, TakeAPrivateKeyToItsEnd) {
  check({
      {"private_key", "a " + pem + " b", pem},
      {"private_key", "-----BEGIN PRIVATE KEY-----\nMIIE and no end",
       "-----BEGIN PRIVATE KEY-----\nMIIE and no end"},
  });
  EXPECT_EQ(found_in("private_key", pem + "\n" + pem), (std::vector<std::string>{pem, pem}));
}

TEST(Detectors, TellCardsByBrandAndSum) {
  check({
      {"card", "pay with 4111111111111111 today", "4111111111111111"},
      {"card", "4111 1111 1111 1111", "4111 1111 1111 1111"},
      {"card", "5500-0000-0000-0004", "5500-0000-0000-0004"},
      {"card", "2223003122003222", "2223003122003222"},
      {"card", "3782 822463 10005", "3782 822463 10005"},
      {"card", "6011000990139424", "6011000990139424"},
      {"card", "4111 1111 1111 1111 737", "4111 1111 1111 1111"},
      {"card", "4111111111111112", ""},
      {"card", "1111111111111117", ""},
      {"card", "0.4111111111111111", ""},
      {"card", "x4111111111111111", ""},
      {"card", "41111111111111111111111", ""},
      {"card", "1763830000123456", ""},
  });
}

TEST(Detectors, TellSocialSecurityNumbersByTheirRules) {
  check({
      {"ssn", "123-45-6789", "123-45-6789"},
      {"ssn", "SSN: 123456789", "123456789"},
      {"ssn", "social security number 123 45 6789", "123 45 6789"},
      {"ssn", "123456789", ""},
      {"ssn", "000-45-6789", ""},
      {"ssn", "666-45-6789", ""},
      {"ssn", "900-45-6789", ""},
      {"ssn", "123-00-6789", ""},
      {"ssn", "123-45-0000", ""},
      {"ssn", "1-123-45-6789", ""},
      {"ssn", "123-45-6789-1", ""},
      {"ssn", "ssn: 000456789", ""},
  });
}

TEST(Detectors, TellAddressesAndPhonesFromWhatIsNone) {
  check({
      {"email", "write to anna.b+x@mail.example.org.", "anna.b+x@mail.example.org"},
      {"email", "clone git@github.com:a/b.git", ""},
      {"email", "npm i lodash@4.17.21", ""},
      {"email", "@types/node and user@localhost", ""},
      {"phone", "call (212) 555-0123 now", "(212) 555-0123"},
      {"phone", "+1 212-555-0123", "+1 212-555-0123"},
      {"phone", "212.555.0123", "212.555.0123"},
      {"phone", "+493012345678", "+493012345678"},
      {"phone", "+44 20 7946 0958", "+44 20 7946 0958"},
      {"phone", "2026-11-22", ""},
      {"phone", "1.2.212.555.0123", ""},
      {"phone", "112-555-0123", ""},
      {"phone", "10+20 30", ""},
  });
}

TEST(Detectors, TellBankAccountsByTheirSum) {
  check({
      {"iban", "to DE89 3704 0044 0532 0130 00 please", "DE89 3704 0044 0532 0130 00"},
      {"iban", "GB29NWBK60161331926819", "GB29NWBK60161331926819"},
      {"iban", "GB29NWBK60161331926818", ""},
      {"iban", "DE8937040044053201300", ""},
  });
}

TEST(Detectors, FindDatesOfBirthByTheirLabel) {
  check({
      {"date_of_birth", "DOB: 1980-02-29", "1980-02-29"},
      {"date_of_birth", "Date of birth - 2/29/80", "2/29/80"},
      {"date_of_birth", "patient_dob=29.02.1980", "29.02.1980"},
      {"date_of_birth", "dateOfBirth: 19800229", "19800229"},
      {"date_of_birth", "born on 3 March 1980", "3 March 1980"},
      {"date_of_birth", "birth date: March 3rd, 1980", "March 3rd, 1980"},
      {"date_of_birth", "created: 1980-02-29", ""},
      {"date_of_birth", "adobe 1980-02-29", ""},
      {"date_of_birth", "DOB is not known", ""},
  });
}

TEST(Detectors, FindNumbersOfRecordsAndInsurancesByTheirLabel) {
  check({
      {"medical_record", "MRN: 00123456", "00123456"},
      {"medical_record", "patient_mrn=AB-123456", "AB-123456"},
      {"medical_record", "Medical Record No. 123-45-67", "123-45-67"},
      {"medical_record", "patientId: 55012", "55012"},
      {"medical_record", "MRN unknown", ""},
      {"medical_record", "record 123456", ""},
      {"insurance_number", "Member ID: XYZ123456789", "XYZ123456789"},
      {"insurance_number", "policy number 12-345678", "12-345678"},
      {"insurance_number", "policyNumber: A1234567", "A1234567"},
      {"insurance_number", "a policy of 12 numbers", ""},
      {"insurance_number", "number 12345678", ""},
      {"medicare_number", "1EG4-TE5-MK73", "1EG4-TE5-MK73"},
      {"medicare_number", "1SG4-TE5-MK73", ""},
      {"nhs_number", "NHS number: 943 476 5919", "943 476 5919"},
      {"nhs_number", "NHS number: 943 476 5918", ""},
      {"nhs_number", "9434765919", ""},
      {"passport", "Passport No: C01X00T47", "C01X00T47"},
      {"passport", "passport office", ""},
      {"driving_licence", "Driver's license number: D123-4567-8901", "D123-4567-8901"},
      {"driving_licence", "driving licence needed", ""},
      {"person_name", "Patient name: Anna O'Neil", "Anna O'Neil"},
      {"person_name", "last_name: Meier", "Meier"},
      {"person_name", "file name: Meier", ""},
      {"person_name", "patient name: unknown", ""},
  });
}

TEST(Detectors, HaveNamesOfTheirOwnAndASet) {
  std::set<std::string_view> names;
  for (const Detector* detector : all_detectors()) {
    EXPECT_TRUE(names.insert(detector->name).second) << detector->name;
    EXPECT_NE(detector->sets, 0) << detector->name;
    EXPECT_EQ(find_detector(detector->name), detector);
  }
  EXPECT_EQ(find_detector("no such"), nullptr);
}

TEST(Detectors, LookAtTheNameOfAMemberAsTheLabelOfItsValue) {
  const std::vector<std::string> names{"medical_record", "card"};
  const auto scanner = *Scanner::compile(names, {});
  std::vector<Finding> found;
  scanner->find_in_member("mrn", "00123456", found);
  EXPECT_EQ(found, (std::vector<Finding>{{{0, 8}, 0}}));
  found.clear();
  scanner->find_in_member("4111111111111111", "no card", found);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace cellblock
