#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/import_file.h"
#include "client/cli/import/propose/propose.h"
#include "client/cli/import/remote/remote_address.h"
#include "client/cli/import/remote/remote_server.h"

namespace cellblock::cli {
namespace {

using Words = std::vector<std::string>;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// ---- addresses ----

std::string mistake_in(const std::string& url) {
  const auto address = remote_address(url);
  return address ? "none" : address.error().text;
}

// Of an address, or why there are none.
Words rules_of(const std::string& url, const NamedRanges& named) {
  const auto address = remote_address(url);
  const auto rules = address ? rules_for(*address, named)
                             : Result<Words>(fail("no address: " + address.error().text));
  return rules ? *rules : Words{rules.error().text};
}

Words rules_of(const std::string& url, const Words& named = {}) {
  return rules_of(url, for_any_host(named));
}

TEST(RemoteAddress, OpensItsHostAndPortAlone) {
  EXPECT_THAT(rules_of("https://mcp.example.org/mcp"), ElementsAre("mcp.example.org:443"));
  EXPECT_THAT(rules_of("https://MCP.Example.org:8443/x?y=z"), ElementsAre("mcp.example.org:8443"));
  EXPECT_THAT(rules_of("https://203.0.114.7/mcp"), ElementsAre("203.0.114.7/32:443"));
}

TEST(RemoteAddress, OfThisMachineIsReachedByNumber) {
  const auto address = remote_address("http://localhost:3000/mcp");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->url, "http://127.0.0.1:3000/mcp");
  EXPECT_EQ(private_range(*address), "127.0.0.1/32:3000");
}

TEST(RemoteAddress, ThatIsNotPublicNeedsARangeThatNamesIt) {
  EXPECT_THAT(
      rules_of("https://10.1.2.3/mcp"),
      ElementsAre("its address is private: --egress 10.1.2.3/32:443 says that this is meant"));
  EXPECT_THAT(rules_of("https://10.1.2.3/mcp", {"10.0.0.0/8:443"}), ElementsAre("10.1.2.3/32:443"));
  EXPECT_THAT(rules_of("https://10.1.2.3/mcp", {"10.0.0.0/8:8443"}),
              Contains(HasSubstr("--egress")));
  EXPECT_THAT(rules_of("http://[::1]:3000/mcp", {"[::1]/128:3000"}), ElementsAre("[::1]/128:3000"));
}

TEST(RemoteAddress, OfCloudMetadataIsNeverMeantByBeingTyped) {
  const auto address = remote_address("http://169.254.169.254/latest");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(private_range(*address), "");
  EXPECT_THAT(rules_of("http://169.254.169.254/latest"), Contains(HasSubstr("--egress")));
}

TEST(RemoteAddress, WithoutEncryptionIsOfThisMachineOrAPrivateNetwork) {
  EXPECT_THAT(rules_of("http://mcp.example.org/mcp"), Contains(HasSubstr("not encrypted")));
  EXPECT_THAT(rules_of("http://203.0.114.7/mcp"), Contains(HasSubstr("not encrypted")));
  EXPECT_THAT(rules_of("http://intranet:8080/mcp", {"10.0.0.0/8:8080"}),
              ElementsAre("intranet:8080", "10.0.0.0/8:8080"));
  EXPECT_THAT(rules_of("http://intranet:8080/mcp", {"203.0.114.0/24:8080"}),
              Contains(HasSubstr("not encrypted")));
}

TEST(RemoteAddress, ThatIsANameLeadsToNoRangeThatIsMeantForAddresses) {
  const NamedRanges named{.for_addresses = {"10.0.0.0/8:8080"}};
  EXPECT_THAT(rules_of("http://intranet:8080/mcp", named),
              ElementsAre(HasSubstr("--egress SERVER=RANGE")));
  EXPECT_THAT(rules_of("https://intranet:8080/mcp", named), ElementsAre("intranet:8080"));
  EXPECT_THAT(rules_of("http://10.1.2.3:8080/mcp", named), ElementsAre("10.1.2.3/32:8080"));
}

TEST(RemoteAddress, ThatIsANameLeadsToItsOwnRangeWithEncryptionToo) {
  EXPECT_THAT(rules_of("https://intranet:8443/mcp", {"10.0.0.0/8:8443", "10.0.0.0/8:8080"}),
              ElementsAre("intranet:8443", "10.0.0.0/8:8443"));
}

// ---- ranges that an import names ----

const Words import_words{"10.0.0.0/8:80", "Far One=192.168.0.0/16:80"};

TEST(NamedRanges, AreForNamesOfTheOneServerForWhichTheyAreNamed) {
  const auto far = named_ranges(import_words, "Far One");
  EXPECT_EQ(far.for_addresses, (Words{"10.0.0.0/8:80", "192.168.0.0/16:80"}));
  EXPECT_EQ(far.for_names, Words{"192.168.0.0/16:80"});
  for (const char* other : {"near", ""}) {
    const auto ranges = named_ranges(import_words, other);
    EXPECT_EQ(ranges.for_addresses, Words{"10.0.0.0/8:80"});
    EXPECT_THAT(ranges.for_names, IsEmpty());
  }
}

TEST(NamedRanges, AreRefusedWhereTheyAreNoRangesOrNameNoServerOfTheFile) {
  EXPECT_TRUE(check_named_ranges(import_words, {"Far One"}));
  for (const char* word : {"near=10.0.0.0/8:80", "=10.0.0.0/8:80", "intranet:80",
                           "Far One=intranet:80", "Far One=", ""}) {
    const auto checked = check_named_ranges({word}, {"Far One"});
    ASSERT_FALSE(checked) << word;
    EXPECT_THAT(checked.error().text, HasSubstr(std::string("--egress ") + word + ":"));
  }
}

TEST(RemoteAddress, WithASecretIsRefusedAndNotRepeated) {
  for (const char* url :
       {"https://user:hunter2@example.org/mcp", "https://hunter2@example.org/mcp",
        "https://example.org/mcp?apiKey=hunter2", "https://example.org/mcp?x=1&token=hunter2",
        "https://example.org/s/ghp_hunter2hunter2hunter2hunter2hunter200/mcp"}) {
    EXPECT_THAT(mistake_in(url), AllOf(Not("none"), Not(HasSubstr("hunter2")))) << url;
  }
}

TEST(RemoteAddress, ThatNobodyCouldReadIsRefused) {
  for (const std::string& url :
       {std::string("ftp://x/"), std::string("https:///mcp"), std::string("https://a b/"),
        std::string("https://example.org:0/"), std::string("https://${HOST}/mcp"),
        std::string("https://example.org/#\x1b[2J"), std::string("https://example.org:53/"),
        "https://example.org/" + std::string(3000, 'a')}) {
    EXPECT_NE(mistake_in(url), "none") << url;
  }
}

// ---- lines ----

DeclaredServer remote(const DeclaredServer& server) {
  auto read = as_remote(server);
  EXPECT_TRUE(read.has_value()) << read.error().text;
  return read.value_or(DeclaredServer{});
}

std::string refusal(const Words& command) {
  const auto read = as_remote({.command = command});
  return read ? "none" : read.error().text;
}

Words variables_in(const DeclaredServer& server) {
  Words texts;
  for (const auto& one : server.variables) {
    texts.push_back(one.name + "=" + one.value + (one.secret ? " (secret)" : ""));
  }
  return texts;
}

TEST(RemoteServer, HasItsTokenInAVariableAndNeverInItsCommand) {
  const auto server = remote(
      {.command = {"https://example.org/mcp", "--header", "Authorization: Bearer hush-hush"}});
  EXPECT_THAT(server.command,
              ElementsAre("npx", "-y", "mcp-remote", "https://example.org/mcp", "--header",
                          "Authorization:Bearer ${HEADER_AUTHORIZATION}"));
  EXPECT_THAT(variables_in(server), ElementsAre("HEADER_AUTHORIZATION=hush-hush (secret)"));
}

TEST(RemoteServer, IsTheSameLineHoweverItIsWritten) {
  const Words line{
      "npx", "-y", "mcp-remote", "https://example.org/mcp", "--header", "X-Key:${HEADER_X_KEY}"};
  EXPECT_EQ(remote({.command = {"https://example.org/mcp", "--header", "X-Key: k"}}).command, line);
  EXPECT_EQ(remote({.command = {"npx", "mcp-remote@latest", "--header", "X-Key:k",
                                "https://example.org/mcp"}})
                .command,
            line);
  EXPECT_EQ(remote({.url = "https://example.org/mcp", .headers = {{.name = "X-Key", .value = "k"}}})
                .command,
            line);
  EXPECT_EQ(remote({.command = line}).command, line);
}

TEST(RemoteServer, KeepsTheVariablesThatItsHeadersName) {
  const auto server = remote({.command = {"npx", "mcp-remote@0.15.1", "https://example.org/mcp",
                                          "--header", "Authorization: Bearer ${TOKEN}"},
                              .variables = {{.name = "TOKEN", .value = "hush"}}});
  EXPECT_EQ(server.command.at(2), "mcp-remote@0.15.1");
  EXPECT_EQ(server.command.back(), "Authorization:Bearer ${TOKEN}");
  EXPECT_THAT(variables_in(server), ElementsAre("TOKEN=hush (secret)"));
}

TEST(RemoteServer, UnderstandsThePlaceholdersOfHosts) {
  const auto server = remote({.url = "https://example.org/mcp",
                              .headers = {{.name = "A", .value = "Bearer ${input:my-token}"},
                                          {.name = "B", .value = "${env:B_KEY}"},
                                          {.name = "C", .value = "Bearer $C_KEY"},
                                          {.name = "D", .value = "<your key>"},
                                          {.name = "E", .value = "${E_KEY:-none}"}}});
  EXPECT_THAT(server.command, AllOf(Contains("A:Bearer ${MY_TOKEN}"), Contains("B:${B_KEY}"),
                                    Contains("C:Bearer ${C_KEY}"), Contains("D:${HEADER_D}"),
                                    Contains("E:${E_KEY}")));
  EXPECT_THAT(variables_in(server),
              ElementsAre("MY_TOKEN=${MY_TOKEN} (secret)", "B_KEY=${B_KEY} (secret)",
                          "C_KEY=${C_KEY} (secret)", "HEADER_D=${HEADER_D} (secret)",
                          "E_KEY=${E_KEY} (secret)"));
}

TEST(RemoteServer, KeepsOptionsThatStayInItsCellAndRefusesOthers) {
  const auto server =
      remote({.command = {"https://example.org/mcp", "--transport", "http-only", "--debug",
                          "--auth-timeout", "5", "--ignore-tool", "delete*"}});
  EXPECT_THAT(server.command, ElementsAre("npx", "-y", "mcp-remote", "https://example.org/mcp",
                                          "--transport", "http-only", "--ignore-tool", "delete*"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "--enable-proxy"}), HasSubstr("--enable-proxy"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "--header-file", "/x"}),
              HasSubstr("--header-file"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "--header"}), HasSubstr("no value"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "--header", "no colon"}),
              HasSubstr("NAME: VALUE"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "--header", "A: x\r\nB: y"}),
              HasSubstr("more than a line"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "--header", "A-B: x", "--header", "A_B: y"}),
              HasSubstr("HEADER_A_B"));
  EXPECT_THAT(refusal({"https://example.org/mcp", "again"}), HasSubstr("no option"));
}

