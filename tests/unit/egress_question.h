#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/egress/dns_message.h"

/// DNS questions made by hand, for tests.
namespace cellblock::egress {

/// An OPT record, to be appended; question_for() counts one only if asked to.
inline const std::string edns("\0\0\x29\4\xd0\0\0\0\0\0\0", 11);

inline std::string wire_name(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    put8(out, static_cast<unsigned>(label.size()));
    out.append(label);
    name.remove_prefix(std::min(name.size(), label.size() + 1));
  }
  out.push_back('\0');
  return out;
}

inline std::string question_for(std::string_view name, std::uint16_t type,
                                unsigned additional = 0) {
  std::string out;
  for (const unsigned word : {0x1234U, 0x0100U, 1U, 0U, 0U, additional}) put16(out, word);
  out += wire_name(name);
  put16(out, type);
  put16(out, 1);
  return out;
}

}  // namespace cellblock::egress
