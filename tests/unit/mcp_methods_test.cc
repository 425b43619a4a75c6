#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::mcp {
namespace {

/// Letters as in a printed table: - nobody, C client, S server, * both, a among an answer's
/// inputRequests.
char letter_of(From from) { return "-CS*a"[static_cast<std::size_t>(from)]; }

std::string senders_of(std::string_view name) {
  const Method* method = find_method(name);
  return method == nullptr ? "none"
                           : std::string{letter_of(method->legacy), letter_of(method->modern)};
}

struct Row {
  std::string_view name;
  Feature feature{};
  std::string_view senders;  ///< of the legacy era, of the modern one
};

// Section by section as the specification's two revisions list them.
constexpr std::array rows{
    Row{"initialize", Feature::lifecycle, "C-"},
    Row{"ping", Feature::lifecycle, "*-"},
    Row{"server/discover", Feature::lifecycle, "-C"},
    Row{"tools/list", Feature::tools, "CC"},
    Row{"tools/call", Feature::tools, "CC"},
    Row{"resources/list", Feature::resources, "CC"},
    Row{"resources/templates/list", Feature::resources, "CC"},
    Row{"resources/read", Feature::resources, "CC"},
    Row{"resources/subscribe", Feature::resources, "C-"},
    Row{"resources/unsubscribe", Feature::resources, "C-"},
    Row{"prompts/list", Feature::prompts, "CC"},
    Row{"prompts/get", Feature::prompts, "CC"},
    Row{"completion/complete", Feature::completions, "CC"},
    Row{"logging/setLevel", Feature::logging, "C-"},
    Row{"subscriptions/listen", Feature::subscriptions, "-C"},
    Row{"sampling/createMessage", Feature::sampling, "Sa"},
    Row{"roots/list", Feature::roots, "Sa"},
    Row{"elicitation/create", Feature::elicitation, "Sa"},
    Row{"tasks/get", Feature::tasks, "*C"},
    Row{"tasks/result", Feature::tasks, "*-"},
    Row{"tasks/list", Feature::tasks, "*-"},
    Row{"tasks/cancel", Feature::tasks, "*C"},
    Row{"tasks/update", Feature::tasks, "-C"},
    Row{"notifications/initialized", Feature::lifecycle, "C-"},
    Row{"notifications/cancelled", Feature::lifecycle, "**"},
    Row{"notifications/progress", Feature::lifecycle, "*S"},
    Row{"notifications/message", Feature::logging, "SS"},
    Row{"notifications/tools/list_changed", Feature::tools, "SS"},
    Row{"notifications/resources/list_changed", Feature::resources, "SS"},
    Row{"notifications/resources/updated", Feature::resources, "SS"},
    Row{"notifications/prompts/list_changed", Feature::prompts, "SS"},
    Row{"notifications/roots/list_changed", Feature::roots, "C-"},
    Row{"notifications/elicitation/complete", Feature::elicitation, "S-"},
    Row{"notifications/tasks/status", Feature::tasks, "*-"},
    Row{"notifications/tasks", Feature::tasks, "-S"},
    Row{"notifications/subscriptions/acknowledged", Feature::subscriptions, "-S"},
};

TEST(McpMethods, AreThoseOfTheSpecification) {
  EXPECT_EQ(rows.size(), methods.size());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(senders_of(row.name), row.senders);
    const Method* method = find_method(row.name);
    ASSERT_NE(method, nullptr);
    EXPECT_EQ(method->feature, row.feature);
  }
}

TEST(McpMethods, AreNotificationsWhereTheirNameSaysSo) {
  for (const Method& method : methods) {
    const bool named_so = method.name.starts_with(notification::prefix);
    EXPECT_EQ(method.kind == MethodKind::notification, named_so) << method.name;
  }
}

TEST(McpMethods, StandInTheTableOnceAndAreSaidBySomebody) {
  std::set<std::string_view> seen;
  for (const Method& method : methods) {
    EXPECT_TRUE(seen.insert(method.name).second) << method.name;
    EXPECT_FALSE(method.legacy == From::nobody && method.modern == From::nobody) << method.name;
  }
}

TEST(McpMethods, HaveNoOtherSpelling) {
  for (const char* name : {"", "tools", "tools/", "Tools/call", "tools/call ", "notifications/",
                           "cellblock/attach", "tools/call/x"}) {
    EXPECT_EQ(find_method(name), nullptr) << name;
  }
}

TEST(McpMethods, AskTheClientInThreeWays) {
  const auto questions =
      std::ranges::count_if(methods, [](const Method& method) { return is_question(method.name); });
  EXPECT_EQ(questions, 3);
  EXPECT_TRUE(is_question("elicitation/create"));
  EXPECT_FALSE(is_question("ping"));
}

TEST(McpLists, StandInTheOrderOfTheirKind) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    EXPECT_EQ(lists.at(i).kind, static_cast<ListKind>(i));
    EXPECT_EQ(listed_kind(lists.at(i).method), lists.at(i).kind);
  }
  EXPECT_EQ(listed_kind("tasks/list"), std::nullopt);
}

TEST(McpLists, TellOfTemplatesAsOfResources) {
  for (const List& list : lists) {
    const ListKind told =
        list.kind == ListKind::resource_templates ? ListKind::resources : list.kind;
    EXPECT_EQ(changed_list(change_of(list.kind).notification), told);
  }
  EXPECT_EQ(changed_list("notifications/roots/list_changed"), std::nullopt);
}

TEST(McpRevisions, AreLegacyUpToTheNewestOne) {
  EXPECT_TRUE(std::ranges::is_sorted(legacy_revisions));
  EXPECT_EQ(legacy_revisions.back(), newest_legacy);
  EXPECT_LT(newest_legacy, modern_revision);
  EXPECT_TRUE(is_legacy_revision("2024-11-05"));
  for (const std::string_view other : {before_release, modern_revision, std::string_view("")}) {
    EXPECT_FALSE(is_legacy_revision(other)) << other;
  }
}

}  // namespace
}  // namespace cellblock::mcp
