#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/json/canonical_json.h"
#include "policy/json/json_values.h"
#include "policy/jsonrpc/jsonrpc_walk.h"
#include "policy/redaction/json_tokens.h"
#include "tests/fuzz/check.h"

// Our walk over a line beside two other parsers: nlohmann's, whose callbacks are also asked where
// each value stands, and simdjson's DOM. The walk differs on purpose in these points, and in no
// others:
//   - more than 64 levels, and the same key twice in one object: refused;
//   - numbers of more than 256 bytes, or of a magnitude that no double has: refused;
//   - a byte order mark: refused (nlohmann passes over it).
// simdjson's DOM refuses integers beyond 64 bits, and reads some halves of surrogate pairs.
namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Says how many bytes were read through it and its copies.
class Counting {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Counting(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  Counting& operator++() {
    ++at_;
    if (at_ > *reached_) *reached_ = at_;
    return *this;
  }
  Counting operator++(int) {
    Counting before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Counting& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

struct Place {
  JsonType type = JsonType::absent;
  Span where;
  std::string text;  ///< of a string
};

/// Where each value stands, by its path ("/params/name"); elements are called by their numbers.
class Places {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  explicit Places(std::string_view text) : text_(text), reached_(text.data()) {}

  const std::map<std::string, Place>& all() const { return places_; }
  const std::vector<std::pair<Span, JsonTokenKind>>& tokens() const { return tokens_; }
  bool is_odd() const { return too_deep_ || has_odd_number_ || has_duplicate_; }
  bool has_duplicate() const { return has_duplicate_; }
  bool has_long_integer() const { return has_long_integer_; }

  bool parse() {
    const char* const begin = text_.data();
    return Json::sax_parse(Counting(begin, &reached_), Counting(begin + text_.size(), &reached_),
                           this);
  }

  bool null() { return literal(); }
  bool boolean(bool) { return literal(); }
  bool number_integer(number_integer_t) { return number(); }
  bool number_unsigned(number_unsigned_t) { return number(); }
  bool number_float(number_float_t, const string_t&) { return number(); }
  bool binary(binary_t&) { return false; }
  bool string(string_t& value) {
    const Span where{begin_of_next(), here()};
    note({JsonType::string, where, value});
    tokens_.push_back({{where.begin + 1, where.end - 1}, JsonTokenKind::string});
    at_ = where.end;
    return true;
  }
  bool key(string_t& value) {
    const Span where{begin_of_next(), here()};
    tokens_.push_back({{where.begin + 1, where.end - 1}, JsonTokenKind::key});
    Open& open = open_.back();
    if (!open.keys.insert(value).second) has_duplicate_ = true;
    open.key = value;
    at_ = where.end;
    return true;
  }
  bool start_object(std::size_t) { return start(JsonType::object); }
  bool start_array(std::size_t) { return start(JsonType::array); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }

 private:
  struct Open {
    JsonType type{};
    std::uint32_t begin = 0;
    std::string path;  ///< its own
    std::set<std::string> keys;
    std::string key;
    std::size_t count = 0;
  };

  std::uint32_t here() const { return static_cast<std::uint32_t>(reached_ - text_.data()); }

  std::uint32_t begin_of_next() const {
    const std::size_t begin = text_.find_first_not_of(" \t\r\n,:", at_);
    return static_cast<std::uint32_t>(std::min(begin, text_.size()));
  }

  std::string next_path() {
    if (open_.empty()) return "";
    Open& open = open_.back();
    return open.path + '/' +
           (open.type == JsonType::object ? open.key : std::to_string(open.count++));
  }

  void note(Place place) { places_[next_path()] = std::move(place); }

  bool literal() {
    const Span where{begin_of_next(), here()};
    note({JsonType::literal, where, {}});
    at_ = where.end;
    return true;
  }

  // One byte more was looked at, if there is one.
  bool number() {
    const std::uint32_t begin = begin_of_next();
    const std::size_t end =
        std::min(text_.find_first_not_of("-+.0123456789eE", begin), text_.size());
    const Span where{begin, static_cast<std::uint32_t>(end)};
    const std::string_view digits = where.in(text_);
    if (!is_json_number(digits)) has_odd_number_ = true;
    if (digits.find_first_of(".eE") == std::string_view::npos && digits.size() > 18) {
      has_long_integer_ = true;
    }
    note({JsonType::number, where, {}});
    tokens_.push_back({where, JsonTokenKind::number});
    at_ = where.end;
    return true;
  }

  bool start(JsonType type) {
    const std::uint32_t begin = begin_of_next();
    std::string path = next_path();
    open_.push_back({type, begin, std::move(path), {}, {}, 0});
    if (open_.size() > max_message_depth) too_deep_ = true;
    at_ = begin + 1;
    return true;
  }

  bool end() {
    const Open& open = open_.back();
    places_[open.path] = {open.type, {open.begin, here()}, {}};
    open_.pop_back();
    at_ = here();
    return true;
  }

  std::string_view text_;
  const char* reached_;
  std::size_t at_ = 0;  ///< the end of the token before
  std::vector<Open> open_;
  std::map<std::string, Place> places_;
  std::vector<std::pair<Span, JsonTokenKind>> tokens_;
  bool too_deep_ = false;
  bool has_odd_number_ = false;
  bool has_duplicate_ = false;
  bool has_long_integer_ = false;
};

void check_found(const Places& places, const std::string& path, const Found& found) {
  const auto place = places.all().find(path);
  if (place == places.all().end()) {
    CELLBLOCK_FUZZ_CHECK(found.type == JsonType::absent);
    return;
  }
  CELLBLOCK_FUZZ_CHECK(found.type == place->second.type && found.where == place->second.where);
  CELLBLOCK_FUZZ_CHECK(found.text == place->second.text);
}

/// `path` names the members of an object that is one; below anything else nothing is found.
void check_members(const Places& places, const Sightings& seen) {
  const std::string meta = "io.modelcontextprotocol/";
  const std::pair<std::string, const Found*> members[] = {
      {"/jsonrpc", &seen.jsonrpc},
      {"/id", &seen.id},
      {"/method", &seen.method},
      {"/params", &seen.params},
      {"/result", &seen.result},
      {"/error", &seen.error},
      {"/params/name", &seen.name},
      {"/params/uri", &seen.uri},
      {"/params/requestId", &seen.request_id},
      {"/params/progress", &seen.progress},
      {"/params/progressToken", &seen.progress_token},
      {"/params/capabilities", &seen.capabilities},
      {"/params/cursor", &seen.cursor},
      {"/params/level", &seen.level},
      {"/params/message", &seen.question},
      {"/params/_meta/progressToken", &seen.meta_progress_token},
      {"/params/_meta/traceparent", &seen.traceparent},
      {"/params/_meta/" + meta + "protocolVersion", &seen.protocol_version},
      {"/params/_meta/" + meta + "clientCapabilities", &seen.client_capabilities},
      {"/params/_meta/" + meta + "subscriptionId", &seen.params_subscription_id},
      {"/result/_meta/" + meta + "subscriptionId", &seen.result_subscription_id},
      {"/result/nextCursor", &seen.next_cursor},
      {"/error/code", &seen.error_code},
      {"/error/message", &seen.error_message},
  };
  for (const auto& [path, found] : members) check_found(places, path, *found);
}

void check_tools(const Places& places, const Sightings& seen) {
  const auto tools = places.all().find("/result/tools");
  const bool is_list = tools != places.all().end() && tools->second.type == JsonType::array;
  CELLBLOCK_FUZZ_CHECK(is_list || seen.tools.empty());
  for (std::size_t i = 0; is_list; ++i) {
    const std::string path = "/result/tools/" + std::to_string(i);
    const auto tool = places.all().find(path);
    CELLBLOCK_FUZZ_CHECK((tool == places.all().end()) == (i >= seen.tools.size()));
    if (tool == places.all().end()) return;
    CELLBLOCK_FUZZ_CHECK(seen.tools[i].element == tool->second.where);
    const auto name = places.all().find(path + "/name");
    const bool is_named = tool->second.type == JsonType::object && name != places.all().end() &&
                          name->second.type == JsonType::string;
    CELLBLOCK_FUZZ_CHECK(seen.tools[i].name == (is_named ? name->second.text : ""));
  }
}

void check_tokens(std::string_view text, const Places& places) {
  JsonTokens tokens(text);
  JsonToken token;
  for (const auto& [where, kind] : places.tokens()) {
    CELLBLOCK_FUZZ_CHECK(tokens.next(token));
    CELLBLOCK_FUZZ_CHECK(token.kind == kind && token.where.begin == where.begin &&
                         token.where.end == where.end);
  }
  CELLBLOCK_FUZZ_CHECK(!tokens.next(token));
}

/// With a tree and without.
void check_canonical(std::string_view text) {
  const auto canonical = canonical_text(text);
  if (!canonical) return;
  CELLBLOCK_FUZZ_CHECK(*canonical == canonical_json(nlohmann::ordered_json::parse(text)));
}

/// A path of this test is ambiguous when a key has a slash in it.
bool has_slash_in_key(const Places& places, std::string_view text) {
  return std::ranges::any_of(places.tokens(), [&](const auto& token) {
    const std::string_view key = token.first.in(text);
    return token.second == JsonTokenKind::key && (key.find('\\') != std::string_view::npos ||
                                                  (key.find('/') != std::string_view::npos &&
                                                   !key.starts_with("io.modelcontextprotocol/")));
  });
}

bool accepts(bool walked, const WalkFault& fault) {
  return walked || fault.fault == MessageFault::not_an_object;
}

void compare(std::string_view text, const simdjson::padded_string& padded) {
  static MessageWalk walk;
  static simdjson::dom::parser dom;
  const std::string_view line(padded.data(), padded.size());
  const bool walked = walk.walk(line);
  const bool ours = accepts(walked, walk.fault());
  Places places(text);
  // nlohmann takes a zero byte for the end of the text.
  const bool theirs = places.parse() && !text.starts_with(byte_order_mark) &&
                      text.find('\0') == std::string_view::npos;
  if (ours) {
    CELLBLOCK_FUZZ_CHECK(theirs && !places.is_odd());
  } else {
    CELLBLOCK_FUZZ_CHECK(!theirs || places.is_odd() ||
                         walk.fault().fault == MessageFault::not_jsonrpc);
    CELLBLOCK_FUZZ_CHECK(walk.fault().fault != MessageFault::duplicate_key || !theirs ||
                         places.has_duplicate());
  }
  const bool third = dom.parse(padded).error() == simdjson::SUCCESS;
  CELLBLOCK_FUZZ_CHECK(!ours || third || places.has_long_integer());
  if (ours) check_tokens(text, places);
  if (walked) check_canonical(text);
  if (walked && !has_slash_in_key(places, text)) {
    check_members(places, walk.sightings());
    check_tools(places, walk.sightings());
  }
  walk.release();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return 0;
  compare(text, simdjson::padded_string(text));
  return 0;
}
