#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "policy/egress/dns_message.h"

/// ClientHellos made by hand, for tests.
namespace cellblock::egress {

inline std::string extension(unsigned type, std::string_view content) {
  std::string out;
  put16(out, type);
  put16(out, static_cast<unsigned>(content.size()));
  return out.append(content);
}

inline std::string server_name(std::string_view name, unsigned type = 0) {
  std::string list;
  put8(list, type);
  put16(list, static_cast<unsigned>(name.size()));
  list.append(name);
  std::string out;
  put16(out, static_cast<unsigned>(list.size()));
  return extension(0, out.append(list));
}

inline std::string hello_message(std::string_view extensions) {
  std::string body("\x03\x03", 2);
  body.append(32, 'r');
  put8(body, 0);
  body.append("\0\2\x13\1\1\0", 6);
  put16(body, static_cast<unsigned>(extensions.size()));
  body.append(extensions);
  std::string out;
  put8(out, 1);
  put8(out, 0);
  put16(out, static_cast<unsigned>(body.size()));
  return out.append(body);
}

inline std::string records(std::string_view message, std::size_t each = 16'384) {
  std::string out;
  for (; !message.empty(); message.remove_prefix(std::min(each, message.size()))) {
    const std::string_view part = message.substr(0, each);
    out.append("\x16\x03\x01");
    put16(out, static_cast<unsigned>(part.size()));
    out.append(part);
  }
  return out;
}

inline std::string hello_for(std::string_view name) {
  return records(hello_message(extension(23, "") + server_name(name)));
}

/// A random of 32 bytes.
inline std::string server_hello(std::string_view random, std::size_t each = 16'384) {
  std::string message("\2\0\0\x28\3\3", 6);
  message.append(random).append("\0\x13\1\0\0\0", 6);
  return records(message, each);
}

}  // namespace cellblock::egress
