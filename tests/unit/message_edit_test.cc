#include "policy/jsonrpc/message_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace cellblock {
namespace {

using testing::ElementsAre;

Message scanned(const std::string& line) {
  MessageScanner scanner;
  const std::string padded = line + std::string(MessageScanner::padding, '}');
  auto message = scanner.scan(std::string_view{padded}.substr(0, line.size()));
  EXPECT_TRUE(message.has_value()) << line;
  return message.value_or(Message{});
}

TEST(EditedMessage, SendsAnUneditedLineFromWhereItIs) {
  const std::string line = R"({"a":1})";
  const EditedMessage edited(line, {});
  ASSERT_THAT(edited.slices(), ElementsAre(line, "\n"));
  EXPECT_EQ(edited.slices()[0].data(), line.data());
  EXPECT_EQ(edited.size(), line.size() + 1);
}

TEST(EditedMessage, ReplacesSpansInAnyOrder) {
  const EditedMessage edited("0123456789", {{{8, 10}, "end"}, {{0, 1}, "start"}, {{4, 5}, ""}});
  EXPECT_EQ(edited.flatten(), "start123567end\n");
  EXPECT_EQ(edited.size(), edited.flatten().size());
  EXPECT_THAT(edited.slices(), ElementsAre("start", "123", "567", "end", "\n"));
}

TEST(EditedMessage, TakesSpansThatTouch) {
  EXPECT_EQ(EditedMessage("abcd", {{{2, 4}, "Y"}, {{0, 2}, "X"}}).flatten(), "XY\n");
}

TEST(EditedMessage, InsertsAtAnEmptySpan) {
  EXPECT_EQ(EditedMessage("ad", {{{1, 1}, "bc"}}).flatten(), "abcd\n");
}

// The inner text is of what the outer edit took away: it must not come back with it.
TEST(EditedMessage, OfSpansThatOverlapTakesTheOuterAndSaysSo) {
  EXPECT_TRUE(EditedMessage("0123456789", {{{0, 2}, "a"}, {{2, 2}, "b"}}).is_sound());
  const EditedMessage inside("0123456789", {{{3, 4}, "in"}, {{1, 8}, "out"}});
  EXPECT_FALSE(inside.is_sound());
  EXPECT_EQ(inside.flatten(), "0out89\n");
  const EditedMessage at_its_begin("0123456789", {{{1, 4}, "in"}, {{1, 8}, "out"}});
  EXPECT_FALSE(at_its_begin.is_sound());
  EXPECT_EQ(at_its_begin.flatten(), "0out89\n");
  EXPECT_FALSE(EditedMessage("0123", {{{1, 9}, "x"}}).is_sound());
}

TEST(EditedMessage, ReplacesTheWholeLine) {
  EXPECT_EQ(EditedMessage("abc", {{{0, 3}, "x"}}).flatten(), "x\n");
}

TEST(EditedMessage, DropsTheCarriageReturnAtTheEnd) {
  EXPECT_EQ(EditedMessage("abc\r", {}).flatten(), "abc\n");
}

TEST(EditedMessage, StaysGoodWhenItIsMoved) {
  EditedMessage edited("0123", {{{1, 2}, "x"}});
  const EditedMessage moved = std::move(edited);
  EXPECT_EQ(moved.flatten(), "0x23\n");
}

TEST(EditedMessage, ReplacesTheIdOfAScannedMessage) {
  const std::string line = R"( {"id" : "a\"b" , "jsonrpc":"2.0","method":"ping"} )";
  const Message message = scanned(line);
  EXPECT_EQ(EditedMessage(line, {{message.id, "77"}}).flatten(),
            R"( {"id" : 77 , "jsonrpc":"2.0","method":"ping"} )"
            "\n");
}

std::string narrowed(const std::string& tools, std::string_view kept) {
  const std::string line = R"({"jsonrpc":"2.0","id":1,"result":{"tools":[)" + tools + "]}}";
  const Message message = scanned(line);
  auto edits = narrow_tools(line, message, [&](std::string_view name) {
    return !name.empty() && kept.find(name) != std::string_view::npos;
  });
  const std::string text = EditedMessage(line, std::move(edits)).flatten();
  scanned(text.substr(0, text.size() - 1));
  const std::size_t begin = text.find('[') + 1;
  return text.substr(begin, text.rfind(']') - begin);
}

TEST(NarrowTools, LeavesAValidListForEveryChoiceOfFour) {
  const std::string tool[] = {R"({"name":"a"})", R"({"name":"b","x":[1,{"name":"q"}]})",
                              R"({"y":{"name":"a"},"name":"c"})", R"({"name":"d"})"};
  const std::string all = tool[0] + "," + tool[1] + "," + tool[2] + "," + tool[3];
  for (unsigned choice = 0; choice < 16; ++choice) {
    std::string kept;
    std::string expected;
    for (unsigned i = 0; i < 4; ++i) {
      if ((choice >> i & 1U) == 0) continue;
      kept += static_cast<char>('a' + i);
      expected += (expected.empty() ? "" : ",") + tool[i];
    }
    EXPECT_EQ(narrowed(all, kept), expected) << choice;
  }
}

TEST(NarrowTools, CopesWithWhiteSpace) {
  EXPECT_EQ(narrowed(R"( {"name":"a"} , {"name":"b"} )", "a"), R"( {"name":"a"} )");
  EXPECT_EQ(narrowed(R"( {"name":"a"} , {"name":"b"} )", "b"), R"( {"name":"b"} )");
  EXPECT_EQ(narrowed(R"( {"name":"a"} , {"name":"b"} )", ""), "  ");
}

TEST(NarrowTools, LeavesOutWhatHasNoName) {
  EXPECT_EQ(narrowed(R"({"title":"x"},3,{"name":4},{"name":"a"},null,["a"])", "a"),
            R"({"name":"a"})");
}

TEST(NarrowTools, ReadsNamesUnescaped) {
  EXPECT_EQ(narrowed(R"({"n\u0061me":"\u0061"},{"name":"b"})", "a"), R"({"n\u0061me":"\u0061"})");
}

TEST(NarrowTools, LeavesAnEmptyListAlone) { EXPECT_EQ(narrowed("", "a"), ""); }

TEST(NarrowTools, MergesNeighboursIntoOneEdit) {
  const std::vector<ListedTool> tools = {{{0, 2}, "a"}, {{3, 5}, "b"}, {{6, 8}, "c"}};
  EXPECT_THAT(leave_out(tools, {true, false, false}), ElementsAre(Replacement{{2, 8}, ""}));
  EXPECT_THAT(leave_out(tools, {false, false, true}), ElementsAre(Replacement{{0, 6}, ""}));
  EXPECT_THAT(leave_out(tools, {false, false, false}), ElementsAre(Replacement{{0, 8}, ""}));
}

}  // namespace
}  // namespace cellblock
