#pragma once

#include <string_view>

/// The rules by which numbers of persons and cards are told from other numbers. Each takes the
/// number as it is written; spaces and hyphens do not count.
namespace cellblock {

/// Length and first digits of a card's brand, and Luhn's sum.
bool is_card_number(std::string_view text);

/// What the Social Security Administration has given out, or could: no area 000, 666 or 900 and
/// above, no group 00, no serial 0000.
bool is_social_security_number(std::string_view text);

/// ISO 13616: the length of its country, where that is known, and the remainder modulo 97.
bool is_iban(std::string_view text);

/// Ten digits, the last of them the check digit of the NHS (modulo 11).
bool is_nhs_number(std::string_view text);

}  // namespace cellblock
