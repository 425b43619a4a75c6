#include "policy/encoding/sha256.h"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

namespace cellblock {
namespace {

struct Free {
  void operator()(EVP_MD* algorithm) const { ::EVP_MD_free(algorithm); }
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};

// Looked for once: to find it takes longer than to digest a line of the audit log.
const EVP_MD* algorithm() {
  static const std::unique_ptr<EVP_MD, Free> found(::EVP_MD_fetch(nullptr, "SHA256", nullptr));
  return found.get();
}

EVP_MD_CTX* context() {
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> own(::EVP_MD_CTX_new());
  return own.get();
}

}  // namespace

Sha256 sha256(std::string_view bytes) { return sha256(bytes, {}); }

Sha256 sha256(std::string_view first, std::string_view second) {
  Sha256 digest{};
  EVP_MD_CTX* const state = context();
  const bool done = algorithm() != nullptr && state != nullptr &&
                    ::EVP_DigestInit_ex2(state, algorithm(), nullptr) == 1 &&
                    ::EVP_DigestUpdate(state, first.data(), first.size()) == 1 &&
                    ::EVP_DigestUpdate(state, second.data(), second.size()) == 1 &&
                    ::EVP_DigestFinal_ex(state, digest.data(), nullptr) == 1;
  if (!done) throw std::runtime_error("libcrypto has no SHA-256");
  return digest;
}

}  // namespace cellblock
