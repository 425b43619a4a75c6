#include "client/cli/tools/anchor_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/cli/audit/audit_options.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"
#include "policy/audit/anchor.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_key_bytes = 16U << 10;
// Of less than 256 bytes each.
constexpr std::size_t most_signed_anchors = 4'096;
constexpr std::size_t most_anchor_bytes = most_signed_anchors * 256;

std::unexpected<Error> about(const std::string& path, const std::string& why) {
  return fail(fmt::format("{}: {}", safe_line(path), why));
}

std::unexpected<Error> failed_on(const std::string& path) {
  return about(path, std::generic_category().message(errno));
}

// The group may read: systemd shows its credentials so to the user of a service.
Result<void> check_private(const std::string& path, const struct stat& status) {
  constexpr mode_t too_open = S_IWGRP | S_IRWXO;
  const mode_t mode = status.st_mode;
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return about(path, fmt::format("this private key belongs to another user (uid {}): make a new "
                                   "one in a file of your own",
                                   status.st_uid));
  }
  if ((mode & too_open) == 0) return {};
  return about(path, fmt::format("other users have access to this private key (mode {:04o}): make "
                                 "a new one, and keep it with mode 0600",
                                 mode & 07777U));
}

Result<SigningKey> signing_key_in(const std::string& path) {
  const client::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status{};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return failed_on(path);
  if (!S_ISREG(status.st_mode)) return about(path, "it is no regular file");
  CELLBLOCK_CHECK(check_private(path, status));
  std::string pem = CELLBLOCK_TRY(read_all(file.get(), path, most_key_bytes));
  auto key = SigningKey::from_pem(pem);
  ::explicit_bzero(pem.data(), pem.size());
  if (!key) return about(path, key.error().text);
  return key;
}

Result<VerifyingKey> verifying_key_in(const std::string& path) {
  auto key = VerifyingKey::from_pem(CELLBLOCK_TRY(bounded_file(path, most_key_bytes)));
  if (!key) return about(path, key.error().text);
  return key;
}

Result<std::vector<audit::ChainPoint>> point_in(std::string_view text) {
  return std::vector{CELLBLOCK_TRY(audit::read_anchor(text.substr(0, text.find('\n'))))};
}

Result<KnownAnchors> unsigned_anchor(const std::string& path, std::string_view text) {
  if (audit::has_signed_anchors(text)) {
    return about(path, "it has signed anchors: --sign KEY adds one, --public-key KEY checks them");
  }
  auto points = point_in(text);
  if (!points) return about(path, points.error().text);
  return KnownAnchors{.points = *std::move(points), .anchors = {}, .findings = {}};
}

KnownAnchors signed_anchors(const std::string& path, std::string_view text,
                            const VerifyingKey& key) {
  audit::SignedAnchors checked = audit::check_signed_anchors(text, key);
  KnownAnchors known{.points = {}, .anchors = std::move(checked.anchors), .findings = {}};
  for (const auto& anchor : known.anchors) known.points.push_back(anchor.point);
  for (auto& problem : checked.problems) {
    known.findings.push_back({audit::Grade::broken, path, problem.line, std::move(problem.what)});
  }
  return known;
}

bool is_missing(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found;
}

Result<KnownAnchors> anchors_in_file(const std::string& path, const AnchorKeys& keys) {
  const bool is_written = keys.signing || !keys.verifying;
  if (is_written && is_missing(path)) return KnownAnchors();  // the first time
  const std::string text = CELLBLOCK_TRY(bounded_file(path, most_anchor_bytes));
  // The first time with a key, the one line of the time before is what goes on.
  const bool is_from_before = keys.signing && !text.empty() && !audit::has_signed_anchors(text);
  if (!keys.verifying || is_from_before) return unsigned_anchor(path, text);
  return signed_anchors(path, text, *keys.verifying);
}

}  // namespace

Result<AnchorKeys> anchor_keys_in(const Words& words) {
  AnchorKeys keys;
  if (const std::string path = words.text(public_key_option); !path.empty()) {
    auto key = verifying_key_in(path);
    if (!key) return fail("--public-key: " + key.error().text);
    keys.verifying = *std::move(key);
  }
  if (const std::string path = words.text(sign_option); !path.empty()) {
    auto key = signing_key_in(path);
    if (!key) return fail("--sign: " + key.error().text);
    keys.verifying = key->verifying();
    keys.signing = *std::move(key);
  }
  return keys;
}

Result<KnownAnchors> known_anchors_in(const Words& words, const AnchorKeys& keys) {
  const std::string path = words.text(anchor_file_option);
  if (!path.empty()) return anchors_in_file(path, keys);
  const std::string written = words.text(anchor_option);
  if (written.empty()) return KnownAnchors();
  return KnownAnchors{.points = CELLBLOCK_TRY(point_in(written)), .anchors = {}, .findings = {}};
}

Result<void> keep_anchor(const std::string& path, const std::vector<audit::SignedAnchor>& above,
                         const std::string& line) {
  std::string text;
  const std::size_t kept = std::min(above.size(), most_signed_anchors - 1);
  for (auto anchor = above.end() - static_cast<std::ptrdiff_t>(kept); anchor != above.end();
       ++anchor) {
    text.append(anchor->line).append("\n");
  }
  text.append(line).append("\n");
  const std::string fresh = path + ".new";
  const client::OwnedFd file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) return failed_on(fresh);
  CELLBLOCK_CHECK(write_all(file.get(), fresh, text));
  if (::fsync(file.get()) != 0) return failed_on(fresh);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return failed_on(path);
  return {};
}

}  // namespace cellblock::cli
