#include "policy/encoding/ed25519.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <climits>
#include <cstddef>
#include <span>
#include <utility>

#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock {
namespace {

constexpr std::size_t id_bytes = 8;

struct FreeSource {
  void operator()(BIO* source) const { ::BIO_free(source); }
};
using Source = std::unique_ptr<BIO, FreeSource>;

struct FreeState {
  void operator()(EVP_MD_CTX* state) const { ::EVP_MD_CTX_free(state); }
};
using State = std::unique_ptr<EVP_MD_CTX, FreeState>;

// Without it libcrypto asks the terminal for a password.
int no_password(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*data*/) { return -1; }

using ReadPem = EVP_PKEY* (*)(BIO*, EVP_PKEY**, pem_password_cb*, void*);

KeyHandle read_pem(std::string_view pem, ReadPem read) {
  if (pem.size() > INT_MAX) return nullptr;
  const Source source(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return KeyHandle(source ? read(source.get(), nullptr, no_password, nullptr) : nullptr);
}

Result<KeyHandle> of_ed25519(KeyHandle key) {
  if (::EVP_PKEY_is_a(key.get(), "ED25519") == 1) return key;
  const char* const name = ::EVP_PKEY_get0_type_name(key.get());
  return fail(std::string("the key's type is ") + (name != nullptr ? name : "unknown") +
              ": only Ed25519 is taken (openssl genpkey -algorithm ed25519)");
}

std::array<std::uint8_t, 32> public_bytes(const EVP_PKEY* key) {
  std::array<std::uint8_t, 32> bytes{};
  std::size_t size = bytes.size();
  ::EVP_PKEY_get_raw_public_key(key, bytes.data(), &size);
  return bytes;
}

std::string id_of(const EVP_PKEY* key) {
  const auto bytes = public_bytes(key);
  const Sha256 digest = sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return hex_text(std::span(digest).first<id_bytes>());
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

void FreeKey::operator()(evp_pkey_st* key) const { ::EVP_PKEY_free(key); }

VerifyingKey::VerifyingKey(KeyHandle key) : key_(std::move(key)), id_(id_of(key_.get())) {}

Result<VerifyingKey> VerifyingKey::from_pem(std::string_view pem) {
  KeyHandle key = read_pem(pem, ::PEM_read_bio_PUBKEY);
  if (key) return VerifyingKey(CELLBLOCK_TRY(of_ed25519(std::move(key))));
  if (pem.contains("PRIVATE KEY-----")) {
    return fail("it holds a private key: write its public one with openssl pkey -in KEY -pubout");
  }
  return fail("it holds no public key in PEM (openssl pkey -in KEY -pubout)");
}

bool VerifyingKey::has_signed(std::string_view text, const Ed25519Signature& signature) const {
  const State state(::EVP_MD_CTX_new());
  return state && ::EVP_DigestVerifyInit(state.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         ::EVP_DigestVerify(state.get(), signature.data(), signature.size(), bytes_of(text),
                            text.size()) == 1;
}

Result<SigningKey> SigningKey::from_pem(std::string_view pem) {
  KeyHandle key = read_pem(pem, ::PEM_read_bio_PrivateKey);
  if (key) return SigningKey(CELLBLOCK_TRY(of_ed25519(std::move(key))));
  if (pem.contains("ENCRYPTED")) {
    return fail("the key is encrypted with a password: only a plain one is taken");
  }
  if (pem.contains("PUBLIC KEY-----"))
    return fail("it holds a public key: only a private one signs");
  return fail("it holds no private key in PEM (openssl genpkey -algorithm ed25519)");
}

Result<Ed25519Signature> SigningKey::sign(std::string_view text) const {
  Ed25519Signature signature{};
  std::size_t size = signature.size();
  const State state(::EVP_MD_CTX_new());
  const bool is_signed =
      state && ::EVP_DigestSignInit(state.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
      ::EVP_DigestSign(state.get(), signature.data(), &size, bytes_of(text), text.size()) == 1 &&
      size == signature.size();
  if (!is_signed) return fail("libcrypto cannot sign with this key");
  return signature;
}

VerifyingKey SigningKey::verifying() const {
  ::EVP_PKEY_up_ref(key_.get());
  return VerifyingKey(KeyHandle(key_.get()));
}

}  // namespace cellblock
