#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/aggregate/members.h"

/// The name that a server's tool or prompt has where there are many servers.
///
/// Plain: `server__tool`. A server's name has no underscore (policy/config/names.h), so the first
/// one ends it, whatever the tool is called: no two pairs have one plain name.
///
/// Short: `server__stem_` and 20 hexadecimal digits of the SHA-256 of both names, where the plain
/// name would be too long, has characters that hosts refuse, or itself ends as a short one does. So
/// no plain name is also a short one, and two short ones are equal only if 80 bits of SHA-256 are.
namespace cellblock::gateway {

/// Hosts and model providers refuse longer ones, and what is not of [A-Za-z0-9_-].
inline constexpr std::size_t max_public_name = 64;

/// `server` is a name that is_short_name() allows; `original` is any text.
std::string public_name(std::string_view server, std::string_view original);

struct NameParts {
  std::string_view server;
  std::string_view original;
};

/// What a plain name stands for; nullopt: it is short, or no name at all.
std::optional<NameParts> split_plain_name(std::string_view shown);

/// Whether the name has the ending of a short name, which only the lists can resolve.
bool is_short_form(std::string_view shown);

// Ids of tasks, `SERVER.ID`: the server route has sealed the rest, and no other server route opens
// it.

/// Edits that show the ids of a server's message.
std::vector<Replacement> show_task_ids(std::string_view line, const Message& message,
                                       std::string_view server);

struct TaskRoute {
  std::uint32_t server = 0;
  std::string id;  ///< as the server route knows it
};
/// `raw`: the id as a host gives it, raw JSON.
std::optional<TaskRoute> find_task(const Members& members, std::string_view raw);

}  // namespace cellblock::gateway
