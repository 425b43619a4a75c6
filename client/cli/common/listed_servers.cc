#include "client/cli/common/listed_servers.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/terminal/json_text.h"
#include "policy/config/names.h"

namespace cellblock::cli {

std::vector<std::string> listed_servers(std::string_view status_json) {
  std::vector<std::string> names;
  const auto status = Json::parse(status_json, nullptr, false);
  for (const Json& server : objects_of(status, "servers")) {
    auto name = text_of(server, "name");
    if (is_short_name(name)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace cellblock::cli
