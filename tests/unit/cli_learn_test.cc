#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/learn/learned_paths.h"
#include "client/cli/learn/learned_toml.h"
#include "client/cli/learn/observed.h"
#include "client/cli/learn/session_command.h"
#include "policy/syscalls/denial_text.h"
#include "policy/syscalls/syscall_numbers.h"

namespace cellblock::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

SaidPath read_of(const char* path) { return {path, PathWish::read}; }
SaidPath write_of(const char* path) { return {path, PathWish::write}; }

TEST(SaidPaths, AreThoseOfALineThatTellsOfAFailure) {
  struct Case {
    const char* line;
    std::vector<SaidPath> paths;
  };
  const Case cases[] = {
      {"Error: ENOENT: no such file or directory, open '/srv/data/a b.txt'",
       {read_of("/srv/data/a b.txt")}},
      {"PermissionError: [Errno 13] Permission denied: '/srv/x'", {read_of("/srv/x")}},
      {"open /srv/y: permission denied", {read_of("/srv/y")}},
      {"cat: /srv/z: No such file or directory", {read_of("/srv/z")}},
      {"EACCES: permission denied, mkdir '/srv/new'", {write_of("/srv/new")}},
      {"EROFS: read-only file system, open '/srv/a'", {write_of("/srv/a")}},
      {"ENOENT: rename '/srv/a' -> '/srv/b'", {write_of("/srv/a"), write_of("/srv/b")}},
      {"Warning: Cannot access directory /srv/data, skipping", {read_of("/srv/data")}},
      {"listening on /srv/sock", {}},
      {"ENOENT and/or file:///srv/a", {}},
      {"ENOENT '/srv/../etc/shadow' '/srv//a' '/' '/a\x1b[2J'", {}},
      {"ENOENT '/never/closed", {}},
      {"ENOENT /a1 /a2 /a3 /a4 /a5 /a1",
       {read_of("/a1"), read_of("/a2"), read_of("/a3"), read_of("/a4")}},
      {"", {}}};
  for (const Case& one : cases) EXPECT_EQ(said_paths(one.line), one.paths) << one.line;
}

TEST(SaidPaths, BeyondTheBoundsOfALineAreNotLookedFor) {
  EXPECT_THAT(said_paths("ENOENT " + std::string(9000, 'x') + " /srv/a"), IsEmpty());
  EXPECT_THAT(said_paths("ENOENT /" + std::string(2000, 'x')), IsEmpty());
}

PathKind kind_of(const std::string& path) {
  const std::vector<std::string> directories{
      "/srv", "/srv/data", "/home/al", "/home/al/src", "/home/al/.ssh", "/run/x", "/opt/a:b"};
  if (std::ranges::find(directories, path) != directories.end()) return PathKind::directory;
  return path.find("missing") == std::string::npos ? PathKind::file : PathKind::absent;
}

std::vector<LearnedPath> learned(const std::vector<SaidPath>& said,
                                 const std::vector<DeclaredPath>& declared = {}) {
  std::vector<MissedPath> missed;
  for (const SaidPath& one : said) missed.push_back({one, 1});
  return learned_paths(missed, declared, kind_of);
}

auto advised(const char* path, PathWish wish) {
  return AllOf(Field(&LearnedPath::path, path), Field(&LearnedPath::wish, wish),
               Field(&LearnedPath::warning, IsEmpty()));
}

TEST(LearnedPaths, AreFilesByThemselvesUntilManyOfOneDirectoryAreMissed) {
  EXPECT_THAT(
      learned({read_of("/srv/data/1"), read_of("/srv/data/2"), read_of("/srv/data/3")}),
      ElementsAre(advised("/srv/data/1", PathWish::read), advised("/srv/data/2", PathWish::read),
                  advised("/srv/data/3", PathWish::read)));
  const auto whole = learned({read_of("/srv/data/1"), read_of("/srv/data/2"),
                              read_of("/srv/data/3"), read_of("/srv/data/4")});
  ASSERT_THAT(whole, ElementsAre(advised("/srv/data", PathWish::read)));
  EXPECT_EQ(whole[0].paths, 4);
  EXPECT_EQ(whole[0].count, 4);
}

