#pragma once

#include <string>
#include <string_view>

#include "cellblock/types.h"

/// Composes the parameters of MCP's requests about resources, prompts and arguments.
namespace cellblock::client {

/// Parameters of resources/read, resources/subscribe and resources/unsubscribe.
std::string resource_params(std::string_view uri);

/// invalid_argument, if `arguments` is not a JSON object.
Result<std::string> prompt_params(std::string_view prompt, std::string_view arguments);

/// invalid_argument: it is about a prompt and a resource template, or about none of both.
Result<std::string> completion_params(const ArgumentToComplete& what);

std::string log_level_params(std::string_view level);

}  // namespace cellblock::client
