#include "policy/redaction/secret_marks.h"

#include <openssl/sha.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "policy/base/trimmed.h"

namespace cellblock {
namespace {

constexpr std::size_t piece_length = 32;
static_assert(2 * piece_length - 1 == longest_piece);

std::uint64_t odd_number(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number | 1U;
}

// `take(std::string_view piece)`: the pieces of all lines that are long enough.
template <class Take>
void for_each_piece(std::string_view secret, Take take) {
  secret = secret.substr(0, most_marked_bytes);
  while (!secret.empty()) {
    const std::size_t newline = secret.find('\n');
    std::string_view line = trimmed(secret.substr(0, newline));
    while (line.size() > longest_piece) {
      take(line.substr(0, piece_length));
      line.remove_prefix(piece_length);
    }
    if (line.size() >= shortest_marked) take(line);
    if (newline == std::string_view::npos) return;
    secret.remove_prefix(newline + 1);
  }
}

}  // namespace

std::uint64_t first_word(std::string_view text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data(), sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word;
}

MarkKey::MarkKey(const MarkKeyBytes& key)
    : key_(key), start_(odd_number(key.data())), whole_(odd_number(key.data() + 8)) {}

// The last word overlaps the one before it, so that no byte is left out.
std::uint16_t MarkKey::whole_tag(std::string_view piece) const {
  std::uint64_t hash = piece.size();
  for (std::size_t at = 0; at < piece.size(); at += 8) {
    hash = (hash ^ first_word(piece.substr(std::min(at, piece.size() - 8)))) * whole_;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint16_t>((hash * whole_) >> (64 - tag_bits));
}

MarkDigest MarkKey::digest(std::string_view piece) const {
  std::array<std::uint8_t, sizeof key_ + longest_piece> bytes{};
  const std::size_t length = std::min(piece.size(), longest_piece);
  std::memcpy(bytes.data(), key_.data(), key_.size());
  std::memcpy(bytes.data() + key_.size(), piece.data(), length);
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> whole{};
  ::SHA256(bytes.data(), key_.size() + length, whole.data());
  explicit_bzero(bytes.data(), bytes.size());
  MarkDigest digest{};
  std::copy_n(whole.begin(), digest.size(), digest.begin());
  return digest;
}

SecretMarks mark_secrets(std::span<const std::string> values, const MarkKeyBytes& key) {
  SecretMarks made{.key = key, .marks = {}};
  const MarkKey with(key);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    for_each_piece(values[i], [&](std::string_view piece) {
      made.marks.push_back({i, static_cast<std::uint8_t>(piece.size()),
                            with.start_tag(first_word(piece)), with.whole_tag(piece),
                            with.digest(piece)});
    });
  }
  return made;
}

bool is_too_short_to_mark(std::string_view secret) {
  bool is_marked = false;
  for_each_piece(secret, [&](std::string_view) { is_marked = true; });
  return !is_marked;
}

Secrets in_places_of(const Config& merged, const Config& fresh, Secrets secrets) {
  Secrets placed;
  placed.servers.resize(merged.servers.size());
  for (std::size_t i = 0; i < fresh.servers.size() && i < secrets.servers.size(); ++i) {
    const auto place = std::ranges::find(merged.servers, fresh.servers[i].name, &Server::name);
    if (place == merged.servers.end()) continue;
    const auto index = static_cast<std::size_t>(place - merged.servers.begin());
    placed.servers[index] = std::move(secrets.servers[i]);
  }
  return placed;
}

void keep_marks(const Config& used, Config& fresh, const Secrets& secrets) {
  for (std::size_t i = 0; i < fresh.servers.size() && i < secrets.servers.size(); ++i) {
    const auto& values = secrets.servers[i].values;
    const auto before = std::ranges::find(used.servers, fresh.servers[i].name, &Server::name);
    if (values.empty() || before == used.servers.end()) continue;
    if (mark_secrets(values, before->secret_marks.key) == before->secret_marks) {
      fresh.servers[i].secret_marks = before->secret_marks;
    }
  }
}

}  // namespace cellblock
