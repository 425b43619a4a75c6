#include "supervisor/daemon/load/file_digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include "supervisor/os/file_stamp.h"

namespace cellblock {
namespace {

constexpr off_t longest_file = 4LL << 30;
constexpr std::size_t chunk_bytes = 64U << 10;

struct ContextFree {
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextFree>;

// 0 at the end of the file.
Result<std::size_t> read_some(const Fd& file, std::array<unsigned char, chunk_bytes>& chunk) {
  for (;;) {
    const ssize_t size = ::read(file.get(), chunk.data(), chunk.size());
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) return fail("cannot be read");
  }
}

Result<void> feed(const Fd& file, EVP_MD_CTX* context) {
  std::array<unsigned char, chunk_bytes> chunk{};
  off_t total = 0;
  for (;;) {
    const std::size_t size = CELLBLOCK_TRY(read_some(file, chunk));
    if (size == 0) return {};
    total += static_cast<off_t>(size);
    if (total > longest_file) return fail("is larger than 4GiB");
    if (::EVP_DigestUpdate(context, chunk.data(), size) != 1) return fail("cannot be digested");
  }
}

std::string hex_of(const std::array<unsigned char, EVP_MAX_MD_SIZE>& bytes, unsigned size) {
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes.at(i));
  return text;
}

Result<std::string> sha256_of(const Fd& file) {
  const Context context(::EVP_MD_CTX_new());
  if (context == nullptr || ::EVP_DigestInit_ex(context.get(), ::EVP_sha256(), nullptr) != 1) {
    return fail("SHA-256 is not to be had");
  }
  CELLBLOCK_CHECK(feed(file, context.get()));
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (::EVP_DigestFinal_ex(context.get(), bytes.data(), &size) != 1) {
    return fail("cannot be digested");
  }
  return hex_of(bytes, size);
}

}  // namespace

Result<FileDigest> digest_of(const TrustedFile& file) {
  if (!S_ISREG(file.status.st_mode)) return fail("is not a regular file");
  const auto opened = reopen_for_reading(file);
  if (!opened) return fail("cannot be opened: " + opened.error().text());
  const auto before = stamp_of(*opened);
  auto sha256 = CELLBLOCK_TRY(sha256_of(*opened));
  const auto after = stamp_of(*opened);
  if (!before || !after || *before != *after) return fail("changed while it was read");
  return FileDigest{std::move(sha256), *after};
}

}  // namespace cellblock
