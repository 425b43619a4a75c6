#include "client/cli/inspect/envelope.h"

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

void add(Json& object, const char* key, Json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

void add_modern(Json& meta, Interaction interaction) {
  add(meta, mcp::meta_key::version, mcp::modern_revision);
  add(meta, mcp::meta_key::client, Json{{"name", "cellblock"}, {"version", CELLBLOCK_VERSION}});
  add(meta, mcp::meta_key::capabilities, Json::parse(capabilities_for(interaction)));
  if (interaction == Interaction::terminal) add(meta, mcp::meta_key::log_level, "info");
}

bool reports_progress(std::string_view method) {
  return method == mcp::method::tools_call || method == mcp::method::resources_read ||
         method == mcp::method::prompts_get;
}

}  // namespace

std::string capabilities_for(Interaction interaction) {
  return interaction == Interaction::terminal ? R"({"elicitation":{"form":{},"url":{}}})" : "{}";
}

void stamp(Json& params, Era era, Interaction interaction, std::string_view method,
           std::uint64_t progress_token) {
  const bool progress = interaction == Interaction::terminal && reports_progress(method);
  if (era == Era::legacy && !progress) return;
  auto& meta = params["_meta"];
  if (meta.is_null()) meta = Json::object();
  if (!meta.is_object()) return;  // typed by hand: the server is to see it
  if (era == Era::modern) add_modern(meta, interaction);
  if (progress) add(meta, "progressToken", progress_token);
}

std::optional<InputNeeded> input_needed(std::string_view result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || json.value("resultType", Json()) != Json("input_required")) return {};
  InputNeeded needed;
  if (json.contains("inputRequests") && json["inputRequests"].is_object()) {
    needed.questions = json["inputRequests"];
  }
  if (json.contains("requestState")) needed.state = json["requestState"];
  return needed;
}

}  // namespace cellblock::cli
