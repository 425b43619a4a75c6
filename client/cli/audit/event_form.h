#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Lines of the audit log as the schemas of log collectors have them. Pure.
namespace cellblock::cli {

/// What a line does not say of itself.
struct EventOrigin {
  std::string host;  ///< name of the machine
  std::string version;
};

/// One line of the audit log as one line of that form, without its newline.
using EventForm = std::string (*)(const nlohmann::json& line, const EventOrigin& origin);

/// Elastic Common Schema 8.11 (https://www.elastic.co/docs/reference/ecs): the line's own fields
/// are in `cellblock`.
std::string ecs_event(const nlohmann::json& line, const EventOrigin& origin);

/// Open Cybersecurity Schema Framework 1.2.0 (https://schema.ocsf.io/1.2.0): the line's own fields
/// are in `unmapped`.
std::string ocsf_event(const nlohmann::json& line, const EventOrigin& origin);

/// ArcSight Common Event Format, version 0 (Micro Focus, "Implementing ArcSight Common Event Format
/// (CEF)", version 25).
std::string cef_event(const nlohmann::json& line, const EventOrigin& origin);

/// "ecs", "ocsf" or "cef"; nullptr: another word.
EventForm event_form(std::string_view name);
std::vector<std::string> event_form_names();

}  // namespace cellblock::cli
