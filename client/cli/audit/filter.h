#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "policy/base/result.h"

namespace cellblock::cli {

/// What `cellblock audit` is asked for; everything that is set must hold.
struct AuditQuestion {
  std::optional<std::uint32_t> uid;
  std::string server;
  std::string tool;
  std::string kind;
  std::string outcome;
  std::optional<std::uint64_t> session;
  std::string label;  ///< "name=value"
  std::string since;  ///< as moment_prefix() gives it
  std::string until;
  bool is_all() const;
};

/// "2026-11-22", "2026-11-22T13:05:00Z" (UTC), or how long ago: "90s", "30m", "2h", "7d". The
/// beginning of a time as the log writes it.
Result<std::string> moment_prefix(const std::string& text, std::int64_t now_seconds);

/// Which end of a day, hour, minute or second is meant.
enum class MomentEdge : std::uint8_t { begin, end };
/// The same of this machine's time zone: as the log writes that moment. A day need not have 24
/// hours.
Result<std::string> local_moment(const std::string& text, std::int64_t now_seconds,
                                 MomentEdge edge);

/// Line by line, since a session's labels stand in lines before its calls.
class AuditFilter {
 public:
  explicit AuditFilter(AuditQuestion question) : question_(std::move(question)) {}

  bool wants(const nlohmann::json& line);

 private:
  static constexpr std::size_t most_sessions = 100'000;
  bool has_label(const nlohmann::json& line);

  AuditQuestion question_;
  std::set<std::pair<std::string, std::uint64_t>> labelled_;
};

}  // namespace cellblock::cli
