// A server with egress reaches what its list names, with real clients that know nothing of it, and
// nothing else. Everything outside is in a network namespace that the tests make.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "supervisor/ipc/wire.h"
#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

constexpr std::string_view world_script = CELLBLOCK_SOURCE "/tests/fixtures/egress_world.py";
constexpr std::string_view python = "/usr/bin/python3";
constexpr const char* node = "/usr/bin/node";

std::string missing_program() {
  for (const char* path :
       {"/usr/bin/python3", "/usr/bin/openssl", "/usr/bin/curl", "/usr/bin/git", "/usr/sbin/ip"}) {
    if (::access(path, X_OK) != 0) return path;
  }
  return {};
}

/// In the words that the shell has no part in.
std::vector<std::string> python_words(const std::string& program) {
  return {std::string(python), "-c", program};
}

std::vector<std::string> curl(const std::string& url) {
  return {"/usr/bin/curl", "--silent", "--show-error", "--max-time", "15", url};
}

/// Tells what becomes of a connection: "connected" or the name of the errno.
std::vector<std::string> socket_to(const std::string& address, int port,
                                   std::string_view type = "SOCK_STREAM") {
  return python_words(fmt::format(
      "import errno, socket\n"
      "family = socket.AF_INET6 if ':' in '{0}' else socket.AF_INET\n"
      "s = socket.socket(family, socket.{2}); s.settimeout(10)\n"
      "try:\n"
      "    s.connect(('{0}', {1})); s.send(b'GET / HTTP/1.0\\r\\n\\r\\n'); data = s.recv(1)\n"
      "    print('answered' if data else 'closed')\n"
      "except OSError as e: print(errno.errorcode.get(e.errno, 'timeout'))\n",
      address, port, type));
}

std::vector<std::string> tls_greeting(const std::string& name, const std::string& greeted,
                                      const std::string& authority) {
  return python_words(
      fmt::format("import socket, ssl\n"
                  "c = ssl.create_default_context(cafile='{2}')\n"
                  "try:\n"
                  "    with socket.create_connection(('{0}', 443), timeout=10) as s:\n"
                  "        c.wrap_socket(s, server_hostname='{1}'); print('greeted')\n"
                  "except OSError as e: print('refused')\n",
                  name, greeted, authority));
}

class EgressEndToEnd : public testing::Test {
 protected:
  explicit EgressEndToEnd(Mode mode = Mode::system) : daemon_(mode) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: a network namespace with an Internet";
    if (const auto missing = missing_program(); !missing.empty()) {
      GTEST_SKIP() << "needs " << missing;
    }
    // The daemon and all it starts are in it as well.
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    make_site();
    world_.emplace(Process::Options{{std::string(python), std::string(world_script), world_path()},
                                    {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                    {},
                                    {}});
    ASSERT_TRUE(world_->output().wait_for("ready")) << world_->errors().so_far();
  }

  std::string world_path() const { return daemon_.directory().path("world"); }
  std::string authority() const { return world_path() + "/ca.pem"; }

