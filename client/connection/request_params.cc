#include "client/connection/request_params.h"

#include <fmt/format.h>

#include <map>

#include "client/connection/rpc_text.h"
#include "policy/base/result.h"

namespace cellblock::client {
namespace {

std::unexpected<Error> invalid(std::string text) {
  return std::unexpected(Error{.code = ErrorCode::invalid_argument, .text = std::move(text)});
}

std::string reference(const ArgumentToComplete& what) {
  return what.prompt.empty()
             ? fmt::format(R"({{"type":"ref/resource","uri":{}}})",
                           json_string(what.resource_template))
             : fmt::format(R"({{"type":"ref/prompt","name":{}}})", json_string(what.prompt));
}

std::string text_object(const std::map<std::string, std::string>& texts) {
  std::string members;
  for (const auto& [name, text] : texts) {
    members +=
        fmt::format("{}{}:{}", members.empty() ? "" : ",", json_string(name), json_string(text));
  }
  return "{" + members + "}";
}

}  // namespace

std::string resource_params(std::string_view uri) {
  return fmt::format(R"({{"uri":{}}})", json_string(uri));
}

Result<std::string> prompt_params(std::string_view prompt, std::string_view arguments) {
  const auto object = one_line_object(arguments);
  if (!object) return invalid("the arguments of a prompt are a JSON object");
  return fmt::format(R"({{"name":{},"arguments":{}}})", json_string(prompt), *object);
}

Result<std::string> completion_params(const ArgumentToComplete& what) {
  if (what.prompt.empty() == what.resource_template.empty()) {
    return invalid("an argument is completed of a prompt or of a resource template: name one");
  }
  const auto context = what.others.empty() ? std::string()
                                           : fmt::format(R"(,"context":{{"arguments":{}}})",
                                                         text_object(what.others));
  return fmt::format(R"({{"ref":{},"argument":{{"name":{},"value":{}}}{}}})", reference(what),
                     json_string(what.argument), json_string(what.value), context);
}

std::string log_level_params(std::string_view level) {
  return fmt::format(R"({{"level":{}}})", json_string(level));
}

}  // namespace cellblock::client
