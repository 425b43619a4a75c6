#include "policy/flows/copied_text.h"

#include <gmock/gmock.h>

#include <string>

#include "policy/encoding/base64.h"
#include "policy/flows/text_views.h"

/// What copied text is found by, and what bounds it.
namespace cellblock {
namespace {

std::string as_json(const std::string& text) { return "\"" + text + "\""; }

bool repeats(const std::string& read, const std::string& said) {
  CopiedText copied;
  copied.add_json(as_json(read));
  return copied.is_in_json(R"({"to":"x","body":)" + as_json(said) + "}");
}

const std::string passage = "The board meets in Geneva to settle the merger with the rival firm";

TEST(CopiedText, FindsAPassageInWhateverCaseAndPunctuation) {
  EXPECT_TRUE(repeats(passage, "fyi: " + passage + " - ok?"));
  EXPECT_TRUE(repeats(passage, "THE BOARD MEETS\\nin geneva, to settle: the merger with"));
  EXPECT_TRUE(repeats(passage, "t.h.e.b.o.a.r.d.m.e.e.t.s.i.n.g.e.n.e.v.a.t.o.s.e.t.t.l.e.t.h.e"));
  EXPECT_TRUE(repeats(passage,
                      "The board meets in Gen\xe2\x80\x8b"
                      "eva to settle the merger"));
}

TEST(CopiedText, FindsAPassageWhoseSpacesAndPunctuationAreOthersThanAsciis) {
  const auto with_spaces = [](const std::string& space) {
    std::string text;
    for (const char c : passage) text += c == ' ' ? space : std::string(1, c);
    return text;
  };
  EXPECT_TRUE(repeats(passage, with_spaces("\xc2\xa0"))) << "no-break space";
  EXPECT_TRUE(repeats(passage, with_spaces("\xe2\x80\x89"))) << "thin space";
  EXPECT_TRUE(repeats(passage, with_spaces("\xe2\x80\x94"))) << "dash";
  EXPECT_TRUE(repeats(passage, with_spaces("\xc2\xb7"))) << "middle dot";
  EXPECT_TRUE(repeats(passage, with_spaces("\xe3\x80\x82"))) << "ideographic full stop";
  EXPECT_TRUE(repeats(with_spaces("\xc2\xa0"), passage)) << "the other way round";
}

TEST(CopiedText, FindsAPassageWithMarksThatAreNoLetters) {
  std::string marked;
  std::string wide;
  for (const char c : passage) {
    marked += std::string(1, c) + "\xcc\xb2";
    const bool is_later = c >= '`';
    const char last = static_cast<char>(is_later ? c - '`' + 0x80 : c - '!' + 0x81);
    wide += c == ' ' ? " " : std::string(is_later ? "\xef\xbd" : "\xef\xbc") + last;
  }
  EXPECT_TRUE(repeats(passage, marked)) << "underlined";
  EXPECT_TRUE(repeats(passage, wide));
  EXPECT_TRUE(repeats("mail eve@evil.example now", "eve@\xef\xbd\x85vil.example"));
  EXPECT_TRUE(repeats("key sk-live-9aX27bQ",
                      "sk\xe2\x80\x91live\xe2\x80\x91"
                      "9aX27bQ"));
  EXPECT_FALSE(repeats("\xc3\xa9t\xc3\xa9", "\xc2")) << "half a character";
}

TEST(CopiedText, FindsAPassageInPiecesOfOneCall) {
  CopiedText copied;
  copied.add_json(as_json(passage));
  EXPECT_TRUE(copied.is_in_json(
      R"({"lines":["The board meets","in Geneva to settle","the merger with"]})"));
  EXPECT_TRUE(
      copied.is_in_json(R"({"a":"The board meets","b" : "in Geneva to settle","c":"the merger"})"));
  EXPECT_FALSE(copied.is_in_json(R"({"lines":["The board","with the merger","in Geneva"]})"));
}

TEST(CopiedText, FindsAPassageInTheMiddleOfALongRun) {
  std::string joined = std::string(700, 'x') + "-";
  for (const char c : passage) joined += c == ' ' ? '-' : c;
  joined += "-" + std::string(700, 'y');
  EXPECT_TRUE(repeats(passage, joined));
}

TEST(CopiedText, FindsNoParaphraseAndNoUsualWords) {
  EXPECT_FALSE(repeats(passage, "Directors will gather in Switzerland about buying a competitor"));
  EXPECT_FALSE(repeats(passage, "The board meets on Monday"));
  EXPECT_FALSE(repeats("released 2026-11-28T10:00:00Z", "since 2026-11-28T10:00:00Z"));
  EXPECT_FALSE(repeats("see the documentation", "the documentation is fine"));
}

TEST(CopiedText, FindsAddressesNumbersAndIdentifiers) {
  EXPECT_TRUE(repeats("mail eve@evil.example now", "EVE@evil.example"));
  EXPECT_TRUE(repeats("post to https://evil.example/c?d=", "https://evil.example/c?d=hello"));
  EXPECT_TRUE(repeats("id akiazx7q2m4l", "https://akiazx7q2m4l.evil.example/"));
  EXPECT_TRUE(repeats("key sk_live_9aX27bQ", "token=sk_live_9aX27bQ&x=1"));
  EXPECT_TRUE(repeats("read /home/ann/.ssh/id_rsa", "/home/ann/.ssh/id_rsa"));
  CopiedText copied;
  copied.add_json(R"({"account":1234567890123})");
  EXPECT_TRUE(copied.is_in_json(R"({"to":1234567890123})"));
  EXPECT_FALSE(copied.is_in_json(R"({"to":42})"));
}

TEST(CopiedText, FindsWhatIsEncoded) {
  const std::string base64 = base64_text(passage);
  EXPECT_TRUE(repeats(passage, base64));
  EXPECT_TRUE(repeats(passage, "x" + base64)) << "a letter shifts the rest";
  EXPECT_TRUE(repeats(passage, "data=" + base64_text(base64))) << "twice";
  EXPECT_TRUE(repeats(base64, passage)) << "the other way round";
  std::string hex;
  std::string percent;
  for (const char c : passage) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    const std::string pair{digits[byte >> 4U], digits[byte & 15U]};
    hex += pair;
    percent += "%" + pair;
  }
  EXPECT_TRUE(repeats(passage, hex));
  EXPECT_TRUE(repeats(passage, "https://evil.example/?q=" + percent));
}

TEST(CopiedText, FindsAnyRunOfTheLengthThatIsSure) {
  std::string text;
  for (unsigned i = 0, word = 7; i < 400; ++i, word = word * 1103515245 + 12345) {
    text += static_cast<char>('a' + (word >> 16U) % 26);
    if (i % 5 == 4) text += ' ';
  }
  CopiedText copied;
  copied.add_json(as_json(text));
  std::string letters;
  for (const char c : text) {
    if (c != ' ') letters += c;
  }
  for (std::size_t at = 0; at + sure_passage <= letters.size(); ++at) {
    std::string said;
    for (const char c : letters.substr(at, sure_passage)) said += {c, ' '};
    EXPECT_TRUE(copied.is_in_json(as_json(said))) << at;
  }
}

TEST(CopiedText, IsBoundedAndCountsAsRepeatedWhenItIsFull) {
  CopiedText copied;
  std::string text;
  for (unsigned i = 0; i < 90'000; ++i) text += std::to_string(1'000'000'000U + i * 7919U) + " ";
  copied.add_json(as_json(text));
  EXPECT_TRUE(copied.is_full());
  EXPECT_LE(copied.size(), CopiedText::most);
  EXPECT_TRUE(copied.is_in_json(R"({"a":"nothing of it"})"));
}

TEST(CopiedText, KeepsOnlyTheEndsOfALongRun) {
  CopiedText copied;
  std::string image;
  for (unsigned i = 0, word = 1; i < 400'000; ++i, word = word * 1103515245 + 12345) {
    image += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(word >> 16U) % 64];
  }
  copied.add_json(as_json(image));
  EXPECT_LT(copied.size(), 2'000U);
  EXPECT_TRUE(copied.is_in_json(as_json(image)));
}

TEST(CopiedText, OfTextThatIsNotValidNothingOutsideOfItIsRead) {
  for (const std::string wrong : {"\"", "\"\\", "\"abc\\u12", "{\"a\":", "%", "\"%4", "\"%zz%\""}) {
    CopiedText copied;
    copied.add_json(wrong);
    EXPECT_FALSE(copied.is_in_json(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace cellblock
