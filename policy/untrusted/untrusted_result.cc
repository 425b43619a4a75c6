#include "policy/untrusted/untrusted_result.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "policy/base/json_members.h"
#include "policy/base/json_string.h"
#include "policy/json/json_text.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/protocol_words.h"
#include "policy/redaction/json_tokens.h"

namespace cellblock {
namespace {

enum class Names : std::uint8_t { as_shown, numbered };

// Begins the number of a member's name.
constexpr std::string_view number_sign = "<name ";

/// Goes through the strings of one result.
class ResultMarker {
 public:
  ResultMarker(std::string_view json, const MarkRules& rules, Names names)
      : json_(json), rules_(rules), names_(names) {}

  std::optional<MarkedResult> run() {
    JsonTokens tokens(json_);
    for (JsonToken token; tokens.next(token);) {
      if (token.kind == JsonTokenKind::number) continue;
      if (token.kind == JsonTokenKind::key && token.depth == 1) member_ = raw(token.where);
      look(token);
    }
    if (!counts_.any()) return std::nullopt;
    made_ += json_.substr(done_);
    return MarkedResult{std::move(made_), counts_};
  }

  bool has_marked_names() const { return has_marked_names_; }

 private:
  std::string_view raw(TextRange where) const {
    return json_.substr(where.begin, where.end - where.begin);
  }

  // Whether a text is for people and models alone, so that it may become any other.
  bool may_strip(const JsonToken& token) const {
    if (token.kind == JsonTokenKind::key) return false;
    if (rules_.note == MarkNote::none) return token.depth == 1 && member_ == "message";
    return raw(token.member) == "text" ||
           (rules_.note == MarkNote::content && member_ == "structuredContent");
  }

  // Names that were two may be one as they are shown. With a number at its end none of those is
  // another, nor one that has no number.
  void number(std::string_view unmarked, std::optional<std::string>& name) {
    if (name) has_marked_names_ = true;
    if (names_ == Names::as_shown || (!name && !unmarked.contains(number_sign))) return;
    if (!name) name = unmarked;
    name->append(fmt::format("{}{}>", number_sign, ++numbered_));
  }

  std::optional<std::string> made_of(const JsonToken& token, std::string_view text) {
    const UntrustedText how = may_strip(token) ? rules_.how : UntrustedText::mark;
    auto made = marked_text(text, how, counts_);
    if (token.kind == JsonTokenKind::key) number(text, made);
    if (made && how == UntrustedText::strip && rules_.look_again) made = rules_.look_again(*made);
    return made;
  }

  void look(const JsonToken& token) {
    const std::string_view written = raw(token.where);
    const bool is_escaped = has_escapes(written, Escapes::json);
    const auto text =
        is_escaped ? made_of(token, unescape(written, Escapes::json)) : made_of(token, written);
    if (!text) return;
    const std::string quoted = json_string(*text);
    made_ += json_.substr(done_, token.where.begin - done_);
    made_.append(quoted, 1, quoted.size() - 2);
    done_ = token.where.end;
  }

  std::string_view json_;
  const MarkRules& rules_;
  Names names_;
  bool has_marked_names_ = false;
  std::uint64_t numbered_ = 0;
  MarkCounts counts_;
  std::string_view member_;  ///< of the outermost object, whose value is looked at
  std::string made_;
  std::size_t done_ = 0;  ///< of the json, up to where it was looked at and copied
};

bool has_a_name_twice(const std::string& json) {
  std::string line = R"({"jsonrpc":"2.0","id":1,"result":)" + json + "}";
  const std::size_t size = line.size();
  line.resize(size + MessageScanner::padding);
  const auto read = MessageScanner().scan(std::string_view(line).substr(0, size));
  return !read && read.error().fault == MessageFault::duplicate_key;
}

std::optional<MarkedResult> marked_strings(std::string_view json, const MarkRules& rules) {
  ResultMarker marker(json, rules, Names::as_shown);
  auto marked = marker.run();
  if (!marked || !marker.has_marked_names() || !has_a_name_twice(marked->json)) return marked;
  return ResultMarker(json, rules, Names::numbered).run();
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string note_sentence(const MarkCounts& counts, UntrustedText how) {
  const std::string_view done =
      how == UntrustedText::strip
          ? "taken out of its texts, and elsewhere written as <U+200B> and <token NAME>"
          : "written as <U+200B> and <token NAME>";
  return fmt::format(
      "[cellblock: this result comes from others. It had {}, which may be there to deceive a "
      "model: they are {}.]",
      counts_sentence(counts), done);
}

void insert_before_end(std::string& json, std::string_view within, std::string_view addition) {
  const auto end = static_cast<std::size_t>(within.data() - json.data()) + within.size() - 1;
  const bool is_first = within.find_first_not_of(" \t\r\n", 1) == within.size() - 1;
  json.insert(end, std::string(is_first ? "" : ",").append(addition));
}

void add_content(std::string& json, std::string_view sentence) {
  const auto members = raw_members(json);
  const RawMember* content = members ? find_member(*members, "content") : nullptr;
  if (content == nullptr || !content->value.starts_with('[')) return;
  insert_before_end(json, content->value,
                    JsonMembers().text("type", "text").text("text", sentence).object());
}

std::string meta_object(const MarkCounts& counts, UntrustedText how) {
  return JsonMembers()
      .text("untrusted", how == UntrustedText::strip ? "strip" : "mark")
      .number("invisible_characters", counts.hidden)
      .number("terminal_sequences", counts.terminal)
      .number("chat_tokens", counts.tokens)
      .object();
}

void replace_within(std::string& json, std::string_view within, std::string_view with) {
  json.replace(static_cast<std::size_t>(within.data() - json.data()), within.size(), with);
}

// What a server says of this itself is replaced: of two members of one name, readers take either.
void add_meta(std::string& json, const MarkCounts& counts, UntrustedText how) {
  const std::string object = meta_object(counts, how);
  const std::string member = JsonMembers().raw(mcp::meta_key::marked, object).members();
  const auto members = raw_members(json);
  if (!members) return;
  const RawMember* meta = find_member(*members, "_meta");
  if (meta == nullptr) return insert_before_end(json, json, "\"_meta\":{" + member + "}");
  const auto known = raw_members(meta->value);
  if (!known) return;
  const RawMember* own = find_member(*known, mcp::meta_key::marked);
  if (own != nullptr) return replace_within(json, own->value, object);
  insert_before_end(json, meta->value, member);
}

}  // namespace

std::string counts_sentence(const MarkCounts& counts) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + counted(count, one, many);
  };
  add(counts.hidden, "invisible character", "invisible characters");
  add(counts.terminal, "control character or terminal sequence",
      "control characters or terminal sequences");
  add(counts.tokens, "token of a chat template", "tokens of chat templates");
  return text;
}

std::optional<MarkedResult> marked_result(std::string_view json, const MarkRules& rules) {
  if (rules.how == UntrustedText::pass) return std::nullopt;
  auto marked = marked_strings(json, rules);
  if (!marked || rules.note == MarkNote::none) return marked;
  if (rules.note == MarkNote::content) {
    add_content(marked->json, note_sentence(marked->counts, rules.how));
  }
  add_meta(marked->json, marked->counts, rules.how);
  return marked;
}

}  // namespace cellblock
