#include "supervisor/daemon/secret_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "supervisor/daemon/trusted_path.h"
#include "supervisor/daemon/wipe.h"

namespace cellblock {
namespace {

constexpr mode_t group_and_others = 077;
constexpr mode_t group_read = 040;

std::optional<std::string> problem_of(const struct stat& status, std::span<const uid_t> owners) {
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (auto problem = unsafe_owner_or_mode(status, owners)) return problem;
  const mode_t open_to = status.st_mode & group_and_others;
  const bool for_root_group = open_to == group_read && status.st_gid == 0;
  if (open_to == 0 || for_root_group) return std::nullopt;
  return fmt::format("is open to its group or to others (mode {:04o})", status.st_mode & 07777U);
}

Result<std::string> content_of(const TrustedFile& file) {
  const auto fd = reopen_for_reading(file);
  if (!fd && fd.error().number == EACCES) return fail(closed_text(file.status.st_uid));
  if (!fd) return fail("cannot be opened: " + fd.error().text());
  auto bytes = read_all(fd->get(), max_secret_bytes, Sealing::any);
  if (!bytes && bytes.error().number == EFBIG) return fail("is larger than 64KiB");
  if (!bytes) return fail("cannot be read: " + bytes.error().text());
  std::string secret = secret_text({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  wipe(*bytes);
  return secret;
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path, std::span<const uid_t> owners) {
  auto file = open_trusted(path, {owners, LastLink::refuse, {}});
  if (!file) return fail("cannot be used: " + file.error().text);
  if (auto problem = problem_of(file->status, owners)) return fail(std::move(*problem));
  std::string secret = CELLBLOCK_TRY(content_of(*file));
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.find('\0') != std::string::npos) return fail("has a NUL in it");
  return secret;
}

}  // namespace cellblock
