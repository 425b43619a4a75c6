#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "client/cli/audit/event_form.h"
#include "client/cli/audit/event_kind.h"
#include "policy/base/printable.h"

namespace cellblock::cli {
namespace {

// Control characters, and other line ends than the two that CEF knows, would reach the terminal or
// the parser of whoever reads it.
std::string cef_line(std::string_view line, char separator) {
  std::string escaped;
  for (const char byte : printable(line, std::numeric_limits<std::size_t>::max())) {
    if (byte == '\\' || byte == separator) escaped += '\\';
    escaped += byte;
  }
  return escaped;
}

// In the header a bar ends a field, in the extension an equals sign begins a value; a line ends
// the event.
std::string cef_escaped(std::string_view text, char separator) {
  std::string escaped;
  for (auto end = text.find_first_of("\n\r"); end != std::string_view::npos;
       end = text.find_first_of("\n\r")) {
    escaped += cef_line(text.substr(0, end), separator);
    escaped += text[end] == '\n' ? "\\n" : "\\r";
    text.remove_prefix(end + 1);
  }
  return escaped + cef_line(text, separator);
}

void add_cef(std::string& extension, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  extension += fmt::format("{}{}={}", extension.empty() ? "" : " ", key, cef_escaped(value, '='));
}

void add_cef(std::string& extension, std::string_view key, std::uint64_t value) {
  if (value > 0) add_cef(extension, key, std::to_string(value));
}

// Low 0 to 3, medium 4 to 6, high 7 to 10.
int cef_severity(const nlohmann::json& line) {
  if (event_text(line, "kind") == "finding") return 6;
  if (event_allowed(line) == false) return 5;
  return event_text(line, "outcome") == "error" ? 3 : 1;
}

std::string cef_name(const nlohmann::json& line) {
  std::string name = event_text(line, "kind");
  std::ranges::replace(name, '_', ' ');
  const std::string outcome = event_text(line, "outcome");
  return outcome.empty() || outcome == "none" ? name : fmt::format("{} {}", name, outcome);
}

void add_cef_labels(std::string& extension, const nlohmann::json& line) {
  struct Labelled {
    const char* field;
    const char* key;
    const char* label;
  };
  constexpr std::array texts{Labelled{"server", "cs1", "server"},
                             Labelled{"method", "cs2", "method"},
                             Labelled{"gateway", "cs3", "gateway"},
                             Labelled{"hash", "cs4", "hash"},
                             Labelled{"traceparent", "cs5", "traceparent"},
                             Labelled{"arguments_sha256", "cs6", "argumentsSha256"}};
  constexpr std::array numbers{Labelled{"session", "cn1", "session"},
                               Labelled{"cell", "cn2", "cell"}, Labelled{"call", "cn3", "call"}};
  for (const auto& [field, key, label] : texts) {
    const std::string value = event_text(line, field);
    add_cef(extension, key, value);
    if (!value.empty()) add_cef(extension, fmt::format("{}Label", key), label);
  }
  for (const auto& [field, key, label] : numbers) {
    const std::uint64_t value = event_number(line, field);
    add_cef(extension, key, value);
    if (value > 0) add_cef(extension, fmt::format("{}Label", key), label);
  }
}

std::string cef_extension(const nlohmann::json& line, const EventOrigin& origin) {
  std::string extension;
  add_cef(extension, "rt", static_cast<std::uint64_t>(event_time(line)));
  add_cef(extension, "dvchost", origin.host);
  add_cef(extension, "externalId", event_number(line, "seq"));
  if (line.contains("uid")) add_cef(extension, "suid", std::to_string(event_number(line, "uid")));
  add_cef(extension, "spid", event_number(line, "pid"));
  add_cef(extension, "outcome", event_text(line, "outcome"));
  add_cef(extension, "reason", event_text(line, "reason"));
  add_cef(extension, "cnt", event_number(line, "count"));
  if (event_text(line, "kind") == "egress") {
    const EventTarget target = event_target(line);
    add_cef(extension, "dhost", target.host);
    add_cef(extension, "dpt", target.port.value_or(0));
  } else {
    add_cef(extension, "request", event_text(line, "tool"));
  }
  add_cef(extension, "out", event_number(line, "bytes"));
  add_cef(extension, "msg", event_text(line, "text"));
  add_cef_labels(extension, line);
  return extension;
}

}  // namespace

std::string cef_event(const nlohmann::json& line, const EventOrigin& origin) {
  return fmt::format("CEF:0|cellblock|cellblock|{}|{}|{}|{}|{}", cef_escaped(origin.version, '|'),
                     cef_escaped(event_text(line, "kind"), '|'), cef_escaped(cef_name(line), '|'),
                     cef_severity(line), cef_extension(line, origin));
}

}  // namespace cellblock::cli
