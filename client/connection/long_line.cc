#include "client/connection/long_line.h"

#include <algorithm>
#include <functional>

namespace cellblock::client {
namespace {

constexpr std::string_view spaces = " \t\r";

std::string_view skipped(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text;
}

// The string or plain value (number, true, null) that the text begins with, as it stands; empty:
// none that ends in sight.
std::string_view scalar_at(std::string_view text) {
  if (text.starts_with('"')) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        return text.substr(0, i + 1);
      }
    }
    return {};
  }
  const auto end = text.find_first_of(",}]{[\" \t\r");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

// Walks the first members of an object as long as their values are scalars. `visit` gets key and
// value, quotes included; a value that is none, or is not whole, is empty.
void first_members(std::string_view text,
                   const std::function<void(std::string_view, std::string_view)>& visit) {
  text = skipped(text);
  if (!text.starts_with('{')) return;
  do {
    text = skipped(text.substr(1));
    const auto key = scalar_at(text);
    if (!key.starts_with('"')) return;
    text = skipped(text.substr(key.size()));
    if (!text.starts_with(':')) return;
    text = skipped(text.substr(1));
    const auto value = scalar_at(text);
    visit(key, value);
    if (value.empty()) return;
    text = skipped(text.substr(value.size()));
  } while (text.starts_with(','));
}

// `"id":7}` at the end of a line, which is valid JSON, is a member of the object that the line is:
// its last brace closes no other.
std::string_view last_id(std::string_view tail) {
  const auto at = tail.rfind(R"("id")");
  if (at == std::string_view::npos) return {};
  const auto before = tail.substr(0, at).find_last_not_of(spaces);
  if (before == std::string_view::npos || (tail[before] != ',' && tail[before] != '{')) return {};
  auto rest = skipped(tail.substr(at + 4));
  if (!rest.starts_with(':')) return {};
  rest = skipped(rest.substr(1));
  const auto value = scalar_at(rest);
  rest = skipped(rest.substr(value.size()));
  return rest.starts_with('}') && skipped(rest.substr(1)).empty() ? value : std::string_view();
}

// Ids that are anything else are nobody's.
bool is_id(std::string_view raw) {
  return raw.starts_with('"') ||
         (!raw.empty() && raw.find_first_not_of("-+.0123456789eE") == std::string_view::npos);
}

}  // namespace

bool LongLine::add(std::string_view bytes) {
  size_ += bytes.size();
  if (bytes.size() >= kept) {
    tail_ = bytes.substr(bytes.size() - kept);
  } else {
    tail_ += bytes;
    if (tail_.size() > kept) tail_.erase(0, tail_.size() - kept);
  }
  return size_ <= most_;
}

std::string LongLine::id() const {
  std::string_view found;
  first_members(head_, [&found](std::string_view key, std::string_view value) {
    if (key == R"("id")") found = value;
  });
  if (found.empty()) found = last_id(tail_);
  return std::string(is_id(found) ? found : std::string_view());
}

bool LongLine::has_method() const {
  bool has = false;
  first_members(
      head_, [&has](std::string_view key, std::string_view) { has = has || key == R"("method")"; });
  return has;
}

bool LongLine::is_object() const { return skipped(head_).starts_with('{'); }

}  // namespace cellblock::client
