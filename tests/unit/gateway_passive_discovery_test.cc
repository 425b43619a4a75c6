#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "supervisor/gateway/route/passive_discovery.h"

namespace cellblock::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Writes down what it is told.
struct FakeCatalogues final : Catalogues {
  const Catalogue* find(std::uint32_t) const override { return known ? &catalogue : nullptr; }
  Eras eras(std::uint32_t) const override { return {}; }
  std::optional<Broken> broken(std::uint32_t) const override { return {}; }
  Waiter want(std::uint32_t, Told) override { return 1; }
  void forget(Waiter) override {}
  void learn_list(std::uint32_t, ListKind kind, std::string_view items) override {
    learnt.push_back(std::to_string(static_cast<int>(kind)) + std::string(items));
  }
  void learn_answer(std::uint32_t, Era era, std::string_view) override {
    learnt.emplace_back(era == Era::modern ? "modern" : "legacy");
  }
  void learn_speaks(std::uint32_t, Era, Speaks) override {}
  void list_changed(std::uint32_t, ListKind) override {}
  void forget_server(std::uint32_t) override {}

  Catalogue catalogue;
  bool known = true;
  std::vector<std::string> learnt;
};

Call call_of(CallKind kind) {
  Call call;
  call.kind = kind;
  return call;
}

TEST(PassiveDiscovery, TakesAListThatCameOnOnePage) {
  FakeCatalogues catalogues;
  learn_from_answer(catalogues, 0, call_of(CallKind::prompts_list),
                    R"({"prompts":[{"name":"a"}]})");
  EXPECT_THAT(catalogues.learnt, ElementsAre(R"(3[{"name":"a"}])"));
}

TEST(PassiveDiscovery, TakesNoPartOfAListAndNoListWithoutACatalogue) {
  FakeCatalogues catalogues;
  learn_from_answer(catalogues, 0, call_of(CallKind::tools_list),
                    R"({"tools":[],"nextCursor":""})");
  Call later = call_of(CallKind::tools_list);
  later.has_cursor = true;
  learn_from_answer(catalogues, 0, later, R"({"tools":[]})");
  learn_from_answer(catalogues, 0, call_of(CallKind::tools_list), R"({"prompts":[]})");
  learn_from_answer(catalogues, 0, call_of(CallKind::other), R"({"tools":[]})");
  catalogues.known = false;
  learn_from_answer(catalogues, 0, call_of(CallKind::tools_list), R"({"tools":[]})");
  EXPECT_THAT(catalogues.learnt, IsEmpty());
}

TEST(PassiveDiscovery, TakesIntroductionsOfBothEras) {
  FakeCatalogues catalogues;
  catalogues.known = false;
  learn_from_answer(catalogues, 0, call_of(CallKind::initialize), "{}");
  learn_from_answer(catalogues, 0, call_of(CallKind::discover), "{}");
  EXPECT_THAT(catalogues.learnt, ElementsAre("legacy", "modern"));
}

}  // namespace
}  // namespace cellblock::gateway