TEST(RemoteServer, KeepsTheSecretOfAClientThatIsRegistered) {
  const auto server = remote({.command = {"https://example.org/mcp", "--static-oauth-client-info",
                                          R"({"client_id":"a","client_secret":"hush"})"}});
  EXPECT_THAT(server.command, Contains("${OAUTH_CLIENT_INFO}"));
  EXPECT_THAT(server.command, Not(Contains(HasSubstr("hush"))));
  EXPECT_EQ(remote({.command = server.command}).command, server.command);
}

TEST(RemoteServer, HasTextBesidePlaceholdersInVariablesToo) {
  const auto server = remote({.url = "https://example.org/mcp",
                              .headers = {{.name = "A", .value = "Bearer abc${X}"},
                                          {.name = "B", .value = "${X}:hush;${Y}/z"},
                                          {.name = "C", .value = "hush ${X}"},
                                          {.name = "D", .value = "${X}, ${Y}"}}});
  EXPECT_THAT(server.command,
              AllOf(Contains("A:Bearer ${HEADER_A_PART_1}${X}"),
                    Contains("B:${X}${HEADER_B_PART_2}${Y}${HEADER_B_PART_3}"),
                    Contains("C:${HEADER_C_PART_1}${X}"), Contains("D:${X}, ${Y}")));
  EXPECT_THAT(variables_in(server),
              ElementsAre("HEADER_A_PART_1=abc (secret)", "X=${X} (secret)",
                          "HEADER_B_PART_2=:hush; (secret)", "Y=${Y} (secret)",
                          "HEADER_B_PART_3=/z (secret)", "HEADER_C_PART_1=hush  (secret)"));
  EXPECT_EQ(remote({.command = server.command}).command, server.command);
}

