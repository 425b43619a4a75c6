#include "supervisor/launcher/child/root_plan.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace cellblock::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;

const HostLayout merged_usr = {
    .system_directories = {{"usr", std::nullopt}, {"bin", "usr/bin"}, {"lib64", "usr/lib64"}},
    .etc_directories = {"/etc/ssl/certs"},
    .loader_cache = "cache",
    .local_time = "UTC",
    .resolver = "nameserver 192.0.2.1\n"};

const RootEntry* find(const std::vector<RootEntry>& entries, std::string_view path) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const RootEntry& entry) { return entry.path == path; });
  return found == entries.end() ? nullptr : &*found;
}

std::ptrdiff_t place_of(const std::vector<RootEntry>& entries, std::string_view path) {
  return find(entries, path) - entries.data();
}

TEST(RootPlan, BindsSystemDirectoriesReadOnlyAndRepeatsTheHostsLinks) {
  const auto entries = plan_root({}, merged_usr);
  EXPECT_EQ(find(entries, "/usr")->kind, EntryKind::bind);
  EXPECT_EQ(find(entries, "/usr")->bind, BindKind::read);
  EXPECT_EQ(find(entries, "/bin")->kind, EntryKind::symbolic_link);
  EXPECT_EQ(find(entries, "/bin")->content, "usr/bin");
  EXPECT_EQ(find(entries, "/lib32"), nullptr);
}

TEST(RootPlan, TakesNoNamesFromTheHostsEtc) {
  const auto entries = plan_root({}, merged_usr);
  for (const char* path : {"/etc/shadow", "/etc/machine-id", "/etc/hostname"}) {
    EXPECT_EQ(find(entries, path), nullptr) << path;
  }
  EXPECT_EQ(find(entries, "/etc/passwd")->kind, EntryKind::file);
  EXPECT_THAT(find(entries, "/etc/passwd")->content, Not(HasSubstr("root")));
}

std::string resolver_in(NetworkMode network) {
  const auto entries = plan_root({.network = network}, merged_usr);
  const RootEntry* file = find(entries, "/etc/resolv.conf");
  return file == nullptr ? "" : file->content.substr(0, file->content.find('\n'));
}

TEST(RootPlan, NamesTheHostsResolverOnTheHostsNetworkAndElseTheCellsOwn) {
  EXPECT_EQ(resolver_in(NetworkMode::none), "nameserver 127.0.0.1");
  EXPECT_EQ(resolver_in(NetworkMode::loopback), "");
  EXPECT_EQ(resolver_in(NetworkMode::egress), "nameserver 198.18.0.1");
  EXPECT_EQ(resolver_in(NetworkMode::host), "nameserver 192.0.2.1");
}

TEST(RootPlan, OnlyDeviceNodesMayBeDevices) {
  for (const RootEntry& entry :
       plan_root({.binds = {{"/srv", "/data", Access::write}}}, merged_usr)) {
    const bool below_dev = entry.path.starts_with("/dev/");
    EXPECT_EQ(entry.kind == EntryKind::bind && entry.bind == BindKind::device,
              below_dev && entry.kind == EntryKind::bind)
        << entry.path;
  }
}

TEST(RootPlan, HasNoTerminalAndNoMemoryDevice) {
  const auto entries = plan_root({}, merged_usr);
  for (const char* path : {"/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/mem", "/dev/kmsg"}) {
    EXPECT_EQ(find(entries, path), nullptr) << path;
  }
}

TEST(RootPlan, PutsABindBeforeTheOnesInsideIt) {
  const auto entries = plan_root(
      {.binds = {{"/b", "/data/inner", Access::read}, {"/a", "/data", Access::write}}}, merged_usr);
  EXPECT_LT(place_of(entries, "/data"), place_of(entries, "/data/inner"));
  EXPECT_EQ(find(entries, "/data")->bind, BindKind::write);
  EXPECT_EQ(find(entries, "/data/inner")->bind, BindKind::read);
}

TEST(RootPlan, RemembersWhichDeclaredPathAnEntryIs) {
  const auto entries = plan_root(
      {.binds = {{"/b", "/data/inner", Access::read}, {"/a", "/data", Access::write}}}, merged_usr);
  EXPECT_EQ(find(entries, "/data")->declared, 1);
  EXPECT_EQ(find(entries, "/data/inner")->declared, 0);
  EXPECT_EQ(find(entries, "/usr")->declared, -1);
}

TEST(RootPlan, BindsWhatLiesBetweenAReadPathAndTheWritePathAroundItOntoItself) {
  const auto entries = plan_root({.binds = {{"/srv/rw", "/data", Access::write},
                                            {"/srv/rw/a/ro", "/data/a/ro", Access::read}}},
                                 merged_usr);
  const RootEntry* held = find(entries, "/data/a");
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(held->content, "/srv/rw/a");
  EXPECT_EQ(held->bind, BindKind::write);
  EXPECT_EQ(held->declared, 1);
  EXPECT_LT(place_of(entries, "/data"), place_of(entries, "/data/a"));
  EXPECT_LT(place_of(entries, "/data/a"), place_of(entries, "/data/a/ro"));
}

}  // namespace
}  // namespace cellblock::launcher
