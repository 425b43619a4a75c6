#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "policy/access/rights.h"
#include "policy/access/verdict_text.h"

namespace cellblock {
namespace {

using Patterns = std::vector<NamePattern>;
using enum Effect;

constexpr std::uint32_t alice = 1000;
constexpr std::uint32_t bob = 1001;
constexpr std::uint32_t developers = 500;
constexpr RoleSet coder = 1;   // the first of `roles`
constexpr RoleSet tester = 2;  // the second

const std::vector<Role> roles{{"coder", {alice, bob}, {}}, {"tester", {alice}, {}}};

NamePattern pattern(std::string text) {
  const bool is_prefix = text.ends_with('*');
  if (is_prefix) text.pop_back();
  return {text, is_prefix};
}

Patterns patterns(const std::vector<std::string>& texts) {
  Patterns result;
  for (const std::string& text : texts) result.push_back(pattern(text));
  return result;
}

Rule tools(Effect effect, const std::vector<std::string>& names) {
  Rule rule{.name = "rule", .effect = effect, .binds_everybody = true};
  rule.tools = patterns(names);
  return rule;
}

Rule resources(Effect effect, const std::vector<std::string>& uris) {
  Rule rule = tools(effect, {});
  rule.resources = patterns(uris);
  return rule;
}

Rule bound_to(Rule rule, std::vector<std::uint32_t> uids, std::vector<std::uint32_t> gids = {},
              RoleSet named = 0) {
  rule.binds_everybody = false;
  rule.uids = std::move(uids), rule.gids = std::move(gids), rule.roles = named;
  return rule;
}

Subject subject(std::uint32_t uid, std::string_view role = {}) {
  const Subject whole = subject_of(roles, {uid, 100, {}});
  return role.empty() ? whole : as_role(roles, whole, role).value();
}

TEST(Access, AsksAnAdministratorAboutAToolWhereARuleOfThatUserDoes) {
  Rule of_user = tools(ask, {"pull"});
  of_user.approver = Approver::user;
  const std::vector<Rule> rules{bound_to(tools(ask, {"push*"}), {alice}),
                                bound_to(tools(ask, {"drop"}), {}, {}, tester), of_user,
                                tools(allow, {"*"})};
  const Rights of_alice(rules, subject(alice));
  EXPECT_TRUE(asks_administrator(of_alice, "push_all"));
  EXPECT_TRUE(asks_administrator(of_alice, "drop")) << "in a role that she can take";
  EXPECT_FALSE(asks_administrator(of_alice, "pull")) << "it asks the user";
  EXPECT_FALSE(asks_administrator(of_alice, "look"));
  const Rights of_bob(rules, subject(bob));
  EXPECT_FALSE(asks_administrator(of_bob, "push_all"));
  EXPECT_FALSE(asks_administrator(of_bob, "drop"));
}

Effect effect_on(const std::vector<Rule>& rules, const Subject& who, std::string_view tool) {
  return Rights(rules, who).decide({AccessKind::tool, tool, nullptr}).effect;
}

// --- who -----------------------------------------------------------------------------------------

TEST(Access, AServerIsForWhomARuleGivesSomething) {
  struct Row {
    std::uint32_t uid, gid;
    std::vector<std::uint32_t> groups;
    bool may;
    const char* why;
  };
  const std::array rows = {
      Row{alice, 100, {}, true, "a named user passes"},
      Row{1002, developers, {}, true, "the primary group counts"},
      Row{1002, 100, {7, developers}, true, "a supplementary group counts"},
      Row{1002, 100, {7}, false, "everybody else is denied"},
      Row{0, 0, {}, false, "root is not special"},
      Row{developers, alice, {bob}, false, "uids and gids are not mixed up"},
  };
  const std::vector<Rule> rules{short_form({alice, bob}, {developers}, patterns({"read_*"}))};
  for (const Row& row : rows) {
    const Subject who = subject_of({}, {row.uid, row.gid, row.groups});
    EXPECT_EQ(Rights(rules, who).may_use_server(), row.may) << row.why;
    EXPECT_EQ(may_use_server(rules, who), row.may) << row.why;
    EXPECT_EQ(effect_on(rules, who, "read_file") == allow, row.may) << row.why;
  }
}

TEST(Access, ServersAreToldByTheirIndex) {
  Config config;
  config.servers.resize(max_servers + 1);
  for (const std::size_t i : {64, 255, 256}) {
    config.servers[i].rules = {short_form({alice}, {}, {})};
  }
  ServerSet expected;
  expected.add(64);
  expected.add(255);
  EXPECT_EQ(servers_for(config, subject(alice)), expected);
  EXPECT_EQ(servers_for(config, subject(1002)), ServerSet{});
}

TEST(Access, WithoutRulesThereIsNothing) {
  const Rights nobody;
  EXPECT_FALSE(nobody.may_use_server());
  EXPECT_EQ(nobody.decide({AccessKind::tool, "", nullptr}).effect, deny);
  EXPECT_FALSE(nobody.shows(AccessKind::prompt, "x"));
  EXPECT_EQ(name_of(nobody.decide({AccessKind::tool, "x", nullptr}), AccessKind::tool), "default");
}

// --- which effect --------------------------------------------------------------------------------

TEST(Access, TheStrictestRuleDecidesInWhateverOrder) {
  struct Row {
    std::vector<Effect> effects;
    Effect expected;
    const char* why;
  };
  const std::array rows = {
      Row{{}, deny, "nothing gives it"},
      Row{{allow}, allow, "one allows it"},
      Row{{ask}, ask, "one asks, which gives it too"},
      Row{{deny}, deny, "one denies it"},
      Row{{allow, ask}, ask, "asking beats allowing"},
      Row{{allow, deny}, deny, "denying beats allowing"},
      Row{{ask, deny}, deny, "denying beats asking"},
      Row{{allow, ask, deny}, deny, "denying beats both"},
      Row{{allow, allow}, allow, "twice allowed is allowed"},
  };
  for (const Row& row : rows) {
    std::vector<Effect> order = row.effects;
    std::ranges::sort(order);
    do {
      std::vector<Rule> rules;
      for (const Effect effect : order) rules.push_back(tools(effect, {"x"}));
      EXPECT_EQ(effect_on(rules, subject(alice), "x"), row.expected) << row.why;
      EXPECT_EQ(Rights(rules, subject(alice)).shows(AccessKind::tool, "x"), row.expected != deny)
          << row.why;
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Access, NamesAreComparedAsBytes) {
  struct Row {
    const char* rule;
    const char* name;
    bool same;
    const char* why;
  };
  const std::array rows = {
      Row{"read_file", "read_file", true, "the same bytes"},
      Row{"read_file", "Read_file", false, "case matters"},
      Row{"read_file", "read_file ", false, "a blank at the end is another name"},
      Row{"read_file", "read_file\n", false, "so is a newline"},
      Row{"read_file", "read_fil", false, "a beginning is not the name"},
      Row{"read_*", "read_", true, "an empty rest is a rest"},
      Row{"read_*", "read_file", true, "a beginning and a star"},
      Row{"read_*", "xread_file", false, "only a beginning"},
      Row{"*", "anything", true, "a lone star is any name"},
      Row{"caf\xc3\xa9", "cafe\xcc\x81", false, "composed is not decomposed"},
      Row{"admin",
          "\xd0\xb0"
          "dmin",
          false, "a Cyrillic a is not an a"},
      Row{"read_file", "read\xe2\x80\x8b_file", false, "an invisible character is a character"},
      Row{"a.*", "abc", false, "a dot is a dot"},
      Row{"", "", true, "only nothing is nothing"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(effect_on({tools(allow, {row.rule})}, subject(alice), row.name) == allow, row.same)
        << row.why;
    EXPECT_EQ(effect_on({tools(allow, {"*"}), tools(deny, {row.rule})}, subject(alice), row.name),
              row.same ? deny : allow)
        << row.why;
  }
}

TEST(Access, ADenyOfEverythingHidesTheServer) {
  Rule everything = bound_to(tools(deny, {}), {bob});
  everything.is_about_everything = true;
  const std::vector<Rule> rules{short_form({alice, bob}, {}, patterns({"*"})), everything};
  EXPECT_TRUE(Rights(rules, subject(alice)).may_use_server());
  EXPECT_FALSE(Rights(rules, subject(bob)).may_use_server());
  EXPECT_FALSE(Rights(rules, subject(bob)).shows(AccessKind::resource, "file:///x"));
}

TEST(Access, TheShortFormGivesWholeWhatItDoesNotSpeakOf) {
  const std::vector<Rule> rules{short_form({alice}, {}, patterns({"read"}))};
  const Rights rights(rules, subject(alice));
  for (const AccessKind kind : {AccessKind::resource, AccessKind::resource_template,
                                AccessKind::prompt, AccessKind::feature}) {
    EXPECT_TRUE(rights.allows_all(kind));
    EXPECT_TRUE(rights.shows_all(kind));
  }
  EXPECT_FALSE(rights.shows_all(AccessKind::tool));
  EXPECT_EQ(name_of(rights.decide({AccessKind::tool, "read", nullptr}), AccessKind::tool),
            "allow.tools");
}

// --- roles ---------------------------------------------------------------------------------------

TEST(Access, ARoleNarrowsToItsOwnRules) {
  const std::vector<Rule> rules{
      bound_to(tools(allow, {"own"}), {alice}),          // alice's
      bound_to(tools(allow, {"code"}), {}, {}, coder),   // coders'
      bound_to(tools(allow, {"test"}), {}, {}, tester),  // testers'
      bound_to(tools(ask, {"push"}), {}, {}, coder),
      bound_to(tools(deny, {"code_secret"}), {}, {}, tester),
      bound_to(tools(allow, {"code_*"}), {}, {}, coder),
  };
  struct Row {
    std::uint32_t uid;
    const char* role;
    const char* tool;
    Effect expected;
    const char* why;
  };
  const std::array rows = {
      Row{alice, "", "own", allow, "without a role she has what is hers"},
      Row{alice, "", "code", allow, "and what each of her roles gives"},
      Row{alice, "", "test", allow, "and that of the other one"},
      Row{alice, "coder", "code", allow, "as a coder she has what coders have"},
      Row{alice, "coder", "own", deny, "and no longer what is hers alone"},
      Row{alice, "coder", "test", deny, "nor what testers have"},
      Row{alice, "coder", "push", ask, "what coders are asked about, she is"},
      Row{alice, "tester", "push", deny, "a tester cannot even ask for it"},
      Row{alice, "coder", "code_secret", deny, "what she is denied, no role gives back"},
      Row{bob, "", "code", allow, "whoever may take a role has what it gives"},
      Row{bob, "", "test", deny, "whoever may not has not"},
      Row{bob, "", "code_secret", allow, "and is not denied what it denies"},
      Row{1002, "", "code", deny, "somebody with no role has nothing"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(effect_on(rules, subject(row.uid, row.role), row.tool), row.expected) << row.why;
  }
}

TEST(Access, ARoleIsTakenOnlyByThoseWhoMay) {
  EXPECT_TRUE(as_role(roles, subject(alice), "tester").has_value());
  EXPECT_FALSE(as_role(roles, subject(bob), "tester").has_value());
  for (const char* name : {"", "Coder", "coder ", "root"}) {
    EXPECT_FALSE(as_role(roles, subject(alice), name).has_value()) << name;
  }
}

// --- resources and templates ---------------------------------------------------------------------

TEST(Access, ATemplateIsThereIfSomethingThatItStandsForIs) {
  struct Row {
    const char* allowed;
    const char* denied;
    const char* uri_template;
    bool shown;
    const char* why;
  };
  const std::array rows = {
      Row{"*", "", "file:///{path}", true, "everything is allowed"},
      Row{"file:///w/*", "", "file:///{path}", true, "some of its paths are allowed"},
      Row{"file:///w/*", "", "file:///w/{path}", true, "all of its paths are allowed"},
      Row{"file:///w/*", "", "file:///etc/{path}", false, "none of its paths is"},
      Row{"file:///w/a", "", "file:///w/{path}", true, "one of its paths is"},
      Row{"file:///w/a", "", "file:///w/b", false, "without a variable it is a URI"},
      Row{"*", "file:///etc/*", "file:///etc/{path}", false, "all of its paths are denied"},
      Row{"*", "file:///etc/*", "file:///{path}", true, "only some of them are"},
      Row{"*", "file:///etc/a", "file:///etc/{path}", true, "only one of them is"},
      Row{"*", "*", "{any}", false, "everything is denied"},
  };
  for (const Row& row : rows) {
    std::vector<Rule> rules{resources(allow, {row.allowed})};
    if (*row.denied != '\0') rules.push_back(resources(deny, {row.denied}));
    EXPECT_EQ(Rights(rules, subject(alice)).shows(AccessKind::resource_template, row.uri_template),
              row.shown)
        << row.why;
  }
}

TEST(Access, AResourceIsComparedByItsNormalSpelling) {
  const std::vector<Rule> rules{resources(allow, {"file:///w/*"}),
                                resources(deny, {"file:///w/secret"})};
  const Rights rights(rules, subject(alice));
  EXPECT_TRUE(rights.shows(AccessKind::resource, "file:///w/a"));
  EXPECT_TRUE(rights.shows(AccessKind::resource, "FILE:///w/a"));
  EXPECT_FALSE(rights.shows(AccessKind::resource, "file:///w/secret"));
  EXPECT_FALSE(rights.shows(AccessKind::resource, "file:///w/%73ecret"));
  EXPECT_FALSE(rights.shows(AccessKind::resource, "file:///w"));
  EXPECT_FALSE(rights.allows_all(AccessKind::resource));
}

// --- widening ------------------------------------------------------------------------------------

// A generator of its own, so that a failure is the same everywhere.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2'654'435'761U + 1) {}
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 1'664'525U + 1'013'904'223U;
    return (state_ >> 16U) % bound;
  }

 private:
  std::uint32_t state_;
};

const std::array<const char*, 5> names{"a", "ab", "abc", "b", "c"};
const std::array<const char*, 6> patterns_of_names{"a", "a*", "ab*", "b", "*", "c"};

Rule some_rule(Random& random, Effect effect) {
  Rule rule = tools(effect, {patterns_of_names.at(random.below(patterns_of_names.size()))});
  if (random.below(3) == 0) return rule;
  rule.binds_everybody = false;
  if (random.below(2) == 0) rule.uids = {alice};
  if (random.below(2) == 0) rule.roles = random.below(4);
  if (random.below(3) == 0)
    rule.arguments = {{.argument = "n", .kind = ConditionKind::range, .min = 0, .max = 9}};
  return rule;
}

Effect decided(const std::vector<Rule>& rules, const Subject& who, const char* name, double n) {
  const Arguments arguments{{"n", {.kind = ValueKind::number, .number = n}}};
  return Rights(rules, who).decide({AccessKind::tool, name, &arguments}).effect;
}

TEST(Access, ARuleNeverWeakensWhatAStricterOneSays) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    std::vector<Rule> rules;
    for (std::uint32_t i = random.below(5); i > 0; --i) {
      rules.push_back(some_rule(random, static_cast<Effect>(random.below(3))));
    }
    const auto added = static_cast<Effect>(random.below(3));
    std::vector<Rule> more = rules;
    const auto place =
        static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint32_t>(rules.size()) + 1));
    more.insert(more.begin() + place, some_rule(random, added));
    for (const char* name : names) {
      for (const double n : {5.0, 50.0}) {
        const Effect before = decided(rules, subject(alice), name, n);
        const Effect after = decided(more, subject(alice), name, n);
        if (added == deny) {
          EXPECT_GE(after, before) << seed << name;
        }
        // What is denied for want of a rule may be given; what a rule denies stays denied.
        const Arguments arguments{{"n", {.kind = ValueKind::number, .number = n}}};
        const AccessVerdict verdict =
            Rights(rules, subject(alice)).decide({AccessKind::tool, name, &arguments});
        if (verdict.rule != nullptr && added <= before) {
          EXPECT_EQ(after, before) << seed << name;
        }
      }
    }
  }
}

