#include "policy/encoding/ed25519.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "policy/encoding/base64.h"
#include "policy/encoding/hex.h"

namespace cellblock {
namespace {

using testing::HasSubstr;

std::string pem_of(const std::string& label, const std::string& hex_of_der) {
  std::string der(hex_of_der.size() / 2, '\0');
  std::vector<std::uint8_t> bytes(der.size());
  EXPECT_TRUE(read_hex_text(hex_of_der, bytes));
  der.assign(bytes.begin(), bytes.end());
  return "-----BEGIN " + label + "-----\n" + base64_text(der) + "\n-----END " + label + "-----\n";
}

// RFC 8032, section 7.1, test 2: the key, and the signature over the byte 0x72. What stands before
// the keys' 32 bytes is their form in DER (RFC 8410).
const std::string private_pem =
    pem_of("PRIVATE KEY",
           "302e020100300506032b657004220420"
           "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
const std::string public_pem =
    pem_of("PUBLIC KEY",
           "302a300506032b6570032100"
           "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
constexpr std::string_view known_signature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
// The same, of X25519, which agrees on keys and signs nothing.
const std::string other_type =
    pem_of("PRIVATE KEY",
           "302e020100300506032b656e04220420"
           "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");

TEST(Ed25519, SignsAsItsStandardDoes) {
  const auto key = SigningKey::from_pem(private_pem);
  ASSERT_TRUE(key) << key.error().text;
  const auto signature = key->sign("r");
  ASSERT_TRUE(signature);
  EXPECT_EQ(hex_text(*signature), known_signature);
}

TEST(Ed25519, ChecksASignatureWithThePublicKeyAlone) {
  const auto key = VerifyingKey::from_pem(public_pem);
  ASSERT_TRUE(key) << key.error().text;
  Ed25519Signature signature{};
  ASSERT_TRUE(read_hex_text(known_signature, signature));
  EXPECT_TRUE(key->has_signed("r", signature));
  EXPECT_FALSE(key->has_signed("s", signature));
  EXPECT_FALSE(key->has_signed("", signature));
  signature[0] ^= 1U;
  EXPECT_FALSE(key->has_signed("r", signature));
}

TEST(Ed25519, GivesBothHalvesOfAKeyOneId) {
  const auto whole = SigningKey::from_pem(private_pem);
  const auto half = VerifyingKey::from_pem(public_pem);
  ASSERT_TRUE(whole && half);
  EXPECT_EQ(whole->verifying().id(), half->id());
  EXPECT_EQ(half->id().size(), 16U);
}

TEST(Ed25519, SaysWhatATextIsThatIsNoKeyForIt) {
  const std::string encrypted = pem_of("ENCRYPTED PRIVATE KEY", "3000");
  const std::vector<std::pair<std::string, std::string>> no_signing{
      {"", "no private key"},
      {public_pem, "it holds a public key"},
      {other_type, "the key's type is X25519"},
      {encrypted, "encrypted"},
      {private_pem.substr(0, private_pem.size() / 2), "no private key"}};
  for (const auto& [text, why] : no_signing) {
    const auto key = SigningKey::from_pem(text);
    ASSERT_FALSE(key) << text;
    EXPECT_THAT(key.error().text, HasSubstr(why));
  }
  const std::vector<std::pair<std::string, std::string>> no_verifying{
      {"", "no public key"}, {private_pem, "it holds a private key"}};
  for (const auto& [text, why] : no_verifying) {
    const auto key = VerifyingKey::from_pem(text);
    ASSERT_FALSE(key) << text;
    EXPECT_THAT(key.error().text, HasSubstr(why));
  }
}

}  // namespace
}  // namespace cellblock
