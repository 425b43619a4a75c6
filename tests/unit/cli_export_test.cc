#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/cli/common/listed_servers.h"
#include "client/cli/export/host_entry.h"
#include "client/cli/import/read/input_json.h"

namespace cellblock::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Export, WritesWhatEachHostReads) {
  const ConnectCommand command{.flags = {"--socket", "/run/\"x\""}, .servers = {"files", "git"}};
  for (const auto& name : host_names()) {
    const auto host = host_named(name);
    ASSERT_TRUE(host.has_value()) << name;
    EXPECT_EQ(facts_of(*host).name, name);
    const auto text = host_configuration(*host, command);
    const auto document = looks_like_json(text) ? json_of_json(text) : json_of_toml(text);
    ASSERT_TRUE(document.has_value()) << name;
    const auto& servers = *document->begin();
    ASSERT_TRUE(servers.contains("git")) << name;
    EXPECT_EQ(servers["git"]["command"], "cellblock");
    EXPECT_EQ(servers["git"]["args"].dump(), R"(["--socket","/run/\"x\"","connect","git"])");
  }
}

TEST(Export, KnowsTheHostsThatThereAre) {
  EXPECT_THAT(host_names(), ElementsAre("claude-desktop", "claude-code", "vscode", "cursor",
                                        "codex", "gemini", "zed"));
  EXPECT_FALSE(host_named("emacs").has_value());
}

TEST(Export, ListsTheServersOfAStatusAndNothingElse) {
  EXPECT_THAT(
      listed_servers(R"({"servers":[{"name":"files"},{"name":"a b"},{"x":1},{"name":"git"}]})"),
      ElementsAre("files", "git"));
  EXPECT_THAT(listed_servers("no json"), IsEmpty());
}

}  // namespace
}  // namespace cellblock::cli
