#include "policy/encoding/base64.h"

#include <openssl/evp.h>

namespace cellblock {
namespace {

using Byte = unsigned char;

const Byte* bytes_of(std::string_view text) { return reinterpret_cast<const Byte*>(text.data()); }

}  // namespace

std::string base64_text(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = ::EVP_EncodeBlock(reinterpret_cast<Byte*>(text.data()), bytes_of(bytes),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// The library counts padding as bytes that are zero, and forgives white space and stray bits.
std::optional<std::string> base64_bytes(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = ::EVP_DecodeBlock(reinterpret_cast<Byte*>(bytes.data()), bytes_of(text),
                                     static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(bytes.size() - padding);
  if (base64_text(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace cellblock