TEST(RemoteServer, TakesNoFirstWordOfASecretForAScheme) {
  const auto server = remote({.command = {"https://example.org/mcp", "--header", "A: hush hush"}});
  EXPECT_EQ(server.command.back(), "A:${HEADER_A}");
  EXPECT_THAT(variables_in(server), ElementsAre("HEADER_A=hush hush (secret)"));
}

TEST(RemoteServer, KeepsNoSecretInTheValueOfAnOption) {
  const std::string token = "ghp_hush0hush0hush0hush0hush0hush0hush0";
  for (const Words& option :
       {Words{"--authorize-param", "token=hush"}, Words{"--authorize-param", "x=" + token},
        Words{"--resource", "https://example.org/mcp?key=hush"},
        Words{"--resource", "https://user:hush@example.org/"}, Words{"--ignore-tool", token},
        Words{"--static-oauth-client-metadata", R"({"client_secret":"hush"})"},
        Words{"--static-oauth-client-metadata", R"({"x":[{"y":")" + token + R"("}]})"}}) {
    const auto text = refusal({"https://example.org/mcp", option[0], option[1]});
    EXPECT_THAT(text, AllOf(Not("none"), HasSubstr(option[0]), Not(HasSubstr("hush"))));
  }
  EXPECT_EQ(refusal({"https://example.org/mcp", "--static-oauth-client-metadata",
                     R"({"scope":"read","token_endpoint_auth_method":"none"})"}),
            "none");
}

