#include "supervisor/kernel/sha256.h"

#include <openssl/evp.h>

namespace cellblock {

Result<Sha256> sha256(std::string_view bytes) {
  Sha256 digest{};
  unsigned size = 0;
  const int done =
      ::EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, ::EVP_sha256(), nullptr);
  if (done != 1 || size != digest.size()) return fail("SHA-256 is not to be had");
  return digest;
}

}  // namespace cellblock
