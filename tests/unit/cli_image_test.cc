// `docker run ...` as a server in a cell: what is taken from the line and from the image.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/image_config.h"
#include "client/cli/add/image_proposal.h"
#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/container_run.h"
#include "client/cli/install/image_source.h"
#include "client/cli/install/package_install.h"
#include "client/cli/install/registry_rules.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;

ContainerRun run_of(const Words& command) {
  const auto run = container_run(command);
  if (!run || !*run) {
    ADD_FAILURE() << (run ? "no container" : run.error().text);
    return {};
  }
  return **run;
}

std::string error_of(const Words& command) {
  const auto run = container_run(command);
  return run ? "" : run.error().text;
}

// ---- the line ----

TEST(ContainerLine, IsOneOfDockerPodmanOrNerdctl) {
  for (const Words& command : {Words{"docker", "run", "i"}, Words{"/usr/bin/podman", "run", "i"},
                               Words{"docker", "container", "run", "i"},
                               Words{"docker.exe", "run", "i"}, Words{"nerdctl", "run", "i"}}) {
    EXPECT_EQ(run_of(command).image, "i");
  }
  for (const Words& command : {Words{"docker", "exec", "i"}, Words{"npx", "run", "i"},
                               Words{"docker"}, Words{"docker", "mcp", "gateway", "run"}}) {
    EXPECT_FALSE(container_run(command).value().has_value());
  }
}

TEST(ContainerLine, WhatStandsBehindTheImageIsTheServers) {
  const auto run = run_of({"docker", "run", "-i", "--rm", "mcp/time:1", "--rm", "-e", "X"});
  EXPECT_EQ(run.image, "mcp/time:1");
  EXPECT_THAT(run.arguments, ElementsAre("--rm", "-e", "X"));
}

TEST(ContainerLine, VariablesAreGivenOrInherited) {
  const auto run = run_of({"docker", "run", "-i", "-e", "A=1", "-eB=2=3", "--env", "TOKEN",
                           "--env=C", "--env-file", "/e", "i"});
  ASSERT_EQ(run.variables.size(), 2U);
  EXPECT_EQ(run.variables[0].value, "1");
  EXPECT_EQ(run.variables[1].name, "B");
  EXPECT_EQ(run.variables[1].value, "2=3");
  EXPECT_THAT(run.inherited, ElementsAre("TOKEN", "C"));
  EXPECT_THAT(run.environment_files, ElementsAre("/e"));
}

TEST(ContainerLine, AFileOfVariablesHasOneALine) {
  ContainerRun run;
  read_environment_file("# words\n\nA=1\r\n  B=x y\nTOKEN\n", run);
  ASSERT_EQ(run.variables.size(), 2U);
  EXPECT_EQ(run.variables[0].value, "1");
  EXPECT_EQ(run.variables[1].value, "x y");
  EXPECT_THAT(run.inherited, ElementsAre("TOKEN"));
}

TEST(ContainerLine, DirectoriesOfTheHostAreReadOrWritten) {
  const auto run =
      run_of({"docker", "run", "-v", "/a:/data", "--volume=/b:/ro:ro,z", "--mount",
              "type=bind,src=/c,dst=/c", "--mount=type=bind,source=/d,target=/d,readonly", "i"});
  ASSERT_EQ(run.mounts.size(), 4U);
  EXPECT_EQ(run.mounts[0].source + " " + run.mounts[0].target, "/a /data");
  EXPECT_FALSE(run.mounts[0].is_read_only);
  EXPECT_TRUE(run.mounts[1].is_read_only);
  EXPECT_FALSE(run.mounts[2].is_read_only);
  EXPECT_TRUE(run.mounts[3].is_read_only);
}

TEST(ContainerLine, EntryPointDirectoryAndNetworkAreTaken) {
  const auto run = run_of({"docker", "run", "-i", "--init", "--entrypoint", "/x", "-w", "/app",
                           "--network", "none", "--cap-drop=ALL", "--read-only", "i"});
  EXPECT_EQ(run.entrypoint, "/x");
  EXPECT_EQ(run.working_directory, "/app");
}

TEST(ContainerLine, WhatMattersToNoServerIsRemarkedUpon) {
  const auto run = run_of({"docker", "run", "-u", "0:0", "--name", "x", "--pull", "always", "i"});
  ASSERT_EQ(run.remarks.size(), 3U);
  EXPECT_THAT(run.remarks[0], HasSubstr("--user: a cell has an id of its own"));
}