TEST(LearnedPaths, NeverBecomeAWholeTree) {
  EXPECT_THAT(learned({read_of("/srv/1"), read_of("/srv/2"), read_of("/srv/3"), read_of("/srv/4")}),
              testing::SizeIs(4));
  EXPECT_THAT(learned({read_of("/home/al/1"), read_of("/home/al/2"), read_of("/home/al/3"),
                       read_of("/home/al/4")}),
              testing::SizeIs(4));
}

TEST(LearnedPaths, AreNotAdvisedWhereTheyAreDangerous) {
  for (const char* path : {"/srv", "/home/al", "/root", "/home/al/.ssh", "/home/al/.ssh/config",
                           "/srv/app/.env", "/srv/app/.env.local", "/srv/tls/server.key",
                           "/etc/shadow", "/srv/a.sock", "/run/x", "/sys/a/b", "/opt/a:b"}) {
    EXPECT_THAT(learned({read_of(path)}), ElementsAre(Field(&LearnedPath::warning, Not(IsEmpty()))))
        << path;
  }
}

TEST(LearnedPaths, LeaveOutWhatEveryCellHasAndWhatIsNotThere) {
  EXPECT_THAT(learned({read_of("/usr/lib/x"), read_of("/lib64/y"), read_of("/proc/1/maps"),
                       read_of("/tmp/a"), read_of("/workspace/a"), read_of("/srv/data/missing")}),
              IsEmpty());
}

TEST(LearnedPaths, ThatAreToBeMadeAreTheDirectoryAround) {
  EXPECT_THAT(learned({write_of("/srv/data/missing")}),
              ElementsAre(advised("/srv/data", PathWish::write)));
  EXPECT_THAT(learned({write_of("/srv/missing/missing")}), IsEmpty());
}

TEST(LearnedPaths, WithinOthersAreGivenWithThem) {
  EXPECT_THAT(learned({write_of("/srv/data"), read_of("/srv/data/1"), write_of("/srv/data/2")}),
              ElementsAre(advised("/srv/data", PathWish::write)));
  EXPECT_THAT(
      learned({read_of("/srv/data"), write_of("/srv/data/1")}),
      ElementsAre(advised("/srv/data", PathWish::read), advised("/srv/data/1", PathWish::write)));
}

TEST(LearnedPaths, ThatAreDeclaredAlreadyAreSomebodyElsesFiles) {
  const std::vector<DeclaredPath> declared{{"/srv/data", PathWish::read}};
  EXPECT_THAT(learned({read_of("/srv/data/1")}, declared),
              ElementsAre(Field(&LearnedPath::warning, HasSubstr("declared already"))));
  EXPECT_THAT(learned({write_of("/srv/data/1")}, declared),
              ElementsAre(advised("/srv/data/1", PathWish::write)));
}

TEST(LearnedPaths, AreNotWrittenBesideTheProgram) {
  const std::vector<DeclaredPath> declared{
      {.path = "/srv/data", .wish = PathWish::read, .holds_program = true}};
  const auto keeps_state = Field(&LearnedPath::warning, HasSubstr("state beside its code"));
  EXPECT_THAT(learned({write_of("/srv/data/memory.jsonl")}, declared), ElementsAre(keeps_state));
  EXPECT_THAT(learned({write_of("/srv/data/missing")}, declared), ElementsAre(keeps_state));
  EXPECT_THAT(learned({write_of("/opt/m/node_modules/memory/x")}), ElementsAre(keeps_state));
  EXPECT_THAT(learned({read_of("/opt/m/node_modules/memory/x")}),
              ElementsAre(advised("/opt/m/node_modules/memory/x", PathWish::read)));
}

