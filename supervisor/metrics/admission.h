#pragma once

#include <optional>
#include <string>

#include "supervisor/http_connection/access.h"
#include "supervisor/http_connection/request.h"

/// What is answered: `GET /metrics`, and nothing else. Pure.
namespace cellblock::metrics {

inline constexpr char path[] = "/metrics";

/// The refusal of any other request, and of one from a web page; no value: the request may be
/// answered.
std::optional<http::Reply> refusal_for(const http::Request& head, http::Transport transport);

http::Reply text_reply(unsigned status, std::string text);

}  // namespace cellblock::metrics
