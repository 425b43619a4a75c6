#include "supervisor/gateway/message/sealer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace cellblock::gateway {

namespace {

using Byte = unsigned char;

constexpr std::size_t nonce_size = 12;
constexpr std::size_t tag_size = 16;
constexpr std::size_t expiry_size = 8;
constexpr std::size_t overhead = nonce_size + expiry_size + tag_size;
constexpr std::size_t max_sealed = overhead + Sealer::max_payload;
constexpr std::size_t max_text = (max_sealed * 4 + 2) / 3;

struct ContextFree {
  void operator()(EVP_CIPHER_CTX* context) const { ::EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, ContextFree>;

const Byte* bytes_of(const void* data) { return static_cast<const Byte*>(data); }

int length_of(std::span<const Byte> bytes) { return static_cast<int>(bytes.size()); }

// --- base64url -----------------------------------------------------------------------------------

void translate(std::span<char> text, std::string_view from, std::string_view to) {
  for (char& c : text) {
    if (const std::size_t at = from.find(c); at != std::string_view::npos) c = to[at];
  }
}

std::string to_text(std::span<const Byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  ::EVP_EncodeBlock(reinterpret_cast<Byte*>(text.data()), bytes.data(), length_of(bytes));
  text.resize((bytes.size() * 4 + 2) / 3);
  translate(text, "+/", "-_");
  return text;
}

std::optional<std::string> from_text(std::string_view text) {
  if (text.size() > max_text || text.size() % 4 == 1) return std::nullopt;
  std::string padded{text};
  translate(padded, "-_", "+/");
  padded.append((4 - padded.size() % 4) % 4, '=');
  std::string bytes(padded.size() / 4 * 3, '\0');
  const int decoded = ::EVP_DecodeBlock(reinterpret_cast<Byte*>(bytes.data()),
                                        bytes_of(padded.data()), static_cast<int>(padded.size()));
  if (decoded < 0) return std::nullopt;
  bytes.resize(text.size() * 3 / 4);
  // The decoder forgives white space and stray bits: one value would have many spellings.
  if (to_text({bytes_of(bytes.data()), bytes.size()}) != text) return std::nullopt;
  return bytes;
}

// --- what is sealed, and to what -----------------------------------------------------------------

template <class Integer>
void append(std::string& bytes, Integer value) {
  const auto raw = static_cast<std::uint64_t>(value);
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    bytes.push_back(static_cast<char>(raw >> (8 * i)));
  }
}

// Of fixed length, so that no two bindings have the same bytes.
std::string bytes_of(const SealBinding& binding) {
  std::string bytes;
  append(bytes, std::to_underlying(binding.purpose));
  append(bytes, binding.server);
  append(bytes, binding.session);
  append(bytes, binding.cell);
  return bytes;
}

std::int64_t ticks_of(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t leading_ticks(std::string_view plain) {
  std::uint64_t raw = 0;
  for (std::size_t i = 0; i < expiry_size; ++i) {
    raw |= static_cast<std::uint64_t>(static_cast<Byte>(plain[i])) << (8 * i);
  }
  return static_cast<std::int64_t>(raw);
}

// --- AES-256-GCM ---------------------------------------------------------------------------------

struct Parameters {
  const Byte* key;
  const Byte* nonce;
  std::string_view bound_to;
};

bool encrypt(const Parameters& by, std::string_view plain, Byte* cipher, Byte* tag) {
  const Context context(::EVP_CIPHER_CTX_new());
  EVP_CIPHER_CTX* const c = context.get();
  int done = 0;
  return c != nullptr &&
         ::EVP_EncryptInit_ex(c, ::EVP_aes_256_gcm(), nullptr, by.key, by.nonce) == 1 &&
         ::EVP_EncryptUpdate(c, nullptr, &done, bytes_of(by.bound_to.data()),
                             static_cast<int>(by.bound_to.size())) == 1 &&
         ::EVP_EncryptUpdate(c, cipher, &done, bytes_of(plain.data()),
                             static_cast<int>(plain.size())) == 1 &&
         ::EVP_EncryptFinal_ex(c, cipher + done, &done) == 1 &&
         ::EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, tag_size, tag) == 1;
}

bool decrypt(const Parameters& by, std::string_view cipher, Byte* plain, std::string tag) {
  const Context context(::EVP_CIPHER_CTX_new());
  EVP_CIPHER_CTX* const c = context.get();
  int done = 0;
  return c != nullptr &&
         ::EVP_DecryptInit_ex(c, ::EVP_aes_256_gcm(), nullptr, by.key, by.nonce) == 1 &&
         ::EVP_DecryptUpdate(c, nullptr, &done, bytes_of(by.bound_to.data()),
                             static_cast<int>(by.bound_to.size())) == 1 &&
         ::EVP_DecryptUpdate(c, plain, &done, bytes_of(cipher.data()),
                             static_cast<int>(cipher.size())) == 1 &&
         ::EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, tag_size, tag.data()) == 1 &&
         ::EVP_DecryptFinal_ex(c, plain + done, &done) == 1;
}

}  // namespace

Sealer::Sealer(Fill fill) : fill_(std::move(fill)) { fill_(key_); }

Sealer::~Sealer() { ::OPENSSL_cleanse(key_.data(), key_.size()); }

std::optional<std::string> Sealer::seal(const SealBinding& binding, Time expires,
                                        std::string_view payload) {
  if (payload.size() > max_payload) return std::nullopt;
  std::string plain;
  append(plain, ticks_of(expires));
  plain += payload;

  std::string sealed(nonce_size + plain.size() + tag_size, '\0');
  auto* const nonce = reinterpret_cast<Byte*>(sealed.data());
  fill_(std::as_writable_bytes(std::span(sealed).first(nonce_size)));
  Byte* const cipher = nonce + nonce_size;
  const std::string bound_to = bytes_of(binding);
  if (!encrypt({bytes_of(key_.data()), nonce, bound_to}, plain, cipher, cipher + plain.size())) {
    return std::nullopt;
  }
  return to_text({nonce, sealed.size()});
}

std::optional<std::string> Sealer::open(const SealBinding& binding, std::string_view text,
                                        Time now) const {
  const auto bytes = from_text(text);
  if (!bytes || bytes->size() < overhead) return std::nullopt;
  const std::string_view sealed = *bytes;
  const std::string_view cipher = sealed.substr(nonce_size, sealed.size() - nonce_size - tag_size);
  const std::string bound_to = bytes_of(binding);

  std::string plain(cipher.size(), '\0');
  if (!decrypt({bytes_of(key_.data()), bytes_of(sealed.data()), bound_to}, cipher,
               reinterpret_cast<Byte*>(plain.data()),
               std::string{sealed.substr(sealed.size() - tag_size)})) {
    return std::nullopt;
  }
  if (ticks_of(now) >= leading_ticks(plain)) return std::nullopt;
  return plain.substr(expiry_size);
}

}  // namespace cellblock::gateway
