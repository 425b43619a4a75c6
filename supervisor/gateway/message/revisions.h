#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/json_tree.h"

/// Revisions and capabilities across the eras: what the bridges answer and announce.
namespace cellblock::gateway {

/// The era of one message, whatever was sent before.
inline Era era_of(const Message& message) {
  return message.is_modern() ? Era::modern : Era::legacy;
}

/// What `initialize` is answered with: the host's own where it is a legacy one, else the newest.
std::string_view answer_to_version(std::string_view asked);

/// The newest legacy revision of `error.data.supported`; nothing if there is none.
std::optional<std::string> legacy_among_supported(const Json& error);

// Capabilities that a side may announce to the other era: only what the bridge carries.

/// The host's capabilities for a server of the other era: without those that client_features does
/// not give, tasks, experiments, and extensions that are not known to be safe without the bridge's
/// help.
Json carried_client_capabilities(const Json& capabilities, const ClientFeatures& features);

/// The server's capabilities for a host of the other era.
Json carried_server_capabilities(const Json& capabilities);

/// Whether a client with these capabilities may be asked this.
bool may_be_asked(std::string_view method, const Json& params, const Json& capabilities);

/// The capabilities that `method` needs, for error -32021.
Json needed_for(std::string_view method, const Json& params);

/// The methods whose answer may be a question.
bool may_ask(std::string_view method);

}  // namespace cellblock::gateway
