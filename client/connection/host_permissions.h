#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cellblock/types.h"
#include "policy/config/access_rule.h"
#include "policy/jsonrpc/jsonrpc.h"

/// The host's own say on a request that is about to leave: its rules by the same function that the
/// gateway decides with, then its handler. No I/O.
namespace cellblock::client {

struct Judged {
  Decision decision;
  CallToApprove call = {};            ///< empty, where no permission was asked for
  std::optional<Error> failure = {};  ///< the handler threw, so it is denied
};

class HostPermissions {
 public:
  HostPermissions(PermissionRules rules, PermissionHandler handler);

  /// invalid_argument: the gateway would refuse the request as well (a duplicate key, for
  /// instance), so its meaning is not clear.
  Result<Judged> judge(std::string_view server, std::string_view method, std::string_view params);

 private:
  Result<CallToApprove> read(std::string_view server, std::string_view method,
                             std::string_view params);
  Decision by_rules(const CallToApprove& call) const;

  PermissionRules rules_;
  PermissionHandler handler_;
  MessageScanner scanner_;
};

CallKind kind_of(std::string_view method);

/// Whether a server acts upon it; not for the handshake, lists and cellblock's own.
bool needs_permission(std::string_view method);

}  // namespace cellblock::client