TEST(RemoteServer, TakesNoOtherOptionOrFileForTheValueOfAnOption) {
  for (const Words& option :
       {Words{"--ignore-tool", "--enable-proxy"}, Words{"--static-oauth-client-metadata", "@/x"},
        Words{"--static-oauth-client-metadata", "no JSON"}, Words{"--body-timeout", "x"},
        Words{"--authorize-param", "prompt"}, Words{"--callback-path", ""},
        Words{"--callback-path", "${X}"}}) {
    EXPECT_THAT(refusal({"https://example.org/mcp", option[0], option[1]}), HasSubstr(option[0]));
  }
}

TEST(RemoteServer, OfARegistryThatNamesMcpRemoteItselfIsALineLikeAnyOther) {
  const auto server = remote({.command = {"https://example.org/mcp", "--header", "A: hush"},
                              .package = PackageName{.name = "mcp-remote", .version = "0.15.1"}});
  EXPECT_THAT(server.command, ElementsAre("npx", "-y", "mcp-remote@0.15.1",
                                          "https://example.org/mcp", "--header", "A:${HEADER_A}"));
  EXPECT_FALSE(server.package);
}

TEST(RemoteServer, IsNoOtherServer) {
  const Words line{"npx", "-y", "mcp-remote-thing", "https://example.org"};
  EXPECT_EQ(remote({.command = line}).command, line);
  EXPECT_FALSE(is_remote(DeclaredServer{.command = line}));
  EXPECT_FALSE(is_remote(DeclaredServer{.command = {"node", "https://example.org"}}));
  EXPECT_TRUE(is_remote(DeclaredServer{.command = {"https://example.org"}}));
}

// ---- hosts ----

MachineView machine(bool is_installed) {
  return {
      .kind_of =
          [is_installed](const std::string& path) {
            const bool is_there = is_installed && path.ends_with("/start.mjs");
            return is_there ? PathKind::file : PathKind::absent;
          },
      .find_program = [](const std::string& name) { return "/usr/bin/" + name; },
      .installed =
          [](const std::string& prefix, const PackageName&) {
            return std::optional<InstalledPackage>(
                {.entry = prefix + "/node_modules/mcp-remote/dist/proxy.js", .version = "0.15.1"});
          }};
}

Proposal imported(const std::string& text, bool is_installed = false) {
  const auto servers = declared_servers(text, {});
  EXPECT_TRUE(servers.has_value()) << servers.error().text;
  const auto all = servers ? propose_all(*servers, machine(is_installed),
                                         {.programs = "/opt/cellblock", .secrets = "/etc/secrets"})
                           : Result<std::vector<Proposal>>(std::vector<Proposal>{});
  EXPECT_TRUE(all && all->size() == 1);
  return all && !all->empty() ? all->front() : Proposal{};
}

// Each says: this address, and a token that is to be had elsewhere or stands there.
const Words files = {
    R"({"mcpServers": {"far": {"type": "http", "url": "https://example.org/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}"}}}})",
    R"({"mcpServers": {"far": {"serverUrl": "https://example.org/mcp",
        "headers": {"Authorization": "Bearer ${env:TOKEN}"}}}})",
    R"({"mcpServers": {"far": {"httpUrl": "https://example.org/mcp",
        "headers": {"Authorization": "Bearer $TOKEN"}}}})",
    R"({"servers": {"far": {"type": "http", "url": "https://example.org/mcp",
        "headers": {"Authorization": "Bearer ${input:token}"}}}})",
    R"({"context_servers": {"far": {"url": "https://example.org/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}"}}}})",
    "[mcp_servers.far]\nurl = \"https://example.org/mcp\"\nbearer_token_env_var = \"TOKEN\"\n",
    "[mcp_servers.far]\nurl = \"https://example.org/mcp\"\n[mcp_servers.far.http_headers]\n"
    "Authorization = \"Bearer ${TOKEN}\"\n",
    R"({"mcpServers": {"far": {"command": "npx", "args": ["mcp-remote", "https://example.org/mcp",
        "--header", "Authorization:Bearer ${TOKEN}"]}}})"};

