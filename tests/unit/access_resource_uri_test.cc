#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "policy/access/resource_uri.h"
#include "policy/access/rights.h"

/// The spellings of a resource: what a rule gives by one it does not give by another, and what it
/// takes it takes in each.
namespace cellblock {
namespace {

using enum Effect;

NamePattern pattern(std::string_view text) {
  const bool is_prefix = text.ends_with('*');
  if (is_prefix) text.remove_suffix(1);
  return uri_pattern(text, is_prefix);
}

Rule resources(Effect effect, std::string_view uri) {
  Rule rule{.name = "rule", .effect = effect, .binds_everybody = true};
  rule.resources = {pattern(uri)};
  return rule;
}

Effect effect_of(const std::vector<Rule>& rules, std::string_view uri,
                 AccessKind kind = AccessKind::resource) {
  return Rights(rules, Subject{}).decide({kind, uri, nullptr}).effect;
}

TEST(ResourceUri, HasOneNormalSpelling) {
  struct Row {
    std::string_view uri, normal;
  };
  for (const Row& row : {
           Row{"file:///data/a", "file:///data/a"},
           Row{"FILE:///data/a", "file:///data/a"},
           Row{"file:/data/a", "file:///data/a"},
           Row{"file://localhost/data/a", "file:///data/a"},
           Row{"file://LocalHost/data/a", "file:///data/a"},
           Row{"file:///data//a", "file:///data/a"},
           Row{"file:////data///a", "file:///data/a"},
           Row{"file:///data/./a", "file:///data/a"},
           Row{"file:///data/a/.", "file:///data/a/"},
           Row{"file:///data/%61", "file:///data/a"},
           Row{"file:///data/%2e/a", "file:///data/a"},
           Row{"file:///My%20Files/%C3%a9", "file:///My Files/\u00e9"},
           Row{"file:///100%25", "file:///100%25"},
           Row{"file:///a%3fb%23c", "file:///a%3Fb%23c"},
           Row{"http://Example.ORG/A", "http://example.org/A"},
           Row{"http://example.org", "http://example.org/"},
           Row{"http://example.org?x", "http://example.org/?x"},
           Row{"http://example.org#x", "http://example.org/#x"},
           Row{"http://[2001:DB8::80]/A", "http://[2001:db8::80]/A"},
           Row{"http://[2001:db8::80]:8080/A", "http://[2001:db8::80]:8080/A"},
           Row{"http://example.org:8080/A", "http://example.org:8080/A"},
           Row{"note://Todo/List", "note://Todo/List"},
           Row{"note://T%6fdo/List", "note://Todo/List"},
           Row{"urn:isbn:123", "urn:isbn:123"},
           Row{"db://t?q=%61%26b&c=%2F", "db://t?q=a%26b&c=/"},
       }) {
    const ResourceUri uri = read_uri(row.uri);
    EXPECT_TRUE(uri.is_clear) << row.uri;
    EXPECT_EQ(uri.text, row.normal) << row.uri;
    EXPECT_EQ(read_uri(row.normal).text, row.normal) << "and it is the normal one's own";
  }
}

TEST(ResourceUri, IsUnclearWhereServersMayReadItInTwoWays) {
  for (const std::string_view uri : {
           std::string_view("file:///data/../etc"),
           std::string_view("file:///data/.."),
           std::string_view("file:///data/%2e%2e/etc"),
           std::string_view("file:///data/.%2E/etc"),
           std::string_view("file:///data/..;a/etc"),
           std::string_view("file:///data%2Fa"),
           std::string_view("file:///data%5Ca"),
           std::string_view("file:///data\\a"),
           std::string_view("file:///data/%252e%252e/etc"),
           std::string_view("file:///data/%25%32%65"),
           std::string_view("file:///data/%00"),
           std::string_view("file:///data/%0a"),
           std::string_view("file:///data/%zz"),
           std::string_view("file:///data/%6"),
           std::string_view("file:///data/%c0%ae"),
           std::string_view("file:///da\tta"),
           std::string_view("fi\nle:///data"),
           std::string_view(" file:///data"),
           std::string_view("file:///data "),
           std::string_view("file:///\0", 9),
           std::string_view("file:data"),
           std::string_view("http:/example.org/"),
           std::string_view("http:///example.org/"),
           std::string_view("http://example.org./"),
           std::string_view("http://example.org.:8080/"),
           std::string_view("http://example.org:80/"),
           std::string_view("http://example.org:080/"),
           std::string_view("http://example.org:08080/"),
           std::string_view("http://example.org:/"),
           std::string_view("http://example.org:8o80/"),
           std::string_view("http://example.org:+8080/"),
           std::string_view("http://example.org:108080/"),
           std::string_view("http://example.org:8080:80/"),
           std::string_view("http://[::1]:080/"),
           std::string_view("http://[::1]x/"),
           std::string_view("http://[::1/"),
           std::string_view("http://?x"),
           std::string_view("file://host:8080/a"),
           std::string_view("http://user@example.org/"),
           std::string_view("http://user:word@example.org/"),
           std::string_view("http://example.org@other.org/"),
           std::string_view("note://x@secret/a"),
           std::string_view("http://ex%61mple.org/"),
           std::string_view("http://ex\u00e4mple.org/"),
           std::string_view("x://../a"),
           std::string_view("db://t?path=../a"),
           std::string_view("db://t?path=a%2F..%2Fb"),
           std::string_view("db://t#/../a"),
           std::string_view("/data/a"),
           std::string_view("data"),
           std::string_view(""),
       }) {
    EXPECT_FALSE(read_uri(uri).is_clear) << uri;
  }
}

TEST(ResourceUri, OutsideAPrefixIsGivenByNoSpelling) {
  const std::vector<Rule> rules{resources(allow, "file:///data/*")};
  for (const char* given : {"file:///data/a", "FILE:///data/a", "file:///data//a",
                            "file:///./data/a", "file:///d%61ta/a", "file:///data/"}) {
    EXPECT_EQ(effect_of(rules, given), allow) << given;
  }
  for (const char* uri :
       {"file:///data/../etc/shadow", "file:///data/a/../../etc/shadow",
        "file:///data/%2e%2e/etc/shadow", "file:///data/..%2fetc/shadow", "file:///data/..\\etc",
        "file:///data/%252e%252e/etc", "file:///data", "file:///database", "file:///Data/a",
        "file://other/data/a", "/data/a", " file:///data/a"}) {
    EXPECT_EQ(effect_of(rules, uri), deny) << uri;
  }
}

TEST(ResourceUri, InsideADeniedPrefixIsTakenInEachSpelling) {
  const std::vector<Rule> rules{resources(allow, "file:///data/*"), resources(allow, "*"),
                                resources(deny, "file:///data/private/*")};
  EXPECT_EQ(effect_of(rules, "file:///data/public/a"), allow);
  EXPECT_EQ(effect_of(rules, "note://a/../b"), allow) << "no rule of its scheme takes anything";
  for (const char* uri :
       {"file:///data/private/a", "file:///data//private/a", "file:///data/./private/a",
        "file:///data/sub/../private/a", "file:///data/%70rivate/a", "FILE:///data/private/a",
        "file:/data/private/a", "file://localhost/data/private/a", "file://any/data/private/a",
        "file:///data/private%2Fa", "file:///data\\private\\a", "file:///data/priv\tate/a",
        "file:data/private/a", "/data/private/a", " file:///data/private/a",
        "\x01"
        "file:///data/private/a"}) {
    EXPECT_EQ(effect_of(rules, uri), deny) << uri;
  }
}

TEST(ResourceUri, OfADeniedHostIsTakenInEachSpelling) {
  const std::vector<Rule> rules{resources(allow, "*"), resources(deny, "http://internal/*"),
                                resources(deny, "note://secret/*")};
  EXPECT_EQ(effect_of(rules, "http://external"), allow);
  EXPECT_EQ(effect_of(rules, "https://me@internal/a"), allow) << "no rule of its scheme";
  for (const char* uri :
       {"http://internal", "http://internal/", "http://internal?x", "http://internal#x",
        "HTTP://Internal", "http://internal:080/x", "http://internal:0080", "http://internal:/x",
        "http://me@internal/x", "http://me:word@internal/x", "http://@internal/x",
        "http://external@internal/", "note://x@secret/a", "note://@secret/a"}) {
    EXPECT_EQ(effect_of(rules, uri), deny) << uri;
  }
}

TEST(ResourceUri, ThatIsDeniedIsTakenWithQueryFragmentAndSlashToo) {
  const std::vector<Rule> rules{resources(allow, "*"), resources(deny, "file:///data/key"),
                                resources(deny, "note://Todo/secret")};
  for (const char* uri :
       {"file:///data/key", "file:///data/key?x", "file:///data/key#x", "file:///data/key/",
        "file:///data/key/?x", "file:///data/ke%79", "note://todo/secret", "NOTE://TODO/secret"}) {
    EXPECT_EQ(effect_of(rules, uri), deny) << uri;
  }
  for (const char* uri : {"file:///data/keys", "file:///data/key/x", "note://Todo/Secret"}) {
    EXPECT_EQ(effect_of(rules, uri), allow) << uri;
  }
}

TEST(ResourceUri, OfAnotherCaseIsNotGivenWhereTheAuthorityIsNoHost) {
  const std::vector<Rule> rules{resources(allow, "note://Todo/*"),
                                resources(allow, "https://Example.org/*")};
  EXPECT_EQ(effect_of(rules, "note://Todo/a"), allow);
  EXPECT_EQ(effect_of(rules, "note://todo/a"), deny);
  EXPECT_EQ(effect_of(rules, "https://example.ORG/a"), allow);
}

TEST(ResourceUri, ThatIsUnclearIsGivenByItsExactSpellingAndByAStarAlone) {
  const std::string unclear = "repo://owner%2Fname/readme";
  EXPECT_EQ(effect_of({resources(allow, unclear)}, unclear), allow);
  EXPECT_EQ(effect_of({resources(allow, "*")}, unclear), allow);
  EXPECT_EQ(effect_of({resources(allow, "repo://*")}, unclear), deny);
  EXPECT_EQ(effect_of({resources(allow, unclear)}, "repo://owner%2fname/readme"), deny);
  EXPECT_EQ(
      effect_of({resources(allow, "*"), resources(deny, unclear)}, "repo://owner%2fname/readme"),
      deny);
}

TEST(ResourceUri, ThatMayBeAskedAboutIsAskedAbout) {
  const std::vector<Rule> rules{resources(allow, "*"), resources(ask, "file:///data/private/*")};
  EXPECT_EQ(effect_of(rules, "file:///data/%70rivate/a"), ask);
  EXPECT_EQ(effect_of(rules, "file:///x/../data/private/a"), ask);
  EXPECT_EQ(effect_of(rules, "file:///data/public"), allow);
}

TEST(ResourceUri, OfATemplateIsJudgedByItsBeginning) {
  const std::vector<Rule> rules{resources(allow, "file:///w/*"),
                                resources(deny, "file:///w/private/*")};
  const auto shown = [&](const char* text) {
    return effect_of(rules, text, AccessKind::resource_template) == allow;
  };
  EXPECT_TRUE(shown("file:///w/{p}"));
  EXPECT_TRUE(shown("FILE:///{p}"));
  EXPECT_TRUE(shown("file:///w/%61/{p}"));
  EXPECT_FALSE(shown("file:///w/../{p}"));
  EXPECT_FALSE(shown("file:///w%2F{p}"));
  EXPECT_FALSE(shown("file:///w/%70rivate/{p}"));
  EXPECT_FALSE(shown("file:///w//private/{p}"));
  EXPECT_FALSE(shown("file:///w/../w/private/{p}"));
  EXPECT_FALSE(shown("file:///w/x/../a")) << "without a variable it is a URI";
}

}  // namespace
}  // namespace cellblock
