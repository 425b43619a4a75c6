#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "policy/base/result.h"

struct evp_pkey_st;  // libcrypto's EVP_PKEY

/// Signatures by Ed25519 (RFC 8032). Keys are read from PEM, as `openssl genpkey -algorithm
/// ed25519` and `openssl pkey -pubout` write them; an error says what is wrong with the text.
namespace cellblock {

using Ed25519Signature = std::array<std::uint8_t, 64>;

struct FreeKey {
  void operator()(evp_pkey_st* key) const;
};
using KeyHandle = std::unique_ptr<evp_pkey_st, FreeKey>;

class VerifyingKey {
 public:
  static Result<VerifyingKey> from_pem(std::string_view pem);

  bool has_signed(std::string_view text, const Ed25519Signature& signature) const;
  /// Which key it is: the first 16 hexadecimal digits of the SHA-256 of its 32 bytes.
  const std::string& id() const { return id_; }

 private:
  friend class SigningKey;
  explicit VerifyingKey(KeyHandle key);

  KeyHandle key_;
  std::string id_;
};

class SigningKey {
 public:
  static Result<SigningKey> from_pem(std::string_view pem);

  Result<Ed25519Signature> sign(std::string_view text) const;
  /// The public half of the key.
  VerifyingKey verifying() const;

 private:
  explicit SigningKey(KeyHandle key) : key_(std::move(key)) {}

  KeyHandle key_;
};

}  // namespace cellblock
