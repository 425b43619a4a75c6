#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/result_rules.h"
#include "policy/results/bounding_notes.h"
#include "supervisor/os/clock.h"

/// Withheld parts of one session's results, kept for later reading: bounded in number, bytes and
/// age. Only that session can read them, and they end with it.
namespace cellblock::gateway {

// Names of what is kept: "cellblock://results/ID" the whole of a result, "cellblock://results/ID/1"
// a part, "…/1?offset=400" the rest of it.

inline constexpr std::string_view kept_results_prefix = "cellblock://results/";
inline constexpr std::size_t kept_id_length = 32;  ///< hexadecimal digits

/// Decides by the spelling alone. A server named "results" has no such URIs by accident.
inline bool is_kept_uri(std::string_view uri) {
  if (!uri.starts_with(kept_results_prefix)) return false;
  uri.remove_prefix(kept_results_prefix.size());
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (uri.size() < kept_id_length) return false;
  if (!std::ranges::all_of(uri.substr(0, kept_id_length), is_digit)) return false;
  return uri.size() == kept_id_length || uri[kept_id_length] == '/';
}

// cellblock's own tool, with which a model reads on in a result that was cut.

/// No server's tool can be called so: such a one is left out of its list.
inline constexpr const char* reading_tool_name = "cellblock_read_result";

/// Whether a list of tools that passes here is the host's own, and so ends with it. Lists of all
/// servers as one are made elsewhere.
enum class ReadingTool : std::uint8_t { not_listed, listed };

/// The tool's definition in tools/list: a JSON object.
std::string_view reading_tool();

/// `result` is the raw result of a tools/list, narrowed as it may be; with the tool at the end of
/// its list, or without it, and without one of the server's that has its name. Unchanged where
/// there is no list.
std::string with_reading_tool(std::string_view result, ReadingTool shown = ReadingTool::listed);

/// When a session's host is listed the tool: at once where it would not hear that the list has
/// changed, else from the first result on that was cut. What it was listed once it is listed again.
class ReadingToolOffer {
 public:
  enum class Host : std::uint8_t { hears_changes, hears_nothing };

  /// For a list that the host is given now.
  ReadingTool listed_for(Host host);
  void result_was_cut() { has_use_ = true; }
  /// Once: a host that hears changes has a list without it, and could use it now.
  bool take_change();

 private:
  bool has_use_ = false;
  bool is_listed_ = false;
  bool is_left_out_ = false;
};

class KeptResults;

/// What all sessions of a user keep together. Outlives them.
class KeptTotal {
 public:
  /// Fills the whole span with random bytes; must not fail.
  using Fill = std::function<void(std::span<std::byte>)>;

  KeptTotal(const ResultKeeping& rules, Fill fill) : rules_(rules), fill_(std::move(fill)) {}
  KeptTotal(const KeptTotal&) = delete;
  KeptTotal& operator=(const KeptTotal&) = delete;

  const ResultKeeping& rules() const { return rules_; }
  std::uint64_t bytes() const;
  /// 128 random bits, in hexadecimal digits.
  std::string new_id();

  void add(KeptResults& session) { sessions_.push_back(&session); }
  void remove(KeptResults& session) { std::erase(sessions_, &session); }
  /// Takes the oldest of all sessions away until there is room for so many bytes.
  void make_room(std::uint64_t bytes);

 private:
  const ResultKeeping rules_;
  const Fill fill_;
  std::vector<KeptResults*> sessions_;
};

struct KeptPart {
  PartKind kind = PartKind::text;
  std::string mime;
  std::string text;       ///< what is kept of it: its beginning
  std::size_t whole = 0;  ///< bytes that it had
};

struct KeptResult {
  std::string id;
  std::vector<KeptPart> parts;
  std::size_t page_bytes = 0;  ///< of what is read on at once: the bound that it was over
  std::uint64_t bytes = 0;
  Time at;
};

class KeptResults {
 public:
  using MakeAlarm = std::function<std::unique_ptr<Alarm>(Alarm::Rings)>;

  KeptResults(KeptTotal& total, MakeAlarm make_alarm);
  ~KeptResults();
  KeptResults(const KeptResults&) = delete;
  KeptResults& operator=(const KeptResults&) = delete;

  /// Keeps as many parts as fit; older results are dropped.
  KeptParts keep(const std::vector<MissingPart>& parts, std::size_t page_bytes, Time now);

  struct Place {
    const KeptResult* result = nullptr;
    const KeptPart* part = nullptr;  ///< null: the whole
    std::size_t offset = 0;          ///< "?offset="
  };
  /// nullopt: no such URI, or what it named is gone. Valid until the next change.
  std::optional<Place> find(std::string_view uri, Time now);

  ReadingToolOffer& offer() { return offer_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t size() const { return kept_.size(); }
  std::optional<Time> oldest() const;
  void drop_oldest();

 private:
  void expire(Time now);
  void set_alarm(Time now);

  KeptTotal& total_;
  const MakeAlarm make_alarm_;
  std::unique_ptr<Alarm> alarm_;
  std::deque<KeptResult> kept_;  ///< the oldest first
  ReadingToolOffer offer_;
  std::uint64_t bytes_ = 0;
};

}  // namespace cellblock::gateway
