#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "policy/config/config_bytes.h"
#include "policy/config_check/config_check.h"
#include "policy/config_check/facts_wanted.h"
#include "policy/config_check/secret_check.h"

// Where the values of secrets come from.
namespace cellblock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HostFacts facts_of_host() {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.users = {{"cellblock", {990, 991}}};
  facts.sources["/cred/x"] = {PathKind::directory, "/cred/x"};
  facts.credentials_directory = "/cred/x";
  facts.bad_credentials["gone"] = "is none of the credentials that cellblockd was started with";
  facts.secret_commands["/opt/open"].unsafe = "/opt/open is owned by uid 1000";
  facts.secret_commands["/opt/none"].state = CommandState::missing;
  facts.secret_commands["/opt/plain"].state = CommandState::not_executable;
  facts.secret_commands["/opt/set-id"] = {.host_path = "/opt/set-id", .set_id = SetId::yes};
  return facts;
}

struct Checked {
  Config config;
  std::vector<std::string> errors;  ///< what is more than a warning: also what leaves out
  std::vector<std::string> warnings;
};

Checked check_lines(const std::string& lines, const HostFacts& facts = facts_of_host()) {
  const std::string text = "[server.s]\n" + lines;
  Complaints complaints;
  const std::vector<ConfigText> texts{
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  Checked checked;
  checked.config = check_config({RunMode::system, {}, texts}, facts, complaints);
  for (const Complaint& complaint : complaints.take_sorted()) {
    const bool is_error = complaint.severity != Complaint::Severity::warning;
    (is_error ? checked.errors : checked.warnings).push_back(complaint.key + ": " + complaint.text);
  }
  return checked;
}

Checked check(const std::string& lines, const HostFacts& facts = facts_of_host()) {
  return check_lines("command = [\"/usr/bin/s\"]\n" + lines, facts);
}

TEST(ConfigSecrets, ComeFromFilesCredentialsAndCommandsInEachOfTheThreeTables) {
  const std::string value =
      "= { F = \"/s/f\", G = { credential = \"g\" }, H = { command = [\"/bin/h\", \"a b\"], "
      "timeout "
      "= \"30s\" }, I = { command = [\"/bin/h\"] } }\n";
  for (const auto& [table, delivery] : std::array<std::pair<const char*, SecretDelivery>, 3>{
           {{"env_from_file", SecretDelivery::environment},
            {"secret_files", SecretDelivery::file},
            {"secret_memfds", SecretDelivery::memfd}}}) {
    const Checked checked = check(table + value);
    EXPECT_THAT(checked.errors, IsEmpty());
    using std::chrono::milliseconds;
    const SecretCommand long_one{{"/bin/h", "a b"}, milliseconds(30'000)};
    const SecretCommand short_one{{"/bin/h"}, milliseconds(10'000)};
    EXPECT_THAT(checked.config.servers.at(0).secrets,
                ElementsAre(SecretVariable{"F", "/s/f", delivery},
                            SecretVariable{"G", "g", delivery, SecretOrigin::credential},
                            SecretVariable{"H", "", delivery, SecretOrigin::command, long_one},
                            SecretVariable{"I", "", delivery, SecretOrigin::command, short_one}));
    EXPECT_EQ(decode_config(encode(checked.config)), checked.config);
  }
}

struct Row {
  const char* value;
  const char* key;
  const char* says;
};

TEST(ConfigSecrets, AreRefusedWithThePlaceAndWhatIsAllowed) {
  for (const Row& row : {
           Row{"7", "T", "is an integer; allowed: the path of a file in quotes, { credential ="},
           Row{"[\"/bin/x\"]", "T", "is an array"},
           Row{"{}", "T", "has neither credential nor command; allowed: one of them"},
           Row{"{ timeout = \"1s\" }", "T", "neither"},
           Row{"{ credential = \"a\", command = [\"/bin/x\"] }", "T", "both"},
           Row{"{ credential = 1 }", "T.credential", "is an integer"},
           Row{"{ credential = \"a\", timeout = \"1s\" }", "T.timeout", "goes with command"},
           Row{"{ credential = \"\" }", "T.credential", "is empty"},
           Row{"{ credential = \"../a\" }", "T.credential", "\"/\""},
           Row{"{ credential = \"gone\" }", "T.credential",
               "\"gone\" is none of the credentials that cellblockd was started with; allowed: one "
               "that systemd gives to cellblockd (LoadCredential=gone:/path in its unit)"},
           Row{"{ credentail = \"a\" }", "T.credentail", "did you mean \"credential\"?"},
           Row{"{ command = \"/bin/x\" }", "T.command", "an array of strings"},
           Row{"{ command = [] }", "T.command", "0 parts; allowed: 1 to 64"},
           Row{"{ command = [\"vault\"] }", "T.command", "run without a shell"},
           Row{"{ command = [\"/bin/../x\"] }", "T.command", "\"..\""},
           Row{"{ command = [\"/bin/x\", \"a\\u0000\"] }", "T.command", "NUL"},
           Row{"{ command = [\"/opt/open\"] }", "T.command", "somebody else could change"},
           Row{"{ command = [\"/opt/none\"] }", "T.command", "does not exist"},
           Row{"{ command = [\"/opt/plain\"] }", "T.command", "is not executable"},
           Row{"{ command = [\"/bin/x\", \"${client.user}\"] }", "T.command", "under env only"},
           Row{"{ command = [\"/bin/x\"], timeout = \"61s\" }", "T.timeout", "100ms to 1m"},
           Row{"{ command = [\"/bin/x\"], timeout = \"99ms\" }", "T.timeout", "100ms to 1m"},
           Row{"{ command = [\"/bin/x\"], timeout = 3 }", "T.timeout", "a string in quotes"},
       }) {
    const Checked checked = check(std::string("secret_files = { T = ") + row.value + " }\n");
    ASSERT_FALSE(checked.errors.empty()) << row.value;
    EXPECT_THAT(checked.errors,
                Contains(::testing::AllOf(
                    ::testing::StartsWith(std::string("server.s.secret_files.") + row.key + ": "),
                    HasSubstr(row.says))))
        << row.value;
  }
}

constexpr const char* of_each_kind =
    "env_from_file = { V = \"/s/v\" }\n"
    "secret_files = { F = \"/s/f\" }\n"
    "secret_memfds = { M = \"/s/m\", N = \"/s/n\" }\n";

Checked check_argument(const std::string& argument) {
  const std::string lines = "command = [\"/usr/bin/s\", \"" + argument + "\"]\n" + of_each_kind;
  return check_lines(lines);
}

TEST(ConfigSecrets, AreNamedInArgumentsAndVariablesByTheirPaths) {
  const Checked checked = check_lines(
      "command = [\"/usr/bin/s\", \"--token=${secret:F}\", \"${secret:N}:${secret:M}\", "
      "\"$${secret:F}\", \"$${x} $ ${HOME}\"]\n"
      "env = { A = \"${secret:F} ${client.uid}\", B = \"$${secret:F}\" }\n" +
      std::string(of_each_kind));
  EXPECT_THAT(checked.errors, IsEmpty());
  const Server& server = checked.config.servers.at(0);
  EXPECT_THAT(server.command,
              ElementsAre("/usr/bin/s", "--token=/run/secrets/F", "/proc/self/fd/4:/proc/self/fd/3",
                          "${secret:F}", "$${x} $ ${HOME}"));
  EXPECT_THAT(server.environment,
              ElementsAre(EnvironmentVariable{"A", "/run/secrets/F ${client.uid}"},
                          EnvironmentVariable{"B", "$${secret:F}"}));
}

TEST(ConfigSecrets, WithoutAPathAreRefusedInAnArgumentWithWhatToDeclare) {
  for (const auto& [argument, says] : {
           std::pair{"${secret:V}",
                     "server.s.command: \"${secret:V}\" is given as a variable, by env_from_file, "
                     "and has no path: declare it under secret_files instead"},
           {"-t${secret:other}",
            "\"${secret:other}\" names no secret of this server; allowed: a name under "
            "secret_files or secret_memfds of this server, or \"$${secret:\" for the characters"},
           {"${secret:}", "\"${secret:}\" names no secret"},
           {"${secret:F", "\"${secret:F\" lacks its \"}\""},
       }) {
    EXPECT_THAT(check_argument(argument).errors, ElementsAre(HasSubstr(says))) << argument;
  }
  EXPECT_THAT(check(std::string("env = { A = \"${secret:V}\" }\n") + of_each_kind).errors,
              ElementsAre(HasSubstr("server.s.env.A: \"${secret:V}\" is given as a variable")));
}

TEST(ConfigSecrets, AreNoPlaceholderOutsideArgumentsAndVariables) {
  EXPECT_THAT(check("read = [\"/x/${secret:F}\"]\nsecret_files = { F = \"/s/f\" }\n").errors,
              Contains(HasSubstr("filled in under env and in arguments of command only")));
}

TEST(ConfigSecrets, ThatCannotBeHadLeaveTheirServerOutAndNeverRefuseAnArgument) {
  HostFacts facts = facts_of_host();
  facts.bad_secrets["/s/f"] = "does not exist";
  const Checked checked = check_lines(
      "command = [\"/usr/bin/s\", \"${secret:F}\"]\n" + std::string(of_each_kind), facts);
  EXPECT_THAT(checked.errors, ElementsAre(HasSubstr("secret_files.F: \"/s/f\" does not exist")));
}

TEST(ConfigSecrets, StandOnceInAllTablesWhereverTheyComeFrom) {
  EXPECT_THAT(
      check("env = { T_FILE = \"x\" }\nsecret_files = { T = { credential = \"a\" } }\n").errors,
      ElementsAre(HasSubstr("T_FILE is taken already")));
}

TEST(ConfigSecrets, OfFilesThatAreClosedToWhoChecksAreAWarning) {
  HostFacts facts = facts_of_host();
  facts.closed_secrets = {"/s/closed"};
  const Checked checked = check("secret_files = { T = \"/s/closed\" }\n", facts);
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_THAT(
      checked.warnings,
      Contains(HasSubstr("\"/s/closed\" is not looked at here: this user may not read it")));
}

TEST(ConfigSecrets, OfCredentialsAreWarnedOfWhereACheckByHandHasNone) {
  HostFacts facts = facts_of_host();
  facts.credentials = Credentials::not_here;
  const Checked checked = check("secret_files = { T = { credential = \"gone\" } }\n", facts);
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_THAT(checked.warnings, Contains(HasSubstr("the service alone has its credentials")));
}

TEST(ConfigSecrets, OfASetIdProgramAreWarnedOf) {
  EXPECT_THAT(check("secret_files = { T = { command = [\"/opt/set-id\"] } }\n").warnings,
              Contains(HasSubstr("/opt/set-id is set-uid or set-gid, which has no effect here")));
}

TEST(ConfigSecrets, OfTheServiceManagerAreShownToNoCell) {
  EXPECT_THAT(check("read = [\"/cred/x:/data\"]\n").errors,
              ElementsAre(HasSubstr("cellblock's credentials")));
}

TEST(ConfigSecrets, RaiseTheQuestionsThatTheirOriginsDo) {
  Complaints complaints;
  const std::vector<ConfigText> texts{parse_config_text(
      "[server.s]\nsecret_files = { A = \"/s/a\", B = { credential = \"b\" }, C = { credential = "
      "\"../c\" }, D = { command = [\"/bin/d\", \"/x\"] }, E = { command = [\"e\"] } }\n",
      "c.toml", FileRole::main, complaints)};
  const FactsWanted wanted = facts_wanted(texts);
  EXPECT_THAT(wanted.secrets, ElementsAre("/s/a"));
  EXPECT_THAT(wanted.credentials, ElementsAre("b"));
  EXPECT_THAT(wanted.secret_commands, ElementsAre("/bin/d"));
}

TEST(CredentialNames, AreThoseThatSystemdTakes) {
  for (const char* good : {"a", "api.token", ".hidden", "with space", "a-b_c@d+e~"}) {
    EXPECT_EQ(credential_problem(good), std::nullopt) << good;
  }
  EXPECT_EQ(credential_problem(std::string(255, 'x')), std::nullopt);
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a:b"),
        std::string("a\nb"), std::string("\x7f"), std::string("ä"), std::string("a\0b", 3),
        std::string(256, 'x')}) {
    EXPECT_NE(credential_problem(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace cellblock