TEST(RemoteServer, IsReadFromEveryHost) {
  for (const auto& file : files) {
    const auto proposal = imported(file);
    EXPECT_EQ(proposal.obstacle, "") << file;
    EXPECT_THAT(
        proposal.command,
        ElementsAre("/usr/bin/node", "/opt/cellblock/far/node_modules/mcp-remote/dist/proxy.js",
                    "https://example.org/mcp", "--header", "Authorization:Bearer ${TOKEN}"))
        << file;
    EXPECT_THAT(proposal.domains, ElementsAre("example.org:443")) << file;
    ASSERT_EQ(proposal.secrets.size(), 1U) << file;
    EXPECT_EQ(proposal.secrets[0].file, "/etc/secrets/far.TOKEN");
    EXPECT_THAT(proposal.todos, IsEmpty()) << file;
  }
}

TEST(RemoteServer, OfAFileReachesNothingPrivateByItself) {
  const auto proposal =
      imported(R"({"mcpServers": {"far": {"url": "http://localhost:6379/mcp"}}})");
  EXPECT_THAT(proposal.domains, IsEmpty());
  EXPECT_THAT(proposal.todos, Contains(HasSubstr("--egress 127.0.0.1/32:6379")));
}

// Why a file's server with that option has no cell; empty: it has one.
std::string obstacle_of(const std::string& option, const std::string& value) {
  const Words line{"mcp-remote", "https://example.org/mcp", option, value};
  const nlohmann::json server{{"command", "npx"}, {"args", line}};
  return imported(nlohmann::json{{"mcpServers", {{"far", server}}}}.dump()).obstacle;
}

TEST(RemoteServer, OfAFileAsksForNoTokenThatIsMeantForAnotherHost) {
  for (const Words& option :
       {Words{"--resource", "https://bank.example/api"}, Words{"--resource", "api://bank"},
        Words{"--authorize-param", "resource=https://bank.example/api"},
        Words{"--authorize-param", "audience=bank"},
        Words{"--authorize-param", "next=https://bank.example/"},
        Words{"--client-metadata-url", "https://bank.example/client.json"},
        Words{"--static-oauth-client-metadata", R"({"client_uri":"https://bank.example/"})"}}) {
    EXPECT_THAT(obstacle_of(option[0], option[1]), HasSubstr("another host")) << option[1];
    EXPECT_EQ(refusal({"https://example.org/mcp", option[0], option[1]}), "none") << option[1];
  }
  for (const Words& option :
       {Words{"--resource", "https://Example.org/v1"}, Words{"--authorize-param", "prompt=consent"},
        Words{"--authorize-param", "audience=https://example.org/v1"},
        Words{"--client-metadata-url", "https://example.org/client.json"},
        Words{"--static-oauth-client-metadata", R"({"scope":"read"})"}}) {
    EXPECT_EQ(obstacle_of(option[0], option[1]), "") << option[1];
  }
}

TEST(RemoteServer, WithTheOlderTransportTriesThatFirst) {
  const auto proposal =
      imported(R"({"mcpServers": {"far": {"type": "sse", "url": "https://example.org/sse"}}})");
  EXPECT_THAT(proposal.command, Contains("sse-first"));
}

TEST(RemoteServer, OfARegistryIsItsFirstAddress) {
  const auto proposal = imported(R"({"name": "org.example/far", "remotes": [
    {"type": "streamable-http", "url": "https://example.org/mcp",
     "headers": [{"name": "X-Key", "value": "{key}", "isSecret": true}]}]})");
  EXPECT_THAT(proposal.command, Contains("X-Key:${HEADER_X_KEY}"));
  EXPECT_EQ(proposal.secrets.at(0).variable, "HEADER_X_KEY");
}

TEST(RemoteServer, ThatIsInstalledIsStartedByOurScript) {
  const auto proposal =
      imported(R"({"mcpServers": {"far": {"url": "https://example.org/mcp"}}})", true);
  EXPECT_EQ(proposal.command.at(1), "/opt/cellblock/far/start.mjs");
  EXPECT_THAT(proposal.command.at(2), HasSubstr("mcp-remote/dist/proxy.js"));
}

}  // namespace
}  // namespace cellblock::cli
