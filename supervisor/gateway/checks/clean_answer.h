#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/metadata.h"

/// Lists and introductions on their way from a server to a host are cleaned as catalogues are
/// (metadata.h). What has nothing wrong with it is sent on as it came, byte for byte.
namespace cellblock::gateway {

/// Whether an item with this name (of a resource: URI, or template) may be shown.
using MayShow = std::function<bool(std::string_view name)>;

/// Is told the items of a list when they have been cleaned, before any is left out.
using SeeItems = std::function<void(const nlohmann::ordered_json& items, bool is_last_page)>;

/// The whole `result` as it may pass, with only what may be shown; nullopt: there is nothing to
/// clean (what may be shown is then for the caller to see to).
std::optional<std::string> cleaned_list(ListKind kind, std::string_view result,
                                        const MayShow& may_show, Findings& findings,
                                        const SeeItems& see = {});
/// The same without any cleaning; a list that is none becomes an empty one.
std::optional<std::string> narrowed_list(ListKind kind, std::string_view result,
                                         const MayShow& may_show);
std::optional<std::string> cleaned_introduction(std::string_view result, Findings& findings);

}  // namespace cellblock::gateway
