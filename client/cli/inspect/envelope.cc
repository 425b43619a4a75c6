#include "client/cli/inspect/envelope.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* client_key = "io.modelcontextprotocol/clientInfo";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* level_key = "io.modelcontextprotocol/logLevel";

void add(Json& object, const char* key, Json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

void add_modern(Json& meta, Interaction interaction) {
  add(meta, version_key, "2026-07-28");
  add(meta, client_key, Json{{"name", "cellblock"}, {"version", CELLBLOCK_VERSION}});
  add(meta, capabilities_key, Json::parse(capabilities_for(interaction)));
  if (interaction == Interaction::terminal) add(meta, level_key, "info");
}

bool reports_progress(std::string_view method) {
  return method == "tools/call" || method == "resources/read" || method == "prompts/get";
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
