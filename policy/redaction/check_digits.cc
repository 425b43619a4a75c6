#include "policy/redaction/check_digits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace cellblock {

namespace {

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

}  // namespace

bool is_card_number(std::string_view text) {
  const std::string digits = digits_of(text);
  return digits.size() >= 14 && has_luhn_sum(digits) &&
         std::ranges::any_of(brands,
                             [&](const Brand& brand) { return is_of_brand(digits, brand); });
}

bool is_social_security_number(std::string_view text) {
  const std::string digits = digits_of(text);
  if (digits.size() != 9) return false;
  const std::string_view number = digits;
  const unsigned area = number_of(number.substr(0, 3));
  return area != 0 && area != 666 && area < 900 && number_of(number.substr(3, 2)) != 0 &&
         number_of(number.substr(5)) != 0;
}

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

}  // namespace cellblock
