#include "policy/config/id_table.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace cellblock {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Gateways, the writer, cellblock-http and cellblock-metrics, as many as there may be egress
// helpers.
constexpr std::uint32_t most_own = 4'096 + 3 + 1'024;

}  // namespace

std::uint32_t server_ids(const Identity& identity) {
  if (identity.cell_ids == 1) return 1;
  return identity.cell_ids - std::min(most_own, identity.cell_ids / 2);
}

std::optional<IdTable::Id> IdTable::find(std::string_view server, std::uint32_t user) const {
  if (count_ == 1) return Id{first_, Standing::assigned};
  const auto found = ids_.find(Key(server, user));
  if (found != ids_.end()) return Id{found->second, Standing::assigned};
  if (next_ >= count_) return std::nullopt;
  return Id{first_ + next_, Standing::free};
}

void IdTable::assign(std::string_view server, std::uint32_t user, std::uint32_t id) {
  ids_.emplace(Key(server, user), id);
  given_.insert(id);
  next_ = std::max(next_, id - first_ + 1);
}

bool IdTable::is_free(std::uint32_t id) const {
  return id >= first_ && id - first_ < count_ && !given_.contains(id);
}

std::string IdTable::format(std::string_view server, std::uint32_t user, std::uint32_t id) {
  return std::string(server) + ' ' + std::to_string(user) + ' ' + std::to_string(id) + '\n';
}

Result<void> IdTable::restore_line(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 3 || words[0].empty()) return fail("not of the form SERVER USER ID");
  const auto user = parse_number(words[1]);
  const auto id = parse_number(words[2]);
  if (!user || !id) return fail("not of the form SERVER USER ID");
  if (*id < first_ || *id - first_ >= count_) return fail("an id outside the range");
  if (given_.contains(*id)) return fail("an id that was given twice");
  if (ids_.contains(Key(words[0], *user))) return fail("a server and user given twice");
  assign(words[0], *user, *id);
  return {};
}

Result<void> IdTable::restore(std::string_view lines) {
  if (count_ == 1) return {};
  unsigned number = 0;
  for (std::string_view line : split(lines, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (const auto restored = restore_line(line); !restored) {
      return fail("line " + std::to_string(number) + ": " + restored.error().text);
    }
  }
  return {};
}

}  // namespace cellblock
