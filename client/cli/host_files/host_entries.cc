#include "client/cli/host_files/host_entries.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"

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
  constexpr std::array replaced = {"env",     "envFile",        "cwd",          "dev",
                                   "sandbox", "sandboxEnabled", "url",          "serverUrl",
                                   "httpUrl", "headers",        "http_headers", "transport"};
  for (const char* name : replaced) value.erase(name);
  if (value.contains("type")) value["type"] = "stdio";
  value["command"] = "cellblock";
  value["args"] = arguments;
  return value;
}

namespace {

constexpr const char* servers_table = "mcp_servers";

struct Line {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< behind its newline
  std::string_view text;
};

std::vector<Line> lines_in(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto newline = text.find('\n', at);
    const auto end = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back({.begin = at, .end = end, .text = text.substr(at, end - at)});
    at = end;
  }
  return lines;
}

std::string_view without_margin(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

bool is_header(const Line& line) { return without_margin(line.text).starts_with('['); }

bool is_empty_or_comment(const Line& line) {
  const auto text = without_margin(line.text);
  return text.empty() || text.find_first_of("#\r\n") == 0;
}

// The names of "[a.b]", as a table of its own would have them.
Path names_of_header(const Line& line) {
  Path names;
  try {
    const toml::table parsed = toml::parse(line.text);
    const toml::table* table = &parsed;
    while (table != nullptr && table->size() == 1) {
      names.emplace_back(table->begin()->first.str());
      table = table->begin()->second.as_table();
    }
  } catch (const toml::parse_error&) {
    return {};
  }
  return names;
}

bool is_of_server(const Path& names, const std::string& server) {
  return names.size() >= 2 && names[0] == servers_table && names[1] == server;
}

// From its header to the next one that is none of its own; what stands before that belongs to it.
std::size_t last_line_of(const std::vector<Line>& lines, std::size_t first,
                         const std::string& name) {
  std::size_t next = first + 1;
  while (next < lines.size() &&
         (!is_header(lines[next]) || is_of_server(names_of_header(lines[next]), name))) {
    ++next;
  }
  while (next > first + 1 && is_empty_or_comment(lines[next - 1])) --next;
  return next - 1;
}

std::optional<HostEntry> entry_at(const std::vector<Line>& lines, std::size_t first,
                                  const Json& document) {
  if (!is_header(lines[first])) return std::nullopt;
  const auto names = names_of_header(lines[first]);
  if (names.size() != 2 || names[0] != servers_table) return std::nullopt;
  const Json& value = object_member(object_member(document, servers_table), names[1].c_str());
  if (!value.is_object() || value.empty()) return std::nullopt;
  const auto last = last_line_of(lines, first, names[1]);
  return HostEntry{
      .path = names, .begin = lines[first].begin, .end = lines[last].end, .value = value};
}

// Of one server's text: the numbers, from 1, of lines that are replaced.
std::set<std::size_t> replaced_lines(const toml::table& server) {
  constexpr std::array<std::string_view, 9> replaced = {"command",
                                                        "args",
                                                        "env",
                                                        "cwd",
                                                        "env_vars",
                                                        "url",
                                                        "http_headers",
                                                        "env_http_headers",
                                                        "bearer_token_env_var"};
  std::set<std::size_t> numbers;
  for (const auto name : replaced) {
    const auto* node = server.get(name);
    if (node == nullptr) continue;
    const auto& source = node->source();
    for (auto line = source.begin.line; line <= source.end.line; ++line) numbers.insert(line);
  }
  return numbers;
}

constexpr std::array<std::string_view, 3> own_tables = {"env", "http_headers", "env_http_headers"};

// A table of variables has a header and lines of its own.
void add_table_of_variables(const std::vector<Line>& lines, std::set<std::size_t>& numbers) {
  bool is_inside = false;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (is_header(lines[at])) {
      const auto names = names_of_header(lines[at]);
      is_inside = names.size() >= 3 && std::ranges::find(own_tables, names[2]) != own_tables.end();
    }
    if (is_inside) numbers.insert(at + 1);
  }
}

std::string connecting_lines(const Path& arguments) {
  std::string words;
  for (const auto& word : arguments) words += (words.empty() ? "" : ", ") + toml_text(word);
  return fmt::format("command = \"cellblock\"\nargs = [{}]\nenv_vars = [\"{}\"]\n", words,
                     passed_variable);
}

}  // namespace

Result<std::vector<HostEntry>> toml_entries(std::string_view text) {
  const auto document = CELLBLOCK_TRY(json_of_toml(text));
  const auto lines = lines_in(text);
  std::vector<HostEntry> entries;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    auto entry = entry_at(lines, at, document);
    if (entry) entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<std::string> connecting_toml(std::string_view block, const Path& arguments) {
  const auto lines = lines_in(block);
  std::set<std::size_t> numbers;
  try {
    const toml::table parsed = toml::parse(block);
    const auto* servers = parsed[servers_table].as_table();
    const auto* server = servers == nullptr ? nullptr : servers->begin()->second.as_table();
    if (server != nullptr) numbers = replaced_lines(*server);
  } catch (const toml::parse_error&) {
    return fail("its table is not one piece of text");
  }
  add_table_of_variables(lines, numbers);
  std::string text{lines.empty() ? std::string_view() : lines.front().text};
  if (!text.ends_with('\n')) text += '\n';
  text += connecting_lines(arguments);
  for (std::size_t at = 1; at < lines.size(); ++at) {
    if (!numbers.contains(at + 1)) text += lines[at].text;
  }
  return text;
}

}  // namespace cellblock::cli
