#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "supervisor/loader/load/config_files.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

class ServerFingerprintTest : public ::testing::Test {
 protected:
  ServerFingerprintTest() {
    script = scratch.write("server.js", "1", 0644);
    program = scratch.make_directory("program", 0755);
    std::filesystem::create_directory(program + "/lib");
    std::ofstream(program + "/lib/index.js") << "1";
    server.name = "git";
    server.command = {"/bin/sh", script, "--flag"};
    server.binds = {{scratch.path(), scratch.path(), Access::read},
                    {program, program, Access::read}};
  }
  auto of(const Server& one) const { return server_fingerprint(one, rules, {program}); }

  ScratchDirectory scratch;
  std::string script;
  std::string program;
  Server server;
  CatalogueRules rules;
};

TEST_F(ServerFingerprintTest, IsAnotherWhenAServerMayTakeLongerToSayItsEra) {
  Server declared = server;
  declared.era = ServerEra::modern;
  const auto before = of(server);
  const auto of_declared = of(declared);
  rules.era_probe *= 2;
  EXPECT_NE(of(server), before);
  EXPECT_EQ(of(declared), of_declared);
}

TEST_F(ServerFingerprintTest, IsTheSameWhileNothingChanges) {
  EXPECT_EQ(of(server), of(server));
  EXPECT_NE(of(server), (std::array<std::uint8_t, 32>{}));
  Server stamped = server;
  stamped.fingerprint = of(server);
  EXPECT_EQ(of(stamped), of(server));
}

TEST_F(ServerFingerprintTest, IsAnotherForAnotherDeclaration) {
  Server other = server;
  other.environment.push_back({"A", "b"});
  EXPECT_NE(of(other), of(server));
  other = server;
  other.command.back() = "--other";
  EXPECT_NE(of(other), of(server));
  other = server;
  other.rules = {short_form({1000}, {}, {{"x", false}})};
  EXPECT_EQ(of(other), of(server)) << "who may use it does not change what it offers";
}

TEST_F(ServerFingerprintTest, IsAnotherWhenAFileOfTheCommandIs) {
  const auto before = of(server);
  scratch.write("server.js", "22", 0644);
  const auto changed = of(server);
  EXPECT_NE(changed, before);
  std::filesystem::remove(script);
  EXPECT_NE(of(server), changed);
}

TEST_F(ServerFingerprintTest, IsTheSameWhateverLiesInADirectoryThatTheCommandNames) {
  const std::string data = scratch.make_directory("data", 0755);
  server.command.push_back(data);
  const auto before = of(server);
  std::ofstream(data + "/new") << "1";
  EXPECT_EQ(of(server), before);
}

TEST_F(ServerFingerprintTest, IsAnotherWhenAFileOfTheProgramIs) {
  const auto before = of(server);
  std::ofstream(program + "/lib/index.js") << "22";
  const auto changed = of(server);
  EXPECT_NE(changed, before);
  std::ofstream(program + "/lib/new.js") << "1";
  EXPECT_NE(of(server), changed);
}

TEST_F(ServerFingerprintTest, LooksAtNoPathThatIsNoProgram) {
  const auto before = server_fingerprint(server, rules, {});
  std::ofstream(program + "/lib/index.js") << "22";
  EXPECT_EQ(server_fingerprint(server, rules, {}), before);
}

}  // namespace
}  // namespace cellblock
