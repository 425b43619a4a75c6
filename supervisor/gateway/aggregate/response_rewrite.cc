#include "supervisor/gateway/aggregate/response_rewrite.h"

#include <cstdint>

#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/public_name.h"
#include "supervisor/gateway/message/request_meta.h"

namespace cellblock::gateway {
namespace {

/// Steps over validated JSON without looking at what it means.
class Steps {
 public:
  Steps(std::string_view line, Span where) : line_(line), at_(where.begin), end_(where.end) {}

  bool more() const { return at_ < end_; }
  std::uint32_t at() const { return at_; }
  char peek() const { return more() ? line_[at_] : '\0'; }
  void step() { ++at_; }

  void skip_space() {
    while (more() && (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n')) step();
  }

  /// Over white space and one of `,` and `:`, if it is there.
  void skip_separator() {
    skip_space();
    if (peek() == ',' || peek() == ':') step();
    skip_space();
  }

  Span string() {
    const std::uint32_t begin = at_;
    step();
    while (more() && peek() != '"') at_ += peek() == '\\' ? 2 : 1;
    step();
    return {begin, at_};
  }

  Span value() {
    const std::uint32_t begin = at_;
    if (peek() == '"') return string();
    if (peek() == '{' || peek() == '[') {
      container();
    } else {
      while (more() && std::string_view(",]} \t\r\n").find(peek()) == std::string_view::npos)
        step();
    }
    return {begin, at_};
  }

 private:
  void container() {
    unsigned depth = 0;
    do {
      const char c = peek();
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      step();
    } while (more() && depth > 0);
  }

  std::string_view line_;
  std::uint32_t at_;
  std::uint32_t end_;
};

/// A key as a parser reads it, quotes included: "ur\\u0069" is "uri" to every host.
class Key {
 public:
  explicit Key(std::string_view raw) : raw_(raw) {
    if (raw.find('\\') == std::string_view::npos) return;
    plain_ = '"' + text_from(raw) + '"';
    raw_ = plain_;
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  std::string_view quoted() const { return raw_; }

 private:
  std::string plain_;
  std::string_view raw_;
};

class Finder {
 public:
  explicit Finder(std::string_view line) : line_(line) {}

  void in_result(Span result) {
    members(result, [this](std::string_view key, Span value) {
      if (key == R"("content")" || key == R"("contents")") in_content(value);
      if (key == R"("messages")") {
        elements(value, [this](Span message) { in_message(message); });
      }
    });
  }

  std::vector<Span> found;

 private:
  template <class Each>
  void members(Span object, Each&& each) {
    if (line_[object.begin] != '{') return;
    Steps steps(line_, {object.begin + 1, object.end - 1});
    for (steps.skip_separator(); steps.more(); steps.skip_separator()) {
      const Key key(steps.string().in(line_));
      steps.skip_separator();
      each(key.quoted(), steps.value());
    }
  }

  template <class Each>
  void elements(Span array, Each&& each) {
    if (line_[array.begin] != '[') return;
    Steps steps(line_, {array.begin + 1, array.end - 1});
    for (steps.skip_separator(); steps.more(); steps.skip_separator()) each(steps.value());
  }

  void in_message(Span message) {
    members(message, [this](std::string_view key, Span value) {
      if (key == R"("content")") in_content(value);
    });
  }

  /// One item of content, or an array of them.
  void in_content(Span content) {
    if (line_[content.begin] == '[') {
      return elements(content, [this](Span item) { in_item(item); });
    }
    in_item(content);
  }

  void in_item(Span item) {
    members(item, [this](std::string_view key, Span value) {
      if (key == R"("uri")") note(value);
      if (key == R"("resource")") in_resource(value);
    });
  }

  void in_resource(Span resource) {
    members(resource, [this](std::string_view key, Span value) {
      if (key == R"("uri")") note(value);
    });
  }

  void note(Span value) {
    if (line_[value.begin] == '"') found.push_back(value);
  }

  std::string_view line_;
};

}  // namespace

std::vector<Span> result_uris(std::string_view line, Span result) {
  const std::string_view text = result.in(line);
  const bool may_have_any = text.find(R"("uri")") != text.npos || text.find(R"(\u)") != text.npos;
  if (!may_have_any) return {};
  Finder finder(line);
  finder.in_result(result);
  return std::move(finder.found);
}

namespace {

/// False: nothing to name in there, or it is named already.
bool name_in(Json& request, std::string_view name) {
  Json* params = member(request, "params");
  if (params == nullptr) return false;
  const std::string before = string_in(*params, "message");
  name_the_asker(string_in(request, "method"), *params, name);
  return string_in(*params, "message") != before;
}

}  // namespace

std::vector<Replacement> show_answer(std::string_view line, const Message& message,
                                     std::uint32_t server, std::string_view name,
                                     ResourceRoutes& routes) {
  std::vector<Replacement> edits = show_task_ids(line, message, name);
  ResourceRoutes::Effort effort;
  for (const Span span : result_uris(line, message.result)) {
    const std::string uri = text_from(span.in(line));
    const std::string shown = routes.mention(server, uri, effort);
    if (shown != uri) edits.push_back({span, json_string(shown)});
  }
  return edits;
}

std::optional<std::string> name_asker(std::string_view text, std::string_view name) {
  Json json = parse_json(text);
  Json* result = member(json, "result");
  Json* requests = result == nullptr ? nullptr : member(*result, "inputRequests");
  if (requests == nullptr || !requests->is_object()) return std::nullopt;
  bool any = false;
  for (Json& request : *requests) any |= name_in(request, name);
  return any ? std::optional(text_of(json)) : std::nullopt;
}

std::string name_logger(std::string_view line, std::string_view name) {
  Json json = parse_json(line);
  // Made where there are none: null would be no params, and its reader would drop the message.
  Json& params = object_at(json, "params");
  const std::string logger = string_in(params, "logger");
  params["logger"] = std::string(name) + (logger.empty() ? "" : ": " + logger);
  return text_of(json);
}

}  // namespace cellblock::gateway