TEST(LearnedPaths, AreNotWrittenInADirectoryAroundTheProgram) {
  const std::vector<DeclaredPath> declared{
      {.path = "/home/al/src/program", .wish = PathWish::read, .holds_program = true}};
  const auto files = learned({write_of("/home/al/src/1"), write_of("/home/al/src/2"),
                              write_of("/home/al/src/3"), write_of("/home/al/src/4")},
                             declared);
  EXPECT_THAT(files, testing::SizeIs(4));
}

TEST(SaidPorts, AreThoseOfTheLoopbackInALineThatTellsOfAFailure) {
  struct Case {
    const char* line;
    std::vector<std::uint16_t> ports;
  };
  const Case cases[] = {
      {"Error: connect EACCES 127.0.0.1:5432", {5432}},
      {"connect ECONNREFUSED ::1:27017", {27017}},
      {"dial tcp [::1]:6379: connect: connection refused", {6379}},
      {"http://localhost:8080/ ECONNREFUSED 127.0.0.1:8080, 127.0.0.1:9090", {8080, 9090}},
      {"ECONNREFUSED localhost:1 localhost:2 localhost:3 localhost:4 localhost:5", {1, 2, 3, 4}},
      {"listening on 127.0.0.1:3000", {}},
      {"ECONNREFUSED 10.127.0.0.1:1 fd00::1:2 my-localhost:3 localhost:70000 127.0.0.1:0", {}},
      {"ECONNREFUSED 127.0.0.1: localhost:x", {}},
      {"", {}}};
  for (const Case& one : cases) EXPECT_EQ(said_loopback_ports(one.line), one.ports) << one.line;
}

Remedy remedy_of(const char* call, std::array<std::uint32_t, 3> words, const SyscallRules& rules,
                 NetworkMode network = NetworkMode::none) {
  return read_remedy(call, remedy_for(call_number(call).value(), words, rules, network));
}

TEST(Remedy, IsReadFromTheDaemonsOwnWords) {
  const SyscallRules native{.name = "native", .write_exec = WriteExec::refused};
  const Remedy added = remedy_of("mbind", {}, native);
  EXPECT_EQ(added.kind, Remedy::Kind::system_call);
  EXPECT_EQ(added.base, "native");
  EXPECT_TRUE(added.adds_call);
  EXPECT_FALSE(added.network);

  const SyscallRules own{.name = "mine", .refuse = {"chmod"}};
  const Remedy taken = remedy_of("chmod", {}, own);
  EXPECT_EQ(taken.profile, "mine");
  EXPECT_TRUE(taken.takes_back);
  EXPECT_FALSE(taken.adds_call);

  const Remedy opened = remedy_of("socket", {AF_INET, SOCK_STREAM, 0}, native);
  EXPECT_TRUE(opened.network);
  EXPECT_FALSE(opened.adds_call);
  const Remedy code = remedy_of("mmap", {0, 0, PROT_WRITE | PROT_EXEC}, native);
  EXPECT_TRUE(code.write_exec);
  EXPECT_EQ(remedy_of("mount", {}, native).kind, Remedy::Kind::none);
}

TEST(Remedy, OfPtraceIsNeverAdvised) {
  const SyscallRules native{.name = "native"};
  EXPECT_EQ(remedy_of("ptrace", {}, native).kind, Remedy::Kind::unadvised);
}

TEST(Remedy, OfANameOrAddressIsThatTarget) {
  const Remedy name =
      read_remedy("connect a.example.org:443", "egress.allow = [\"a.example.org:443\"]");
  EXPECT_EQ(name.kind, Remedy::Kind::egress);
  EXPECT_EQ(name.target, "a.example.org:443");
  EXPECT_EQ(read_remedy("connect 127.0.0.1:80", "egress.allow = [\"127.0.0.1/32:80\"]").target,
            "127.0.0.1/32:80");
  EXPECT_EQ(read_remedy("x", "egress.allow = [\"a\" b\"]").kind, Remedy::Kind::other);
}

