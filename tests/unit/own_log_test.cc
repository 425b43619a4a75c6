#include "supervisor/log/own_log.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "supervisor/os/sys.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  EXPECT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

TEST(OwnLog, KnowsWhomItsSocketIsConnectedTo) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/stdout";
  const sockaddr_un address = address_of(path);
  const auto* as_any = reinterpret_cast<const sockaddr*>(&address);
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), as_any, sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(client.get(), as_any, sizeof address), 0);
  EXPECT_TRUE(is_connected_to(client.get(), path));
  EXPECT_FALSE(is_connected_to(client.get(), path + "x"));
  EXPECT_FALSE(is_connected_to(listener.get(), path));
}

TEST(OwnLog, TakesNothingElseForThatSocket) {
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  EXPECT_FALSE(is_connected_to(pipe->second.get(), "/run/systemd/journal/stdout"));
  const auto pair = make_seqpacket_pair();
  ASSERT_TRUE(pair);
  EXPECT_FALSE(is_connected_to(pair->first.get(), ""));
  EXPECT_FALSE(is_connected_to(-1, ""));
}

TEST(JournalEntry, HasWhoseGatewaySaidItAndWhichServerItIsAbout) {
  EXPECT_EQ(journal_entry("cellblockd", 4,
                          "cellblock-gateway of uid 1000: [MCP:stdio:files] cell 3: exited"),
            "MESSAGE=cellblock-gateway of uid 1000: [MCP:stdio:files] cell 3: exited\n"
            "PRIORITY=4\nSYSLOG_IDENTIFIER=cellblockd\nCELLBLOCK_PROGRAM=cellblock-gateway\n"
            "CELLBLOCK_UID=1000\nMCP_SERVER=files\n");
  EXPECT_EQ(journal_entry("cellblockd", 4, "[MCP:stdio:git] is broken: read: gone"),
            "MESSAGE=[MCP:stdio:git] is broken: read: gone\nPRIORITY=4\n"
            "SYSLOG_IDENTIFIER=cellblockd\nMCP_SERVER=git\n");
}

TEST(JournalEntry, TakesNothingElseThatIsSaidForAField) {
  for (const char* text : {"cellblock-http: cellblock-gateway of uid 7: [MCP:stdio:git] x",
                           "x [MCP:stdio:git] y", "[MCP:stdio:GIT] y", "[MCP:stdio:a\nUID=0] y",
                           "cellblock-gateway of uid 7x: [MCP:stdio:git] y"}) {
    const std::string entry = journal_entry("cellblockd", 6, text);
    EXPECT_EQ(entry.find("MCP_SERVER"), std::string::npos) << text;
    EXPECT_EQ(entry.find("CELLBLOCK_UID"), std::string::npos) << text;
  }
}

TEST(JournalEntry, ALineWithNewlinesIsOneFieldWithItsLength) {
  const std::string entry = journal_entry("cellblockd", 3, "two\nPRIORITY=0");
  using namespace std::string_literals;
  EXPECT_EQ(
      entry,
      "MESSAGE\n\x0e\0\0\0\0\0\0\0two\nPRIORITY=0\nPRIORITY=3\nSYSLOG_IDENTIFIER=cellblockd\n"s);
}

}  // namespace
}  // namespace cellblock
