#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

/// What each kind of audit line is in the schemas of log collectors, and how its fields are read.
namespace cellblock::cli {

/// Classes of OCSF 1.2.0.
enum class OcsfClass : std::uint16_t {
  kernel_activity = 1003,
  process_activity = 1007,
  detection_finding = 2004,
  authentication = 3002,
  network_activity = 4001,
  application_lifecycle = 6002,
  api_activity = 6003,
};

/// The activity_id of what a class has no number for.
inline constexpr std::uint8_t ocsf_other = 99;

struct EventKind {
  std::string_view kind;          ///< as the log has it
  std::string_view ecs_category;  ///< event.category
  std::string_view ecs_type;      ///< event.type
  OcsfClass ocsf_class = OcsfClass::api_activity;
  std::uint8_t ocsf_activity = ocsf_other;  ///< activity_id of that class
};

/// A kind that is not known here is one of an administrator's interface.
const EventKind& event_kind(std::string_view kind);

/// Empty: there is none, or it is no text.
std::string event_text(const nlohmann::json& line, const char* key);
/// 0: there is none, or it is no number.
std::uint64_t event_number(const nlohmann::json& line, const char* key);
/// When the line was written, in milliseconds of Unix time; 0: it does not say.
std::int64_t event_time(const nlohmann::json& line);
/// Allowed or refused, where it was decided.
std::optional<bool> event_allowed(const nlohmann::json& line);

/// The destination of a cell's connection: "api.example.com:443".
struct EventTarget {
  std::string host;
  std::optional<std::uint16_t> port;
};
EventTarget event_target(const nlohmann::json& line);

/// The parts of a W3C traceparent; empty without one.
struct EventTrace {
  std::string trace;
  std::string span;
};
EventTrace event_trace(const nlohmann::json& line);

}  // namespace cellblock::cli