TEST(Access, ARoleNeverWidens) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    std::vector<Rule> rules;
    for (std::uint32_t i = random.below(6); i > 0; --i) {
      rules.push_back(some_rule(random, static_cast<Effect>(random.below(3))));
    }
    for (const char* role : {"coder", "tester"}) {
      for (const char* name : names) {
        EXPECT_GE(decided(rules, subject(alice, role), name, 5),
                  decided(rules, subject(alice), name, 5))
            << seed << name << role;
        if (Rights(rules, subject(alice, role)).shows(AccessKind::tool, name)) {
          EXPECT_TRUE(Rights(rules, subject(alice)).shows(AccessKind::tool, name)) << seed;
        }
      }
    }
  }
}

TEST(Access, WhatIsNotShownIsNeverAllowed) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    std::vector<Rule> rules;
    for (std::uint32_t i = random.below(6); i > 0; --i) {
      rules.push_back(some_rule(random, static_cast<Effect>(random.below(3))));
    }
    const Rights rights(rules, subject(alice));
    for (const char* name : names) {
      const bool shown = rights.shows(AccessKind::tool, name);
      if (decided(rules, subject(alice), name, 5) != deny) {
        EXPECT_TRUE(shown) << seed << name;
      }
      if (rights.shows_all(AccessKind::tool)) {
        EXPECT_TRUE(shown) << seed << name;
      }
      if (!rights.wants_arguments(name)) {
        EXPECT_EQ(decided(rules, subject(alice), name, 5), effect_on(rules, subject(alice), name));
      }
    }
  }
}

}  // namespace
}  // namespace cellblock