TEST(Remedy, InOtherWordsIsLeftToTheReader) {
  for (const char* words : {"a larger egress.max_bytes", "allow = [\"other\"]",
                            "[profile.X Y] allow = [\"mount\"]", "allow = [\"mount\"]"}) {
    EXPECT_EQ(read_remedy("mount", words).kind, Remedy::Kind::other) << words;
  }
}

TEST(Observed, KeepsABoundedNumberOfEverythingAndCountsTheRest) {
  Observed observed;
  for (std::size_t i = 0; i < Observed::most_paths + 5; ++i) {
    observed.said(Speaker::server, "ENOENT /srv/" + std::to_string(i));
    observed.refused("call" + std::to_string(i), "", 1);
  }
  for (std::size_t port = 1; port <= Observed::most_ports + 5; ++port) {
    observed.said(Speaker::server, "ECONNREFUSED 127.0.0.1:" + std::to_string(1000 + port));
  }
  observed.said(Speaker::server, "ENOENT /srv/0");
  EXPECT_EQ(observed.paths().size(), Observed::most_paths);
  EXPECT_EQ(observed.operations().size(), Observed::most_operations);
  EXPECT_EQ(observed.loopback_ports().size(), Observed::most_ports);
  EXPECT_EQ(observed.left_out(), 5 + 5 + 5 + Observed::most_paths - Observed::most_operations);
}

TEST(Observed, CountsOnceWhatASessionRepeats) {
  Observed observed;
  for (const Speaker speaker : {Speaker::server, Speaker::session, Speaker::server}) {
    observed.said(speaker, "ENOENT /srv/a");
  }
  ASSERT_EQ(observed.paths().size(), 1);
  EXPECT_EQ(observed.paths()[0].count, 2);
}

