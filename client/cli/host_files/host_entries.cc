#include "client/cli/host_files/host_entries.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "client/cli/host_files/toml_entries.h"
#include "client/cli/import/input_json.h"
#include "client/cli/import/members.h"
#include "client/cli/import/plain_json.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::vector<std::string>;

constexpr std::string_view blanks = " \t\r\n";

bool is_entry(const Path& path) {
  if (path.size() == 2) {
    return path[0] == "mcpServers" || path[0] == "servers" || path[0] == "context_servers";
  }
  if (path.size() == 3) return path[0] == "mcp" && path[1] == "servers";
  return path.size() == 4 && path[0] == "projects" && path[2] == "mcpServers";
}

/// Walks valid JSON without comments, and notes where the entries stand.
class EntryWalk {
 public:
  explicit EntryWalk(std::string_view text) : text_(text) {}

  std::vector<HostEntry> take() {
    walk_value();
    return std::move(found_);
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  void walk_value() {
    skip_blanks();
    if (at_ >= text_.size()) return;
    if (text_[at_] == '{') return walk_members('}');
    if (text_[at_] == '[') return walk_members(']');
    if (text_[at_] == '"') return skip_string();
    at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
  }

  void walk_members(char close) {
    ++at_;
    for (skip_blanks(); at_ < text_.size() && text_[at_] != close; skip_blanks()) {
      if (text_[at_] == ',') {
        ++at_;
      } else if (close == '}') {
        walk_member();
      } else {
        path_.emplace_back();
        walk_value();
        path_.pop_back();
      }
    }
    ++at_;
  }

  void walk_member() {
    const auto key = at_;
    skip_string();
    path_.push_back(Json::parse(text_.substr(key, at_ - key)).get<std::string>());
    at_ = text_.find(':', at_) + 1;
    skip_blanks();
    const auto begin = at_;
    walk_value();
    if (is_entry(path_)) note(begin);
    path_.pop_back();
  }

  void note(std::size_t begin) {
    auto value = Json::parse(text_.substr(begin, at_ - begin));
    if (!value.is_object()) return;
    found_.push_back({.path = path_, .begin = begin, .end = at_, .value = std::move(value)});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Path path_;
  std::vector<HostEntry> found_;
};

}  // namespace

Result<std::vector<HostEntry>> host_entries(std::string_view text) {
  if (!looks_like_json(text)) return toml_entries(text);
  CELLBLOCK_CHECK(json_of_json(text));
  const auto plain = CELLBLOCK_TRY(plain_json(text, max_import_depth));
  return EntryWalk(plain).take();
}

std::vector<std::string> command_of_entry(const Json& value) {
  const bool is_nested = value.contains("command") && value["command"].is_object();
  const Json& place = is_nested ? value["command"] : value;
  auto program = text_member(place, is_nested ? "path" : "command").value_or("");
  if (program.empty()) return {};
  Path words{std::move(program)};
  auto arguments = texts_member(place, "args").value_or(Path{});
  std::ranges::move(arguments, std::back_inserter(words));
  return words;
}

bool is_cellblock(const Json& value) {
  const auto words = command_of_entry(value);
  if (words.empty() || !(words[0] == "cellblock" || words[0].ends_with("/cellblock"))) return false;
  return std::ranges::any_of(
      words, [](const std::string& word) { return word == "connect" || word == "run"; });
}

Json connecting_entry(Json value, const std::vector<std::string>& arguments) {
  constexpr std::array replaced = {"env", "envFile", "cwd", "dev", "sandbox", "sandboxEnabled"};
  for (const char* name : replaced) value.erase(name);
  value["command"] = "cellblock";
  value["args"] = arguments;
  return value;
}

}  // namespace cellblock::cli
