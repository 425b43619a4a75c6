#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/ui/http_message.h"

/// Whether a request can come from the page itself. Checked before anything else, so that another
/// page of the same browser learns nothing, whichever name leads it here (DNS rebinding).
namespace cellblock::cli::ui {

/// The address of this server in the browser.
struct PageAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: of a Unix socket, to which any port of `host` may be forwarded
};

std::optional<HttpReply> refuse_stranger(const HttpRequest& request, const PageAddress& own);

/// The status and one sentence, as JSON.
HttpReply refusal(unsigned status, std::string_view why);

}  // namespace cellblock::cli::ui