TEST(SessionLines, KeepTheBeginningOfALongLine) {
  SessionLines lines;
  std::vector<std::string> seen;
  const auto take = [&](std::string_view line) { seen.emplace_back(line); };
  lines.add("a", take);
  lines.add("b\n\n" + std::string(10'000, 'x'), take);
  lines.add("y\nc", take);
  EXPECT_THAT(seen, ElementsAre("ab", "", std::string(SessionLines::longest, 'x')));
}

TEST(LearnedToml, SaysOfEachLineWhatAskedForItAndHowOften) {
  Observed observed;
  observed.refused("connect a.example.org:443", "egress.allow = [\"a.example.org:443\"]", 3);
  observed.refused("mbind", remedy_for(call_number("mbind").value(), {}, {}, NetworkMode::none), 1);
  observed.refused("mount", "", 2);
  const std::string toml =
      learned_toml({.server = "files",
                    .paths = {{.path = "/srv/data", .count = 6, .paths = 5},
                              {.path = "/srv/out", .wish = PathWish::write, .count = 1},
                              {.path = "/root", .count = 1, .warning = "too much"}},
                    .operations = observed.operations()});
  EXPECT_THAT(toml, HasSubstr(R"(
[server.files]
read = [
  "/srv/data",  # 5 of its files, missed 6 times
  # "/root",  # NOT ADVISED: too much; missed once
]
write = [
  "/srv/out",  # missed once
]
profile = "files-learned"  # mbind was refused once; see below

[server.files.egress]
allow = [
  "a.example.org:443",  # connect a.example.org:443 was refused 3 times
]

# In the main file, for profiles are only there. Each call is a weakening.
[profile.files-learned]
base = "native"
allow = [
  "mbind",  # mbind was refused once
]

# mount was refused 2 times; nothing allows it
)"));
}

TEST(LearnedToml, OpensANetworkToNothingUntilNamesAreKnown) {
  const SyscallRules native{.name = "native", .write_exec = WriteExec::refused};
  Observed observed;
  observed.refused("socket(AF_INET)",
                   remedy_for(call_number("socket").value(), {AF_INET, SOCK_STREAM, 0}, native,
                              NetworkMode::none),
                   1);
  const std::string none = learned_toml({.server = "files", .operations = observed.operations()});
  EXPECT_THAT(none, HasSubstr("\nnetwork = \"egress\"  # socket(AF_INET) was refused once\n"));
  EXPECT_THAT(none, HasSubstr("\"names.invalid:443\",  # reaches nothing"));
  observed.refused("resolve a.example.org", "egress.allow = [\"a.example.org:443\"]", 1);
  const std::string known = learned_toml({.server = "files", .operations = observed.operations()});
  EXPECT_THAT(known, Not(HasSubstr("names.invalid")));
  EXPECT_THAT(known, HasSubstr("\"a.example.org:443\",  # resolve a.example.org was refused once; "
                               "the port is a guess"));
}

TEST(LearnedToml, ProposesTheNetworkAndTheNameThatACellWithoutOneAskedFor) {
  Observed observed;
  observed.refused("resolve a.example.org",
                   "network = \"egress\" and egress.allow = [\"a.example.org:443\"]", 2);
  const std::string toml =
      learned_toml({.server = "files", .operations = observed.operations(), .network = "none"});
  EXPECT_THAT(toml,
              HasSubstr("\nnetwork = \"egress\"  # resolve a.example.org was refused 2 times"));
  EXPECT_THAT(toml,
              HasSubstr("\"a.example.org:443\",  # resolve a.example.org was refused 2 times; "
                        "the port is a guess"));
  EXPECT_THAT(toml, Not(HasSubstr("names.invalid")));
}

TEST(LearnedToml, NamesPtraceAndDoesNotProposeIt) {
  Observed observed;
  observed.refused("ptrace", remedy_for(call_number("ptrace").value(), {}, {}, NetworkMode::none),
                   1);
  const Learned learned{.server = "files", .operations = observed.operations()};
  EXPECT_FALSE(has_advice(learned));
  EXPECT_THAT(learned_toml(learned), AllOf(HasSubstr("# NOT ADVISED: ptrace was refused once"),
                                           Not(HasSubstr("[profile."))));
}

Learned missing_port(const char* network) {
  return {.server = "pg", .network = network, .loopback_ports = {{.port = 5432, .count = 2}}};
}

TEST(LearnedToml, ProposesTheHostsLoopbackWithThePortThatWasMissed) {
  const std::string none = learned_toml(missing_port("none"));
  EXPECT_THAT(none, AllOf(HasSubstr("\nnetwork = \"egress\"  # for the host's loopback\n"),
                          HasSubstr("\"127.0.0.1/32:5432\",  # said to be missed 2 times"),
                          Not(HasSubstr("names.invalid"))));
  const std::string egress = learned_toml(missing_port("egress"));
  EXPECT_THAT(egress, AllOf(HasSubstr("\"127.0.0.1/32:5432\","), Not(HasSubstr("network ="))));
}

TEST(LearnedToml, ProposesNoLoopbackWhereAnotherOneOrNothingWasInTheWay) {
  for (const char* network : {"loopback", "host", ""}) {
    EXPECT_FALSE(has_advice(missing_port(network))) << network;
    EXPECT_THAT(learned_toml(missing_port(network)), Not(HasSubstr("127.0.0.1"))) << network;
  }
}

TEST(LearnedToml, OfNothingSaysSo) {
  EXPECT_THAT(learned_toml({.server = "files"}), HasSubstr("# Nothing that would be advised"));
  EXPECT_FALSE(has_advice({.server = "files"}));
}

TEST(LearnedToml, CannotBeBrokenByWhatAServerDoes) {
  Observed observed;
  observed.refused("a\nb = 1", "c\nd = 2", 1);
  const std::string toml = learned_toml({.server = "files",
                                         .paths = {{.path = "/srv/\"x\n]", .count = 1}},
                                         .operations = observed.operations()});
  EXPECT_THAT(toml, Not(HasSubstr("\nb = 1")));
  EXPECT_THAT(toml, Not(HasSubstr("\nd = 2")));
  EXPECT_THAT(toml, Not(HasSubstr("\n]\"")));
}

}  // namespace
}  // namespace cellblock::cli
