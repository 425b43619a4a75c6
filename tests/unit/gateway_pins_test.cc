#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "policy/access/rights.h"
#include "supervisor/gateway/catalogue/pin_keeper.h"
#include "supervisor/gateway/catalogue/pinned_catalogues.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/route/first_list.h"
#include "supervisor/gateway/session/pin_control.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

Json tool(const std::string& name, const std::string& description = "Does.",
          Json schema = {{"type", "object"}}) {
  return {{"name", name}, {"description", description}, {"inputSchema", std::move(schema)}};
}

class PinsOfAGateway : public ::testing::Test, protected PinEffects {
 protected:
  PinsOfAGateway() {
    for (const char* name : {"files", "git"}) {
      Server server;
      server.name = name;
      config_.servers.push_back(server);
    }
    PinEffects& effects = *this;
    book_.emplace(config_, effects);
  }

  void pins_changed(std::uint32_t server) override { ++changes_[server]; }
  void pin_event(std::uint32_t server, const PinEvent& event) override {
    events_.push_back(config_.servers[server].name + " " + std::string(name_of(event.what)) + " " +
                      event.name);
    decided_by_.push_back(event.by);
  }
  std::int64_t unix_ms() const override { return 1'000; }

  PinGate gate(Directory directory = Directory::none) {
    return {*book_, 0, config_.servers[0], directory};
  }
  void see(const std::vector<Json>& tools) {
    book_->see(0, 0, ListKind::tools, Json(tools), PageEnd::last);
  }

  /// What becomes of the request, or of its arguments: "" it goes on.
  std::string asked(PinGate gate, const std::string& request) {
    const auto message = scanner_.scan(request);
    EXPECT_TRUE(message) << request;
    CallAccess access;
    gate.judge(request, *message, access);
    if (!access.refusal.empty()) return access.refusal;
    const auto failure = gate.refuse_arguments(request, *message);
    return failure ? failure->message : "";
  }
  static std::string call(const std::string& name, const std::string& arguments = "{}") {
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + name +
           R"(","arguments":)" + arguments + "}}";
  }

  Config config_;
  std::optional<PinBook> book_;
  MessageScanner scanner_;
  std::map<std::uint32_t, int> changes_;
  std::vector<std::string> events_;
  std::vector<std::optional<std::uint32_t>> decided_by_;
  static constexpr PinBook::Decider root{.server = 0, .by = 0};
};

TEST_F(PinsOfAGateway, LetPassWhatNobodyHasListedYet) {
  EXPECT_EQ(asked(gate(), call("a")), "");
  const std::string request = call("a");
  EXPECT_TRUE(gate().wants_list(*scanner_.scan(request)));
}

TEST_F(PinsOfAGateway, AnswerWhatIsWithheldAndWhatDoesNotExist) {
  see({tool("a"), tool("b", "B.")});
  see({tool("a", "Changed."), tool("b", "B.")});
  EXPECT_NE(asked(gate(), call("a")).find(R"("code":"quarantined")"), std::string::npos);
  EXPECT_EQ(asked(gate(), call("b")), "");
  EXPECT_EQ(asked(gate(), call("c")), unknown_tool("1", "c"));
  EXPECT_EQ(events_, (std::vector<std::string>{"files pinned ", "files withheld a"}));
}

TEST_F(PinsOfAGateway, HoldArgumentsToWhatWasPinnedAndNotToWhatIsShown) {
  const Json strict{{"type", "object"}, {"required", {"x"}}};
  see({tool("a", "A.", strict)});
  EXPECT_NE(asked(gate(), call("a")).find(R"(it takes a member "x")"), std::string::npos);
  EXPECT_EQ(asked(gate(), call("a", R"({"x":1})")), "");
  EXPECT_NE(asked(gate(), call("a", "[1]")), "");
  config_.servers[0].validate_arguments = false;
  EXPECT_EQ(asked(gate(), call("a")), "");
}

TEST_F(PinsOfAGateway, TakeArgumentsThatAreMissingForNone) {
  see({tool("a", "A.", {{"type", "object"}, {"required", {"x"}}}), tool("b")});
  const std::string request =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}})";
  EXPECT_NE(asked(gate(), request), "");
}

TEST_F(PinsOfAGateway, SeeInEachViewWhatItsHostOffers) {
  config_.servers[0].client_features.sampling = true;
  PinGate mine = gate();
  const std::string hello =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"sampling":{}},"clientInfo":{"name":"h","version":"1"}}})";
  mine.host_says(hello, *scanner_.scan(hello), {.sampling = true});
  see({tool("a")});
  mine.see(ListKind::tools, Json::array({tool("a"), tool("ask", "Asks.")}), PageEnd::last);
  EXPECT_EQ(asked(mine, call("ask")), "");
  EXPECT_TRUE(mine.admits(ListKind::tools, "ask"));
}

