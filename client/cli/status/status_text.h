#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/terminal/style.h"

/// cellblock/status for people: the installation, and all servers with a line each.
namespace cellblock::cli {

// All servers, with a line each.

/// `width`: of the terminal; 0: no bound.
std::string server_table(const std::vector<nlohmann::ordered_json>& servers, Style style,
                         std::size_t width);

/// "3 servers: 1 failed, 2 ready"; empty for one.
std::string server_counts(const std::vector<nlohmann::ordered_json>& servers);

enum class StatusView : std::uint8_t { summary, one_server };

struct StatusPage {
  Style style = Style::none();
  StatusView view = StatusView::summary;
  std::string whose = {};    ///< the server's user; empty: the asking user
  std::string waiting = {};  ///< lines about calls that wait for an approval
  std::size_t width = 0;     ///< of the terminal; 0: no bound
};

/// The answer to cellblock/status as a table with the last failures, what waits, and weakenings
/// below it. Everything in it that a server could have written is escaped.
std::string status_text(std::string_view status_json, const StatusPage& page);

/// The same JSON with only this server in `servers`; empty if it is not there.
std::string only_server(std::string_view status_json, std::string_view server);

}  // namespace cellblock::cli
