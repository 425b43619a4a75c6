#include "client/cli/inspect/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/inspect/form.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/error_codes.h"
#include "policy/mcp/methods.h"

namespace cellblock::cli {
namespace {

enum class Consent : std::uint8_t { accept, decline, cancel };

std::string action(std::string_view word) { return fmt::format(R"({{"action":"{}"}})", word); }

bool is_beginning_of_any(std::string_view typed, std::initializer_list<std::string_view> words) {
  return !typed.empty() &&
         std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(typed); });
}

std::optional<Consent> consent_of(std::string_view typed) {
  if (is_beginning_of_any(typed, {"answer", "accept", "yes"})) return Consent::accept;
  if (is_beginning_of_any(typed, {"decline", "no"})) return Consent::decline;
  if (is_beginning_of_any(typed, {"cancel"})) return Consent::cancel;
  return std::nullopt;
}

// A slip of the finger decides nothing.
Consent consent(const ReadAnswer& read, const ShowText& show, const char* prompt) {
  while (true) {
    const auto typed = read(prompt);
    if (!typed) return Consent::cancel;
    if (const auto choice = consent_of(trimmed(*typed))) return *choice;
    show("  it is a, d or c");
  }
}

// Only its first line stands where cellblock's own words do.
std::string question_text(std::string_view message) {
  std::string lines;
  while (!message.empty()) {
    const auto end = std::min(message.find('\n'), message.size());
    lines += (lines.empty() ? "" : "\n    ") + safe_line(message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return lines;
}

std::optional<Json> ask_field(const FormField& field, const ReadAnswer& read,
                              const ShowText& show) {
  while (true) {
    const auto typed = read("  " + field_prompt(field));
    if (!typed) return std::nullopt;
    auto value = field_value(field, *typed);
    if (value) return *std::move(value);
    show("  " + value.error().text);
  }
}

std::string fill_form(const Json& params, const ReadAnswer& read, const ShowText& show) {
  auto content = Json::object();
  for (const auto& field : form_fields(object_of(params, "requestedSchema"))) {
    auto value = ask_field(field, read, show);
    if (!value) return action("cancel");
    if (!value->is_null()) content[field.name] = *std::move(value);
  }
  return dumped(Json{{"action", "accept"}, {"content", std::move(content)}});
}

std::string elicit(const Json& params, const ReadAnswer& read, const ShowText& show) {
  const bool visit = params.value("mode", Json("form")) == Json("url");
  const auto message = params.value("message", Json(""));
  const auto text = message.is_string() ? question_text(message.get<std::string>()) : "";
  show("The server asks: " + text);
  if (visit) show(fmt::format("It wants you to visit {}", text_of(params, "url")));
  const auto* prompt = visit ? "  [a]ccept and open it yourself, [d]ecline, [c]ancel: "
                             : "  [a]nswer, [d]ecline, [c]ancel: ";
  switch (consent(read, show, prompt)) {
    case Consent::accept:
      return visit ? action("accept") : fill_form(params, read, show);
    case Consent::decline:
      return action("decline");
    case Consent::cancel:
      break;
  }
  return action("cancel");
}

}  // namespace

client::Result<std::string> answer_question(std::string_view method, std::string_view params,
                                            const ReadAnswer& read, const ShowText& show) {
  const auto json = Json::parse(params, nullptr, false);
  if (method == mcp::method::elicitation_create && json.is_object())
    return elicit(json, read, show);
  return std::unexpected(client::Error{.code = client::ErrorCode::rpc,
                                       .text = "Method not found",
                                       .rpc_code = mcp::method_not_found});
}

}  // namespace cellblock::cli