TEST_F(PinsOfAGateway, WithholdAPromptAndItsCompletion) {
  book_->see(0, 0, ListKind::prompts, Json::array({Json{{"name", "p"}}}), PageEnd::last);
  book_->see(0, 0, ListKind::prompts, Json::array({Json{{"name", "p"}, {"description", "x"}}}),
             PageEnd::last);
  EXPECT_NE(
      asked(gate(), R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}})"),
      "");
  EXPECT_NE(
      asked(gate(),
            R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":)"
            R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}})"),
      "");
}

TEST_F(PinsOfAGateway, FindAToolOfAnotherServerInAnotherScript) {
  see({tool("read_file")});
  book_->see(1, 0, ListKind::tools, Json::array({tool("r\u0435ad_file"), tool("readFile")}),
             PageEnd::last);
  EXPECT_FALSE(book_->of(1).admits(ListKind::tools, "r\u0435ad_file"));
  EXPECT_TRUE(book_->of(1).admits(ListKind::tools, "readFile"));
}

// --- files ---------------------------------------------------------------------------------------

TEST_F(PinsOfAGateway, ComeBackFromDisk) {
  ScratchDirectory directory;
  auto store = PinStore::open(directory.path());
  ASSERT_TRUE(store);
  see({tool("a")});
  ASSERT_TRUE(store->save(config_.servers[0], book_->of(0)));
  PinSet read(PinMode::tofu);
  store->load(config_.servers[0], read);
  EXPECT_TRUE(read.admits(ListKind::tools, "a"));
  directory.write("files.pins", "x", 0600);
  PinSet damaged(PinMode::tofu);
  store->load(config_.servers[0], damaged);
  EXPECT_TRUE(damaged.damaged());
  PinSet none(PinMode::tofu);
  store->load(config_.servers[1], none);
  EXPECT_FALSE(none.damaged());
}

// --- catalogues ----------------------------------------------------------------------------------

class OneCatalogue final : public Catalogues {
 public:
  const Catalogue* find(std::uint32_t) const override { return &catalogue; }
  Eras eras(std::uint32_t) const override { return {}; }
  std::optional<Broken> broken(std::uint32_t) const override { return std::nullopt; }
  Waiter want(std::uint32_t, Told told) override {
    told(&catalogue, Failure{});
    return 1;
  }
  void forget(Waiter) override {}
  void learn_list(std::uint32_t, ListKind, std::string_view) override {}
  void learn_answer(std::uint32_t, Era, std::string_view) override {}
  void learn_speaks(std::uint32_t, Era, Speaks) override {}
  void list_changed(std::uint32_t, ListKind) override {}
  void forget_server(std::uint32_t) override {}

  Catalogue catalogue;
};

TEST_F(PinsOfAGateway, AreInCataloguesWhatSomebodyAccepted) {
  OneCatalogue all;
  all.catalogue.lists[0] = Json::array({tool("a"), tool("b", "B.")}).dump();
  Redactions redactions(config_);
  PinnedCatalogues shown(all, *book_, redactions, config_.servers.size());
  EXPECT_EQ(shown.find(0)->list(ListKind::tools), all.catalogue.list(ListKind::tools));
  all.catalogue.lists[0] = Json::array({tool("a", "Other."), tool("b", "B.")}).dump();
  EXPECT_EQ(shown.find(0)->list(ListKind::tools), Json::array({tool("b", "B.")}).dump());
  shown.want(0, [&](const Catalogue* catalogue, const Failure&) {
    EXPECT_EQ(catalogue->list(ListKind::tools), Json::array({tool("b", "B.")}).dump());
  });
}

TEST_F(PinsOfAGateway, OrNoneLeaveToRedactionWhatCataloguesSay) {
  config_.servers[1].pin = PinMode::off;
  for (Server& server : config_.servers) {
    server.redaction.detectors = {{"email", {RedactionAction::off, RedactionAction::redact}},
                                  {"card", {RedactionAction::off, RedactionAction::block}}};
  }
  OneCatalogue all;
  all.catalogue.server_info = R"({"name":"me@example.org"})";
  all.catalogue.capabilities = R"({"id":"me@example.org","card":"4111111111111111"})";
  all.catalogue.instructions = "Ask me@example.org.";
  all.catalogue.lists[0] =
      Json::array({tool("a", "Of me@example.org."), tool("b", "Pays 4111111111111111.")}).dump();
  Redactions redactions(config_);
  PinnedCatalogues shown(all, *book_, redactions, config_.servers.size());
  for (std::uint32_t server : {0U, 1U}) {
    const Catalogue& catalogue = *shown.find(server);
    EXPECT_EQ(catalogue.server_info, R"({"name":"[redacted: email]"})");
    EXPECT_EQ(catalogue.capabilities, "{}");
    EXPECT_EQ(catalogue.instructions, "Ask [redacted: email].");
    EXPECT_EQ(catalogue.list(ListKind::tools),
              Json::array({tool("a", "Of [redacted: email].")}).dump());
  }
  const FoundCounts once = *redactions.found(0, Direction::to_host);
  EXPECT_EQ(shown.find(0)->server_info, R"({"name":"[redacted: email]"})");
  EXPECT_EQ(*redactions.found(0, Direction::to_host), once) << "nothing is looked at again";
}

