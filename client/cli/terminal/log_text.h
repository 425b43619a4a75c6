#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What servers wrote to stderr, as cellblock/logs answers it.
namespace cellblock::cli {

/// "2026-11-22 05:30:00 [MCP:stdio:git] cell 3: text", escaped.
std::string log_line_text(std::string_view server, const nlohmann::ordered_json& line);

struct LogPage {
  std::vector<nlohmann::ordered_json> lines;
  std::uint64_t next = 0;
  std::uint64_t missed = 0;
};

/// nullopt: it is none, or of a gateway that numbers no lines.
std::optional<LogPage> read_log_page(std::string_view answer);

}  // namespace cellblock::cli
