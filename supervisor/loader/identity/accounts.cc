#include "supervisor/loader/identity/accounts.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "supervisor/os/account_entry.h"
#include "supervisor/os/sys.h"

namespace cellblock {
namespace {

constexpr int most_groups = 256;
constexpr std::size_t most_listed_users = 65'536;
constexpr std::size_t most_subordinate_bytes = 1U << 20;

std::vector<std::string> names_listed_in(gid_t gid) {
  return with_entry<group>([&](auto... rest) { return ::getgrgid_r(gid, rest...); },
                           [](const group& entry) {
                             std::vector<std::string> names;
                             for (char** name = entry.gr_mem; *name != nullptr; ++name) {
                               names.emplace_back(*name);
                             }
                             return names;
                           });
}

// NOLINTBEGIN(concurrency-mt-unsafe): one thread, and nothing else lists accounts
void add_primary_members(gid_t gid, std::vector<ClientId>& users) {
  ::setpwent();
  for (std::size_t count = 0; count < most_listed_users; ++count) {
    const passwd* entry = ::getpwent();
    if (entry == nullptr) break;
    if (entry->pw_gid == gid) users.push_back({entry->pw_uid, entry->pw_gid});
  }
  ::endpwent();
}
// NOLINTEND(concurrency-mt-unsafe)

bool parse_number(std::string_view text, std::uint64_t& number) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == last && number <= UINT32_MAX;
}

// "alice:100000:65536"
std::optional<SubordinateRange> parse_line(std::string_view file, std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  SubordinateRange range{std::string(file), std::string(line.substr(0, first)), 0, 0};
  if (!parse_number(line.substr(first + 1, second - first - 1), range.first)) return std::nullopt;
  if (!parse_number(line.substr(second + 1), range.count)) return std::nullopt;
  return range;
}

std::vector<SubordinateRange> ranges_in(const char* path) {
  const auto fd = open_at(AT_FDCWD, path, O_RDONLY);
  if (!fd) return {};
  const auto bytes = read_all(fd->get(), most_subordinate_bytes, Sealing::any);
  if (!bytes) return {};
  return parse_subordinate_ranges(path,
                                  {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

}  // namespace

std::optional<UserFacts> find_user(const std::string& name) {
  return with_entry<passwd>(
      [&](auto... rest) { return ::getpwnam_r(name.c_str(), rest...); },
      [](const passwd& entry) { return std::optional(UserFacts{entry.pw_uid, entry.pw_gid}); });
}

std::optional<UserFacts> find_user(uid_t uid) {
  return with_entry<passwd>(
      [&](auto... rest) { return ::getpwuid_r(uid, rest...); },
      [](const passwd& entry) { return std::optional(UserFacts{entry.pw_uid, entry.pw_gid}); });
}

GroupMembers members_of(gid_t gid) {
  GroupMembers members;
  for (const std::string& name : names_listed_in(gid)) {
    if (const auto user = find_user(name)) {
      members.users.push_back({user->uid, user->gid});
    } else {
      members.unknown.push_back(name);
    }
  }
  add_primary_members(gid, members.users);
  return members;
}

std::optional<std::uint32_t> find_group(const std::string& name) {
  return with_entry<group>(
      [&](auto... rest) { return ::getgrnam_r(name.c_str(), rest...); },
      [](const group& entry) { return std::optional<std::uint32_t>(entry.gr_gid); });
}

std::vector<std::uint32_t> groups_of(uid_t uid) {
  return with_entry<passwd>(
      [&](auto... rest) { return ::getpwuid_r(uid, rest...); },
      [](const passwd& entry) {
        int count = most_groups;
        std::vector<gid_t> groups(most_groups);
        if (::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
          return std::vector<std::uint32_t>{};
        }
        groups.resize(static_cast<std::size_t>(count));
        return groups;
      });
}

std::string home_of(uid_t uid) {
  return with_entry<passwd>([&](auto... rest) { return ::getpwuid_r(uid, rest...); },
                            [](const passwd& entry) { return std::string(entry.pw_dir); });
}

std::vector<SubordinateRange> parse_subordinate_ranges(std::string_view file,
                                                       std::string_view text) {
  std::vector<SubordinateRange> ranges;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto range = parse_line(file, text.substr(0, end))) ranges.push_back(std::move(*range));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ranges;
}

std::vector<SubordinateRange> subordinate_ranges() {
  std::vector<SubordinateRange> all = ranges_in("/etc/subuid");
  std::vector<SubordinateRange> groups = ranges_in("/etc/subgid");
  all.insert(all.end(), groups.begin(), groups.end());
  return all;
}

}  // namespace cellblock
