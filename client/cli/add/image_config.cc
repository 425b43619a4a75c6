#include "client/cli/add/image_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"

namespace cellblock::cli {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t most_variables = 256;

// `null` stands for a list that is not there.
Result<std::vector<std::string>> words_member(const Ordered& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::vector<std::string>();
  return texts_member(object, name);
}

Result<std::string> word_member(const Ordered& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::string();
  return text_member(object, name);
}

}  // namespace

Result<ImageConfig> read_image_config(const std::string& text) {
  const auto json = json_of_json(text);
  if (!json) return fail("the image's configuration: " + json.error().text);
  if (!json->is_object()) return fail("the image's configuration is no object");
  const auto& settings = object_member(*json, "config");
  ImageConfig config;
  config.entrypoint = CELLBLOCK_TRY(words_member(settings, "Entrypoint"));
  config.command = CELLBLOCK_TRY(words_member(settings, "Cmd"));
  config.working_directory = CELLBLOCK_TRY(word_member(settings, "WorkingDir"));
  const auto variables = CELLBLOCK_TRY(words_member(settings, "Env"));
  if (variables.size() > most_variables) {
    return fail(fmt::format("the image sets {} variables; allowed: at most {}", variables.size(),
                            most_variables));
  }
  for (const auto& word : variables) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) continue;
    config.variables.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return config;
}

std::vector<std::string> started_by(const ImageConfig& config) {
  auto words = config.entrypoint;
  words.insert(words.end(), config.command.begin(), config.command.end());
  return words;
}

}  // namespace cellblock::cli