struct Refused {
  Words options;
  const char* why;
};

TEST(ContainerLine, WhatACellCannotKeepIsNamedAndRefused) {
  const std::vector<Refused> all = {
      {{"--network", "host"}, "--egress NAME:PORT"},
      {{"--net=mine"}, "--egress NAME:PORT"},
      {{"--privileged"}, "no capability"},
      {{"--cap-add", "NET_ADMIN"}, "--cap-add"},
      {{"--device=/dev/kvm"}, "--device"},
      {{"-p", "8080:80"}, "no port"},
      {{"-it"}, "--tty"},
      {{"-d"}, "--detach"},
      {{"--pid=host"}, "no namespace"},
      {{"-m", "1g"}, "limits"},
      {{"-v", "data:/data"}, "is a volume of the engine's"},
      {{"-v", "/data"}, "volume without a source"},
      {{"-v", "/var/run/docker.sock:/s"}, "socket of the host's"},
      {{"-v", "/a:/b:shared"}, "\"shared\" is not understood"},
      {{"--mount", "type=volume,src=x,dst=/y"}, "type=volume"},
      {{"--mount", "type=bind,src=/x,dst=/y,bind-propagation=shared"}, "bind-propagation"},
      {{"--tmpfs", "/x"}, "/tmp"},
      {{"--platform", "windows/amd64"}, "this machine runs"},
      {{"--frobnicate"}, "\"--frobnicate\" of its container is not understood"},
      {{"-x"}, "\"-x\" of its container is not understood"},
  };
  for (const auto& [options, why] : all) {
    Words command{"docker", "run", "-i", "--rm"};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("image");
    EXPECT_THAT(error_of(command), HasSubstr(why)) << options.front();
  }
  EXPECT_THAT(error_of({"docker", "run", "-i"}), HasSubstr("names no image"));
  EXPECT_THAT(error_of({"docker", "run", "-e"}), HasSubstr("not understood"));
}

TEST(ContainerLine, ANameOfAnImageIsNoPathOfOurs) {
  const MachineView machine{.kind_of = [](const std::string&) { return PathKind::directory; },
                            .find_program = {},
                            .installed = {}};
  const Words command{"docker", "run", "-i", "mcp/time", "data/x"};
  EXPECT_EQ(with_whole_paths(command, "/home/alice", machine), command);
}

// ---- where it is fetched from ----

TEST(ImageSource, ANameWithoutAHostIsOneOfTheDefaultRegistry) {
  EXPECT_EQ(image_source("time")->reference, "docker://docker.io/library/time:latest");
  EXPECT_EQ(image_source("mcp/time")->reference, "docker://docker.io/mcp/time:latest");
  EXPECT_EQ(image_source("mcp/time:1.2")->reference, "docker://docker.io/mcp/time:1.2");
  EXPECT_EQ(image_source("registry.example.org/a/b")->reference,
            "docker://registry.example.org/a/b:latest");
  EXPECT_EQ(image_source("registry.example.org:5000/a/b")->registry, "registry.example.org:5000");
  EXPECT_EQ(image_source("localhost/a")->registry, "localhost");
  const std::string pinned = "registry.example.org/a@sha256:" + std::string(64, '0');
  EXPECT_EQ(image_source(pinned)->reference, "docker://" + pinned);
}

TEST(ImageSource, FilesOfThisMachineAreSeenAtOnePlaceInTheCell) {
  const auto layout = image_source("oci:/home/alice/layout:v1");
  EXPECT_EQ(layout->reference, "oci:/image:v1");
  EXPECT_EQ(layout->path, "/home/alice/layout");
  EXPECT_THAT(layout->egress, IsEmpty());
  EXPECT_EQ(image_source("oci-archive:/a.tar")->reference, "oci-archive:/image");
  EXPECT_EQ(image_source("docker-archive:/a.tar:x:1")->reference, "docker-archive:/image:x:1");
}

