#include <gmock/gmock.h>

#include "client/connection/unix_connect.h"

namespace cellblock::client {
namespace {

constexpr std::uint32_t me = 1000;
constexpr std::uint32_t daemon_uid = 990;
constexpr std::uint32_t stranger = 666;

struct Row {
  const char* sentence;
  std::uint32_t listener;
  std::vector<DirectoryFacts> directories;
  bool trusted;
};

TEST(ListenerTrust, IsThisTable) {
  const DirectoryFacts root{"/", 0, 0755};
  const DirectoryFacts run{"/run", 0, 0755};
  const DirectoryFacts tmp{"/tmp", 0, 01777};
  const std::vector<Row> rows = {
      {"root may listen anywhere", 0, {root, tmp}, true},
      {"so may we", me, {root, tmp}, true},
      {"a daemon in its own directory below root's",
       daemon_uid,
       {root, run, {"/run/cellblock", daemon_uid, 0755}},
       true},
      {"a daemon in a directory that only root writes",
       daemon_uid,
       {root, run, {"/run/cellblock", 0, 0755}},
       true},
      {"a daemon in our directory inside /tmp",
       daemon_uid,
       {root, tmp, {"/tmp/mine", me, 0700}},
       true},
      {"a squatter in /tmp", stranger, {root, tmp}, false},
      {"a squatter who made the directory in /tmp",
       stranger,
       {root, tmp, {"/tmp/cellblock", stranger, 0755}},
       false},
      {"somebody else's directory", daemon_uid, {root, run, {"/run/x", stranger, 0755}}, false},
      {"the daemon's directory, which its group can write",
       daemon_uid,
       {root, run, {"/run/cellblock", daemon_uid, 0775}},
       false},
      {"a way through a directory that others can write",
       daemon_uid,
       {root, {"/srv", 0, 0777}, {"/srv/cellblock", daemon_uid, 0755}},
       false},
      {"a way through a stranger's directory",
       daemon_uid,
       {root, {"/home/x", stranger, 0755}, {"/home/x/c", 0, 0755}},
       false},
      {"a directory that is not known", daemon_uid, {}, false},
  };
  for (const auto& row : rows) {
    const ListenerFacts facts{row.listener, me, row.directories};
    EXPECT_EQ(distrust(facts).empty(), row.trusted) << row.sentence << ": " << distrust(facts);
  }
}

TEST(ListenerTrust, SaysWhoListensAndWhy) {
  const ListenerFacts facts{stranger, me, {{"/", 0, 0755}, {"/tmp", 0, 01777}}};
  EXPECT_EQ(distrust(facts),
            "uid 666 listens there, who is neither root nor you, and directory /tmp can be written "
            "by others");
}

}  // namespace
}  // namespace cellblock::client
