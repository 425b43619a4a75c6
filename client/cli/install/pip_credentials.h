#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/base/result.h"

/// The token of a private Python index, from the places where pip and uv have it. Pure.
namespace cellblock::cli {

struct IndexLogin {
  std::string user;
  std::string password;  ///< may be empty

  bool operator==(const IndexLogin&) const = default;
};

/// The address of an index, as it is shown.
struct IndexAddress {
  std::string url;                  ///< without a user
  std::optional<IndexLogin> login;  ///< that stood in it
};

/// "https://user:token@host/simple". An error: what stands before the host cannot be read. It never
/// repeats it.
Result<IndexAddress> index_address(const std::string& url);

/// "host" of "https://host:8443/simple".
std::string host_of_index(const std::string& url);

/// What a netrc file has for that host and no other: its `default` is not taken.
std::optional<IndexLogin> netrc_login(std::string_view text, const std::string& host);

/// As uv names an index: "corp=https://host/simple", or an address alone.
struct UvIndex {
  std::string name;  ///< or empty
  std::string url;
};
UvIndex uv_index(const std::string& text);

/// "UV_INDEX_MY_CORP_": the variables with the login of that index begin so.
std::string uv_login_prefix(const std::string& name);

/// The line of a netrc file for that host. An error: it has characters that no token has.
Result<std::string> netrc_line(const std::string& host, const IndexLogin& login);

}  // namespace cellblock::cli