TEST(ImageSource, OtherTextsAreRefused) {
  for (const char* text :
       {"", "-v", "a b", "a;b", "/etc/passwd", "docker://", "oci:/a:b c", "$(x)", "oci:layout"}) {
    const auto source = image_source(text);
    EXPECT_TRUE(!source || source->path.empty()) << text;
    if (source) EXPECT_TRUE(source->reference.starts_with("docker://docker.io/")) << text;
  }
}

// ---- what the image says ----

TEST(ImageConfig, SaysWhatIsRunWhereAndWithWhat) {
  const auto config = read_image_config(
      R"({"architecture":"amd64","config":{"Entrypoint":["node"],"Cmd":["index.js"],
          "Env":["PATH=/bin","A=b=c","odd"],"WorkingDir":"/app","User":"0"}})");
  ASSERT_TRUE(config.has_value()) << config.error().text;
  EXPECT_THAT(started_by(*config), ElementsAre("node", "index.js"));
  EXPECT_THAT(config->variables, ElementsAre(Pair("PATH", "/bin"), Pair("A", "b=c")));
  EXPECT_EQ(config->working_directory, "/app");
}

TEST(ImageConfig, MayLackEverything) {
  EXPECT_THAT(started_by(*read_image_config("{}")), IsEmpty());
  EXPECT_THAT(started_by(*read_image_config(R"({"config":{"Entrypoint":null,"Cmd":null}})")),
              IsEmpty());
}

TEST(ImageConfig, OfAnotherFormIsRefused) {
  EXPECT_FALSE(read_image_config("[]").has_value());
  EXPECT_FALSE(read_image_config("no json").has_value());
  EXPECT_FALSE(read_image_config(R"({"config":{"Entrypoint":"node"}})").has_value());
  EXPECT_FALSE(read_image_config(R"({"config":{"Cmd":[1]}})").has_value());
  std::string variables;
  for (int i = 0; i < 257; ++i) variables += (i == 0 ? "" : ",") + std::string(R"("A=1")");
  const auto many = read_image_config(R"({"config":{"Env":[)" + variables + "]}}");
  EXPECT_THAT(many.error().text, HasSubstr("257 variables; allowed: at most 256"));
}

// ---- the server ----

/// Of an image with these programs.
class ProposedImage : public testing::Test {
 protected:
  Result<Proposal> propose(const Words& command) {
    AddedServer added;
    added.declared.name = "boxed";
    added.declared.variables = variables_;
    const auto run = run_of(command);
    return image_proposal(added, run, {"/opt/image", config_},
                          {.view = view_, .machine = machine_, .secrets = "/secrets"});
  }

  std::map<std::string, std::string> programs_ = {
      {"/usr/local/bin/node", ""}, {"/app/run.sh", "/usr/bin/env node"}, {"/bin/server", ""}};
  ImageConfig config_{.entrypoint = {"node"},
                      .command = {"index.js"},
                      .variables = {{"PATH", "/usr/local/bin:/bin"}, {"HOME", "/root"}},
                      .working_directory = "/app"};
  std::vector<DeclaredVariable> variables_;
  ImageView view_{
      .program_at =
          [this](const std::string& path) { return programs_.contains(path) ? path : ""; },
      .is_directory = [](const std::string& path) { return path == "/app" || path == "/"; },
      .first_line = [this](const std::string& path) { return programs_[path]; }};
  MachineView machine_{.kind_of =
                           [](const std::string& path) {
                             return path == "/srv/data" ? PathKind::directory : PathKind::absent;
                           },
                       .find_program = {},
                       .installed = {}};
};

TEST_F(ProposedImage, RunsWhatTheImageRunsByItsWholePath) {
  const auto proposal = propose({"docker", "run", "-i", "i"});
  ASSERT_TRUE(proposal.has_value()) << proposal.error().text;
  EXPECT_THAT(proposal->command, ElementsAre("/usr/local/bin/node", "index.js"));
  EXPECT_EQ(proposal->image, "/opt/image");
  EXPECT_EQ(proposal->working_directory, "/app");
  EXPECT_EQ(proposal->profile, "node");
  const auto text = server_toml(*proposal);
  EXPECT_THAT(text, HasSubstr("image = \"/opt/image\"\nworking_directory = \"/app\"\n"));
}

