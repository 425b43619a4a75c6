#pragma once

#include <string>
#include <string_view>

#include "policy/base/internet_address.h"
#include "policy/config/config.h"

/// Addresses that are not the public Internet's: this host's, the local network's, a cloud's own
/// services. A server reaches them only where a range of its allow-list names them.
namespace cellblock {

/// "private", "loopback", "link-local", ...; empty: a public address.
std::string_view special_kind(const InternetAddress& address);
bool is_special(const InternetAddress& address);

/// What of these a range has in it, "private, loopback"; empty: public addresses only.
std::string special_kinds(const EgressRule& rule);

}  // namespace cellblock
