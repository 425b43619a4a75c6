#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/ui/http_message.h"

/// Whether a request can come from the page itself. Looked at before anything else, so that another
/// page of the same browser learns nothing, whatever name leads it here (DNS rebinding).
namespace cellblock::cli::ui {

/// Port 0: of a Unix socket, to which any port of the reader's loopback may be forwarded.
std::optional<HttpReply> refuse_stranger(const HttpRequest& request, std::uint16_t port);

/// The status and one sentence, as JSON.
HttpReply refusal(unsigned status, std::string_view why);

}  // namespace cellblock::cli::ui