TEST_F(ProposedImage, ArgumentsTakeThePlaceOfTheImages) {
  EXPECT_THAT(propose({"docker", "run", "i", "other.js"})->command,
              ElementsAre("/usr/local/bin/node", "other.js"));
  EXPECT_THAT(propose({"docker", "run", "--entrypoint", "/bin/server", "i"})->command,
              ElementsAre("/bin/server"));
  EXPECT_THAT(propose({"docker", "run", "--entrypoint", "./run.sh", "i", "x"})->command,
              ElementsAre("/app/run.sh", "x"));
}

TEST_F(ProposedImage, TheProfileFollowsFromTheProgramOrItsFirstLine) {
  EXPECT_EQ(propose({"docker", "run", "--entrypoint", "/bin/server", "i"})->profile, "native");
  EXPECT_EQ(propose({"docker", "run", "--entrypoint", "/app/run.sh", "i"})->profile, "node");
}

TEST_F(ProposedImage, AProgramThatItLacksAndAnEmptyLineAreRefused) {
  EXPECT_THAT(propose({"docker", "run", "--entrypoint", "gone", "i"}).error().text,
              HasSubstr("gone is no program of the image"));
  config_.entrypoint.clear();
  config_.command.clear();
  EXPECT_THAT(propose({"docker", "run", "i"}).error().text, HasSubstr("--entrypoint"));
}

TEST_F(ProposedImage, VariablesThatACellSetsItselfAreLeftOutAndGivenOnesWin) {
  config_.variables.emplace_back("MODE", "image");
  variables_ = {{.name = "MODE", .value = "mine"},
                {.name = "API_TOKEN", .value = "hush-hush-hush"}};
  const auto proposal = propose({"docker", "run", "i"});
  EXPECT_THAT(proposal->variables,
              ElementsAre(Pair("PATH", "/usr/local/bin:/bin"), Pair("MODE", "mine")));
  EXPECT_THAT(proposal->remarks, ElementsAre(HasSubstr("the variable HOME")));
  ASSERT_EQ(proposal->secrets.size(), 1U);
  EXPECT_EQ(proposal->secrets[0].file, "/secrets/boxed.API_TOKEN");
  EXPECT_THAT(server_toml(*proposal), Not(HasSubstr("hush")));
}

TEST_F(ProposedImage, DirectoriesAreSeenWhereTheLinePutsThem) {
  const auto proposal = propose({"docker", "run", "-v", "/srv/data:/data:ro", "i"});
  ASSERT_TRUE(proposal.has_value()) << proposal.error().text;
  EXPECT_THAT(server_toml(*proposal), HasSubstr("read = [\n  \"/srv/data:/data\","));
  EXPECT_THAT(propose({"docker", "run", "-v", "/srv/gone:/data", "i"}).error().text,
              HasSubstr("is not there"));
  EXPECT_THAT(propose({"docker", "run", "-v", "/etc/ssh:/data", "i"}).error().text,
              HasSubstr("may hold secrets"));
}

TEST_F(ProposedImage, AWorkingDirectoryThatTheImageLacksIsItsHome) {
  const auto proposal =
      propose({"docker", "run", "-w", "/gone", "--entrypoint", "/bin/server", "i"});
  EXPECT_EQ(proposal->working_directory, "");
  EXPECT_THAT(proposal->remarks.back(), HasSubstr("/gone, which the image lacks"));
}