  void make_site() const {
    daemon_.directory().write("world/www/index.html", "hello from outside\n");
    const std::string repository = world_path() + "/www/project.git";
    const std::string command = fmt::format(
        "export GIT_CONFIG_NOSYSTEM=1 HOME={0} && cd {0} && git init -q work && cd work &&"
        " echo content > file && git add file &&"
        " git -c user.name=t -c user.email=t@example.org commit -q -m first && cd .. &&"
        " git clone -q --bare work {1} && git -C {1} update-server-info",
        world_path(), repository);
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  /// A server in the cell that can read the authority's certificate.
  std::string table(std::string_view name, std::string_view program, std::string_view script,
                    std::string_view egress, std::string_view more) const {
    const fs::path source = fs::path(CELLBLOCK_SOURCE) / "tests/fixtures" / script;
    const std::string copy = daemon_.directory().path(fmt::format("scripts/{}", script));
    fs::create_directories(fs::path(copy).parent_path());
    fs::copy_file(source, copy, fs::copy_options::overwrite_existing);
    return server_table(
        daemon_, name, {std::string(program), copy},
        fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\nread = [\"{}\", \"{}\"]\n{}\n{}",
                    daemon_.user().uid, daemon_.directory().path("scripts"), authority(), egress,
                    more));
  }

  /// The daemon with a server that runs commands.
  void start(std::string_view list, std::string_view rest = "") {
    const std::string egress =
        fmt::format("network = \"egress\"\negress = {{ allow = [{}] {} }}", list, rest);
    start_with(table("run", python, "run_server.py", egress, "profile = \"python\""));
  }

  void start_with(const std::string& servers) {
    const std::string resolver =
        daemon_.directory().write("resolv.conf", "nameserver 93.184.216.53\n");
    daemon_.start(
        {.mode = daemon_.mode(), .servers = servers, .overlays = {{resolver, "/etc/resolv.conf"}}});
  }

  std::string run(const std::vector<std::string>& command) {
    Host host = daemon_.connect();
    host.open_session("run");
    return host.call_for_text("run", {{"command", command}});
  }

  /// The same outside of any cell.
  std::string outside(const std::vector<std::string>& command) const {
    const std::string resolver =
        daemon_.directory().write("resolv.conf", "nameserver 93.184.216.53\n");
    Process process({command, {"PATH=/usr/bin:/bin"}, {}, {{resolver, "/etc/resolv.conf"}}});
    process.close_input();
    std::string text = process.output().all();
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  Daemon daemon_;
  std::optional<Process> world_;
};

class EgressInMode : public EgressEndToEnd, public testing::WithParamInterface<Mode> {
 protected:
  EgressInMode() : EgressEndToEnd(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Daemon, EgressInMode,
                         testing::Values(Mode::system, Mode::user, Mode::user_with_subordinates),
                         name_of_mode);

TEST_P(EgressInMode, CurlReachesANameOnTheListAndNoOther) {
  start("\"files.example.org:80\"");
  EXPECT_EQ(run(curl("http://files.example.org/")), "0: hello from outside");
  EXPECT_EQ(outside(curl("http://other.example.org/")), "hello from outside");
  EXPECT_THAT(run(curl("http://other.example.org/")), StartsWith("6: "));
}

TEST_F(EgressEndToEnd, PythonsUrllibReachesANameOnTheListAndNoOther) {
  const auto get = [](const std::string& url) {
    return python_words("import urllib.request as u; print(u.urlopen('" + url +
                        "', timeout=15).read().decode().strip())");
  };
  start("\"files.example.org:80\"");
  EXPECT_EQ(run(get("http://files.example.org/")), "0: hello from outside");
  EXPECT_EQ(outside(get("http://other.example.org/")), "hello from outside");
  EXPECT_THAT(run(get("http://other.example.org/")), StartsWith("1: "));
}

TEST_F(EgressEndToEnd, GitClonesFromANameOnTheListAndNoOther) {
  const auto clone = [](const std::string& name, const std::string& where) {
    return std::vector<std::string>{"/usr/bin/git", "clone", "-q",
                                    "http://" + name + "/project.git", where};
  };
  start("\"files.example.org:80\"");
  EXPECT_EQ(run(clone("files.example.org", "/home/mcp/one")), "0: ");
  EXPECT_EQ(run({"/bin/cat", "/home/mcp/one/file"}), "0: content");
  EXPECT_EQ(outside(clone("other.example.org", daemon_.directory().path("copy"))), "");
  EXPECT_TRUE(fs::exists(daemon_.directory().path("copy/file")));
  EXPECT_THAT(run(clone("other.example.org", "/home/mcp/two")), StartsWith("128: "));
}

TEST_F(EgressEndToEnd, NodesFetchReachesANameOnTheListAndNoOther) {
  if (::access(node, X_OK) != 0) GTEST_SKIP() << "needs " << node;
  start_with(table(
      "fetch", node, "fetch_server.mjs",
      "network = \"egress\"\negress = { allow = [\"files.example.org:443\"] }",
      fmt::format("profile = \"node\"\nenv = {{ NODE_EXTRA_CA_CERTS = \"{}\" }}", authority())));
  const auto fetch = [&](const std::string& url) {
    const auto call =
        daemon_.command({"call", "fetch", "fetch", nlohmann::json{{"url", url}}.dump()});
    call->close_input();
    return call->output().all() + call->errors().all();
  };
  EXPECT_THAT(fetch("https://files.example.org/"), HasSubstr("200: hello from outside"));
  EXPECT_THAT(fetch("https://other.example.org/"), HasSubstr("failed: ENOTFOUND"));
}

TEST_F(EgressEndToEnd, ItsHelperIsToldOfNoOtherServer) {
  const std::string egress =
      "network = \"egress\"\negress = { allow = [\"files.example.org:80\"] }";
  start_with(table("run", python, "run_server.py", egress, "profile = \"python\"") +
             server_of_build(daemon_, "unrelated", "echo_server"));
  Host host = daemon_.connect();
  host.open_session("run");
  EXPECT_EQ(host.call_for_text("run", {{"command", curl("http://files.example.org/")}}),
            "0: hello from outside");
  const auto helpers = daemon_.processes_named("cellblock-egress");
  ASSERT_EQ(helpers.size(), 1U);
  std::ifstream config(fmt::format("/proc/{}/fd/{}", helpers[0], wire::egress_fd::config));
  if (!config) GTEST_SKIP() << "the kernel shows no descriptors of the helper";
  const std::string told{std::istreambuf_iterator<char>(config), {}};
  EXPECT_THAT(told, HasSubstr("files.example.org"));
  EXPECT_THAT(told, Not(HasSubstr("unrelated")));
  EXPECT_THAT(told, Not(HasSubstr("run_server.py")));
}

TEST_F(EgressEndToEnd, ASuffixNamesWhatIsBelowIt) {
  start("\"*.wild.example.org:80\"");
  EXPECT_EQ(run(curl("http://a.wild.example.org/")), "0: hello from outside");
  EXPECT_THAT(run(curl("http://wild.example.org/")), StartsWith("6: "));
  EXPECT_THAT(run(curl("http://files.example.org/")), StartsWith("6: "));
}

TEST_F(EgressEndToEnd, TlsMustGreetTheNameThatWasLookedUp) {
  start("\"files.example.org:443\"");
  EXPECT_EQ(run(tls_greeting("files.example.org", "files.example.org", authority())), "0: greeted");
  EXPECT_EQ(outside(tls_greeting("files.example.org", "other.example.org", authority())),
            "greeted");
  EXPECT_EQ(run(tls_greeting("files.example.org", "other.example.org", authority())), "0: refused");
}

TEST_F(EgressEndToEnd, AnAddressThatNoRuleNamesHasNoRoute) {
  start("\"files.example.org:80\"");
  for (const char* address : {"93.184.216.34", "2606:2800:220:1::34", "::ffff:93.184.216.34",
                              "169.254.169.254", "10.0.0.5"}) {
    EXPECT_EQ(outside(socket_to(address, 80)), "answered") << address;
    EXPECT_EQ(run(socket_to(address, 80)), "0: ENETUNREACH") << address;
  }
  EXPECT_EQ(run(socket_to("93.184.216.53", 53, "SOCK_DGRAM")), "0: ENETUNREACH");
}

TEST_F(EgressEndToEnd, APortThatNoRuleNamesIsRefused) {
  start("\"files.example.org:80\"");
  // By Landlock from ABI 4 on, which comes before the question who listens.
  const auto refused = testing::AnyOf("0: EACCES", "0: ECONNREFUSED");
  for (const char* host : {"files.example.org", "127.0.0.1", "::1"}) {
    EXPECT_EQ(outside(socket_to(host, 8080)), "answered") << host;
    EXPECT_THAT(run(socket_to(host, 8080)), refused) << host;
  }
}

TEST_F(EgressEndToEnd, ANameThatResolvesToAnAddressOfNoInternetIsNotDialled) {
  start("\"inside.example.org:80\", \"loopback.example.org:80\", \"metadata.example.org:80\"");
  for (const char* name : {"inside.example.org", "loopback.example.org", "metadata.example.org"}) {
    const std::string url = fmt::format("http://{}/", name);
    EXPECT_EQ(outside(curl(url)), "hello from outside");
    EXPECT_THAT(run(curl(url)), Not(HasSubstr("hello"))) << name;
  }
}

TEST_P(EgressInMode, AServerThatHangsOnANameThatItMayNotReachIsToldSo) {
  const std::string hang =
      daemon_.directory().write("scripts/hang.py",
                                "import socket, time\n"
                                "try: socket.getaddrinfo('other.example.org', 443)\n"
                                "except OSError: time.sleep(3600)\n",
                                0644);
  const std::string allow =
      fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\nread = [\"{}\"]\n",
                  daemon_.user().uid, daemon_.directory().path("scripts"));
  start_with(
      server_table(daemon_, "hangs", {std::string(python), hang},
                   allow + "profile = \"python\"\nnetwork = \"egress\"\negress = { allow = "
                           "[\"files.example.org:80\"] }\nstart = { handshake_timeout = \"3s\" }"));
  Host host = daemon_.connect();
  nlohmann::json answer = host.attach("hangs");
  if (!answer.contains("error")) {
    answer = host.request("initialize", {{"protocolVersion", "2025-11-25"},
                                         {"capabilities", nlohmann::json::object()},
                                         {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
  }
  EXPECT_THAT(answer["error"]["message"].get<std::string>(),
              HasSubstr("it was refused \"resolve other.example.org\""));
  EXPECT_THAT(answer["error"]["data"]["advice"].get<std::string>(),
              HasSubstr("egress.allow = [\"other.example.org:443\"]"));
}

TEST_F(EgressEndToEnd, ARangeOpensItsAddressesAndNamesThatResolveToThem) {
  start("\"10.0.0.0/8:80\", \"inside.example.org:80\"");
  EXPECT_EQ(run(curl("http://10.0.0.5/")), "0: hello from outside");
  EXPECT_EQ(run(curl("http://inside.example.org/")), "0: hello from outside");
  EXPECT_THAT(run(curl("http://93.184.216.34/")), Not(HasSubstr("hello")));
}

TEST_F(EgressEndToEnd, AnAbstractSocketOfTheHostIsNotThere) {
  const auto knock = python_words(
      "import socket\n"
      "try:\n"
      "    s = socket.socket(socket.AF_UNIX); s.connect('\\0cellblock-egress-test')\n"
      "    print('connected')\n"
      "except OSError: print('refused')\n");
  start("\"files.example.org:80\"");
  EXPECT_EQ(outside(knock), "connected");
  EXPECT_EQ(run(knock), "0: refused");
}

TEST_F(EgressEndToEnd, AProxyIsThereForWhoeverAsksForIt) {
  start("\"files.example.org:443\"", ", proxy = 3128");
  auto command = curl("https://files.example.org/");
  command.insert(command.end() - 1, {"--proxy", "http://127.0.0.1:3128", "--cacert", authority()});
  EXPECT_EQ(run(command), "0: hello from outside");
  command.back() = "https://other.example.org/";
  EXPECT_THAT(run(command), Not(HasSubstr("hello")));
}

TEST_F(EgressEndToEnd, TheLoopbackOfACellIsItsOwn) {
  const auto serve_itself = python_words(
      "import socket\n"
      "s = socket.create_server(('127.0.0.1', 0))\n"
      "c = socket.create_connection(s.getsockname()); c.send(b'x')\n"
      "print(s.accept()[0].recv(1))\n");
  start_with(
      table("run", python, "run_server.py", "network = \"loopback\"", "profile = \"python\""));
  EXPECT_EQ(run(serve_itself), "0: b'x'");
  EXPECT_EQ(outside(socket_to("127.0.0.1", 8080)), "answered");
  EXPECT_EQ(run(socket_to("127.0.0.1", 8080)), "0: ECONNREFUSED");
  EXPECT_EQ(run(socket_to("93.184.216.34", 80)), "0: ENETUNREACH");
}

TEST_F(EgressEndToEnd, WithoutANetworkThereAreNoInternetSockets) {
  const auto make_socket = python_words(
      "import errno, socket\n"
      "try: socket.socket(); print('made')\n"
      "except OSError as e: print(errno.errorcode[e.errno])\n");
  start_with(table("run", python, "run_server.py", "network = \"none\"", "profile = \"python\""));
  EXPECT_EQ(outside(make_socket), "made");
  EXPECT_EQ(run(make_socket), "0: EACCES");
}

TEST_F(EgressEndToEnd, TheHelperAndItsCellEndTogether) {
  start("\"files.example.org:80\"");
  Host host = daemon_.connect();
  host.open_session("run");
  // It has its name when its own set-up is done, which the session does not wait for.
  auto helpers = daemon_.processes_named("cellblock-egress");
  for (int i = 0; i < 1'000 && helpers.empty(); ++i) {
    host.request("ping");
    helpers = daemon_.processes_named("cellblock-egress");
  }
  ASSERT_EQ(helpers.size(), 1U);
  // A call that would not end by itself.
  host.send({{"jsonrpc", "2.0"},
             {"id", 77},
             {"method", "tools/call"},
             {"params", {{"name", "run"}, {"arguments", {{"command", {"/bin/sleep", "19"}}}}}}});
  ASSERT_EQ(::kill(helpers[0], SIGKILL), 0);
  EXPECT_THAT(host.answer_to(77).dump(), HasSubstr("egress_ended"));
}

}  // namespace
}  // namespace cellblock::harness