// --- the first list of a host that does not ask --------------------------------------------------

TEST_F(PinsOfAGateway, AreListedPageByPageBeforeTheFirstCall) {
  UpstreamIds ids([](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{1}); });
  FirstList first;
  PinGate mine = gate();
  const std::string request = call("a");
  ASSERT_TRUE(first.wants(mine, *scanner_.scan(request)));
  const Json asked_first = Json::parse(first.begin(ids, Era::legacy, 1 << 20));
  EXPECT_EQ(asked_first["method"], "tools/list");
  ASSERT_TRUE(first.owns(asked_first["id"].dump()));
  const auto answer = [&](const Json& result) {
    const std::string line = Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", result}}.dump();
    return first.answered(line, *scanner_.scan(line), ids, mine);
  };
  const auto next = answer({{"tools", {tool("a")}}, {"nextCursor", "2"}});
  ASSERT_TRUE(next);
  EXPECT_EQ(Json::parse(*next)["params"]["cursor"], "2");
  EXPECT_FALSE(answer({{"tools", {tool("b", "B.")}}}));
  EXPECT_FALSE(first.wants(mine, *scanner_.scan(request)));
  EXPECT_EQ(asked(mine, call("b")), "");
  EXPECT_NE(asked(mine, call("c")), "");
}

// --- what somebody decides -----------------------------------------------------------------------

TEST_F(PinsOfAGateway, AreDecidedByAdministrators) {
  config_.mode = RunMode::system;
  config_.admins = {7};
  EXPECT_FALSE(may_decide(config_, {.uid = 1000}));
  EXPECT_TRUE(may_decide(config_, {.uid = 0}));
  EXPECT_FALSE(may_decide(config_, {.uid = 7})) << "nobody is his own administrator";
  EXPECT_TRUE(may_decide(config_, {.uid = 1000, .is_admin = true}));
  config_.mode = RunMode::user;
  EXPECT_TRUE(may_decide(config_, {.uid = 1000}));
}

TEST_F(PinsOfAGateway, AreAcceptedAndForgottenByName) {
  see({tool("a"), tool("b", "B.")});
  see({tool("a", "New."), tool("b", "Newer.")});
  const Json accepted = Json::parse(pin_accept_reply(*book_, root, {.name = "a"}));
  EXPECT_EQ(accepted["accepted"], Json::array({Json{{"kind", "tool"}, {"name", "a"}}}));
  const std::string old = hex_of(digest_of("something"));
  const Json refused = Json::parse(pin_accept_reply(*book_, root, {.name = "b", .digest = old}));
  EXPECT_EQ(refused["refused"].size(), 1U);
  pin_forget_reply(*book_, root, {.name = "a"});
  EXPECT_EQ(book_->of(0).find(ListKind::tools, "a"), nullptr);
  pin_forget_reply(*book_, root, {});
  EXPECT_EQ(book_->of(0).size(), 0U);
}

TEST_F(PinsOfAGateway, SayWhoAcceptedThemAndWhoForgotThem) {
  see({tool("a"), tool("b")});
  see({tool("a", "New."), tool("b")});
  pin_accept_reply(*book_, {.server = 0, .by = 64102}, {.name = "a"});
  EXPECT_EQ(decided_by_.back(), 64102U);
  const Json list = pin_list_json(config_.servers[0], book_->of(0), Rights(), Kept::in_memory,
                                  Definitions::digests)["definitions"];
  EXPECT_EQ(list[0]["accepted_by"], 64102);
  EXPECT_FALSE(list[1].contains("accepted_by")) << "it was let pass at first sight";
  pin_forget_reply(*book_, {.server = 0, .by = 64103}, {.name = "a"});
  EXPECT_EQ(decided_by_.back(), 64103U);
  pin_forget_reply(*book_, {.server = 0, .by = 64104}, {});
  EXPECT_EQ(decided_by_.back(), 64104U);
}

TEST_F(PinsOfAGateway, AreReportedInWords) {
  see({tool("a")});
  see({tool("a", "Changed.")});
  const Json status = pins_json(book_->of(0));
  EXPECT_EQ(status["withheld"], 1);
  EXPECT_EQ(status["notices"][0], "tool \"a\" has changed since it was pinned");
}

}  // namespace
}  // namespace cellblock::gateway