TEST_F(ProposedImage, SecretsAmongTheArgumentsAreRefused) {
  EXPECT_THAT(propose({"docker", "run", "i", "--key", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"})
                  .error()
                  .text,
              HasSubstr("looked like a secret"));
}

// ---- its files ----

TEST(ImageView, LooksBelowTheRootAndNowhereElse) {
  const ScratchDirectory scratch;
  scratch.make_directory("image", 0755);
  scratch.make_directory("image/bin", 0755);
  scratch.write("image/bin/server", "#!/usr/bin/python3 -I\nx", 0755);
  scratch.write("image/plain", "x", 0644);
  scratch.write("outside", "x", 0755);
  const auto root = scratch.path() + "/image";
  fs::create_symlink("/bin/server", root + "/link");
  fs::create_symlink(scratch.path() + "/outside", root + "/away");
  fs::create_symlink("../../../../../../bin/server", root + "/up");
  const auto view = view_of_image(root);
  EXPECT_THAT(view.program_at("/link"), HasSubstr("/image/bin/server"));
  EXPECT_THAT(view.program_at("/up"), HasSubstr("/image/bin/server"));
  EXPECT_EQ(view.program_at("/away"), "");
  EXPECT_EQ(view.program_at("/plain"), "");
  EXPECT_EQ(view.program_at("/usr/bin/env"), "");
  EXPECT_TRUE(view.is_directory("/bin"));
  EXPECT_EQ(view.first_line("/bin/server"), "/usr/bin/python3 -I");
}

// ---- the registry ----

// The rules for it, or why there are none.
Words registry_rules(const std::string& url, const PrivateAddresses& meant) {
  Words rules;
  const auto added = add_named_registry_rules(url, meant, rules);
  return added ? rules : Words{added.error().text};
}

TEST(RegistryOfALine, IsAtAnAddressThatIsNotPublicOnlyWhereThatIsMeant) {
  const Words opened{"127.0.0.1/32:5000"};
  EXPECT_EQ(registry_rules("https://127.0.0.1:5000", {.any = true}), opened);
  EXPECT_EQ(registry_rules("https://127.0.0.1:5000", {.named = for_any_host({"127.0.0.0/8:5000"})}),
            opened);
  for (const Words& named : {Words{}, Words{"127.0.0.1/32:5001"}, Words{"10.0.0.0/8:5000"},
                             Words{"localhost:5000"}, Words{"registry.example.org:5000"}}) {
    EXPECT_THAT(registry_rules("https://127.0.0.1:5000", {.named = for_any_host(named)}),
                ElementsAre(HasSubstr("not public: --egress 127.0.0.1/32:5000")));
  }
  EXPECT_THAT(registry_rules("https://localhost:5000", {}), ElementsAre(HasSubstr("not public")));
  EXPECT_THAT(registry_rules("https://169.254.169.254", {}), ElementsAre(HasSubstr("not public")));
}

TEST(RegistryOfALine, ThatIsAnAddressHasTheRangesThatAreMeantForAddresses) {
  const Words range{"127.0.0.0/8:5000"};
  const Words opened{"127.0.0.1/32:5000"};
  for (const char* url : {"https://127.0.0.1:5000", "https://localhost:5000"}) {
    EXPECT_THAT(registry_rules(url, {.named = {.for_addresses = range}}), IsSupersetOf(opened));
    EXPECT_THAT(registry_rules(url, {.named = {.for_names = range}}),
                ElementsAre(HasSubstr("not public")));
  }
}

TEST(RegistryOfALine, AtAPublicAddressIsReached) {
  EXPECT_THAT(registry_rules("https://203.0.114.7", {}), ElementsAre("203.0.114.7/32:443"));
  EXPECT_THAT(private_rules({"203.0.114.7/32:443", "10.0.0.1/32:443", "example.org:443"}),
              ElementsAre("10.0.0.1/32:443"));
}

TEST(ImageTree, IsCopiedWithItsLinksAndWithoutSetIdBits) {
  const ScratchDirectory scratch;
  const auto from = scratch.make_directory("image", 0755);
  scratch.write("image/su", "x", 04750);
  scratch.write("image/shadow", "x", 0600);
  fs::create_symlink("/etc/shadow", from + "/whole");
  fs::create_symlink("../../../x", from + "/up");
  const auto to = scratch.path() + "/copy";
  const auto copied = copy_tree(from, to, TreeKind::image);
  ASSERT_TRUE(copied.has_value()) << copied.error().text;
  struct stat status{};
  ASSERT_EQ(::stat((to + "/su").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0755U);
  ASSERT_EQ(::stat((to + "/shadow").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0644U);
  EXPECT_EQ(fs::read_symlink(to + "/whole"), "/etc/shadow");
  EXPECT_EQ(fs::read_symlink(to + "/up"), "../../../x");
}

TEST(ImageTree, WithAPipeIsRefused) {
  const ScratchDirectory scratch;
  const auto from = scratch.make_directory("image", 0755);
  ASSERT_EQ(::mkfifo((from + "/pipe").c_str(), 0600), 0);
  const auto copied = copy_tree(from, scratch.path() + "/copy", TreeKind::image);
  EXPECT_THAT(copied.error().text, HasSubstr("pipe is no file, directory or link"));
  EXPECT_FALSE(fs::exists(scratch.path() + "/copy"));
}

}  // namespace
}  // namespace cellblock::cli
