#include "client/cli/ui/routes.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

namespace cellblock::cli::ui {
namespace {

using Words = std::vector<std::string>;
using Kind = CommandRoute::Kind;

constexpr std::size_t longest_value = 512;

constexpr RefusedRoute bad_parameters{400, "a parameter is missing or is not what it has to be"};

/// The values that came with a request: of the query, or members of a JSON object.
class Given {
 public:
  explicit Given(Fields fields) : fields_(std::move(fields)) {}

  std::string operator[](std::string_view name) const {
    const auto found = std::ranges::find(fields_, name, &Fields::value_type::first);
    return found == fields_.end() ? std::string() : found->second;
  }
  bool is_sound() const {
    return std::ranges::all_of(fields_, [](const auto& field) {
      return field.second.size() <= longest_value && !field.second.contains('\0');
    });
  }

 private:
  Fields fields_;
};

std::optional<Fields> members_of(const std::string& body) {
  const auto json = nlohmann::json::parse(body.empty() ? "{}" : body, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Fields fields;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) return std::nullopt;
    fields.emplace_back(name, value.get<std::string>());
  }
  return fields;
}

// ---- what a value may be ----

bool is_number(std::string_view text) {
  constexpr std::size_t most_digits = 20;
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

// A word that begins with '-' would be an option of the command.
bool is_word(std::string_view text) { return !text.empty() && !text.starts_with('-'); }

bool is_call(std::string_view text) {
  const auto dot = text.find('.');
  return dot != std::string_view::npos && is_number(text.substr(0, dot)) &&
         is_number(text.substr(dot + 1));
}

bool is_digest(std::string_view text) {
  constexpr std::size_t digits = 64;
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// ---- commands ----

/// None: a parameter is wrong.
using MaybeWords = std::optional<Words>;

// Adds --for, by which an administrator asks about another user.
MaybeWords for_user(Words words, const Given& given) {
  const auto uid = given["uid"];
  if (uid.empty()) return words;
  if (!is_number(uid)) return std::nullopt;
  words.insert(words.end(), {"--for", uid});
  return words;
}

MaybeWords of_server(Words words, const Given& given) {
  if (!is_word(given["server"])) return std::nullopt;
  words.insert(words.begin() + 1, given["server"]);
  return for_user(std::move(words), given);
}

MaybeWords explain(const Given& given) {
  const auto uid = given["uid"];
  const auto tool = given["tool"];
  Words words{"explain"};
  if (!uid.empty()) words.push_back(uid);
  words.push_back(given["server"]);
  if (!tool.empty()) words.push_back(tool);
  const bool is_sound = is_word(given["server"]) && (uid.empty() || is_number(uid)) &&
                        (tool.empty() || (is_word(tool) && !uid.empty()));
  return is_sound ? MaybeWords(words) : std::nullopt;
}

MaybeWords logs(const Given& given) {
  return of_server({"logs", "--follow", "--lines", "200"}, given);
}

MaybeWords denied(const Given& given) {
  return of_server({"logs", "--denied", "--lines", "200"}, given);
}

MaybeWords definitions(const Given& given) { return of_server({"pinned"}, given); }

MaybeWords tools(const Given& given) {
  return given["uid"].empty() ? of_server({"tools"}, given) : std::nullopt;
}

MaybeWords show_call(const Given& given) {
  return is_call(given["id"]) ? MaybeWords({"approve", "show", given["id"]}) : std::nullopt;
}

// A decision needs the digest, so that what is decided is what was shown.
MaybeWords decide(const Given& given) {
  const auto word = given["word"];
  const bool is_sound =
      is_call(given["id"]) && is_digest(given["digest"]) && (word == "allow" || word == "deny");
  if (!is_sound) return std::nullopt;
  return Words{"approve", word, given["id"], "--digest", given["digest"]};
}

MaybeWords accept(const Given& given) {
  const bool is_sound =
      is_word(given["server"]) && !given["name"].empty() && is_digest(given["digest"]);
  if (!is_sound) return std::nullopt;
  return for_user(
      {"approve", "allow", given["server"] + "/" + given["name"], "--digest", given["digest"]},
      given);
}

MaybeWords stop(const Given& given) { return of_server({"stop"}, given); }
MaybeWords restart(const Given& given) { return of_server({"restart"}, given); }
MaybeWords reload(const Given& /*given*/) { return Words{"reload"}; }

MaybeWords flip_switch(const Given& given) {
  const auto word = given["word"];
  if (word != "disable" && word != "enable") return std::nullopt;
  Words words{word};
  if (!given["reason"].empty()) words.push_back("--reason=" + given["reason"]);
  return words;
}

MaybeWords audit(const Given& given) {
  constexpr std::array<std::string_view, 9> filters{"who",     "server", "tool",  "kind", "outcome",
                                                    "session", "label",  "since", "until"};
  Words words{"audit"};
  for (const auto filter : filters) {
    const auto value = given[filter];
    if (!value.empty()) words.push_back("--" + std::string(filter) + "=" + value);
  }
  if (given["denied"] == "yes") words.emplace_back("--denied");
  const auto lines = given["lines"].empty() ? "200" : given["lines"];
  if (!is_number(lines)) return std::nullopt;
  words.insert(words.end(), {"--lines", lines});
  return words;
}

MaybeWords follow_audit(const Given& given) {
  auto words = audit(given);
  if (words) words->emplace_back("--follow");
  return words;
}

MaybeWords explain_error(const Given& given) {
  return is_word(given["code"]) ? MaybeWords({"errors", given["code"]}) : std::nullopt;
}

MaybeWords verify(const Given& /*given*/) { return Words{"audit", "verify"}; }

struct CommandRow {
  std::string_view path;
  Kind kind;
  MaybeWords (*words)(const Given&);
};

constexpr std::array command_rows{
    CommandRow{"/api/accept", Kind::changes, accept},
    CommandRow{"/api/audit", Kind::reads, audit},
    CommandRow{"/api/audit/follow", Kind::follows, follow_audit},
    CommandRow{"/api/audit/verify", Kind::reads, verify},
    CommandRow{"/api/call", Kind::reads, show_call},
    CommandRow{"/api/decide", Kind::changes, decide},
    CommandRow{"/api/definitions", Kind::reads, definitions},
    CommandRow{"/api/denied", Kind::reads, denied},
    CommandRow{"/api/errors", Kind::reads, explain_error},
    CommandRow{"/api/explain", Kind::reads, explain},
    CommandRow{"/api/logs", Kind::follows, logs},
    CommandRow{"/api/reload", Kind::changes, reload},
    CommandRow{"/api/restart", Kind::changes, restart},
    CommandRow{"/api/stop", Kind::changes, stop},
    CommandRow{"/api/switch", Kind::changes, flip_switch},
    CommandRow{"/api/tools", Kind::reads, tools},
};

// Commands that change something need POST; all others need GET.
Route command_route(const CommandRow& row, const HttpRequest& request) {
  const bool is_posted = request.method == Method::post;
  if (is_posted != (row.kind == Kind::changes)) return RefusedRoute{405, "another method"};
  const auto fields = is_posted ? members_of(request.body) : std::optional(request.query);
  if (!fields) return bad_parameters;
  const Given given(*fields);
  auto words = given.is_sound() ? row.words(given) : std::nullopt;
  if (!words) return bad_parameters;
  return CommandRoute{*std::move(words), row.kind};
}

Route login_route(const HttpRequest& request) {
  const auto members = members_of(request.body);
  if (request.method != Method::post || !members) return RefusedRoute{405, "a token is posted"};
  return LoginRoute{Given(*members)["token"]};
}

}  // namespace

Route route_of(const HttpRequest& request) {
  if (!request.path.starts_with("/api/")) {
    if (request.method == Method::get) return PageRoute{request.path};
    return RefusedRoute{405, "a file is read with GET"};
  }
  if (request.path == "/api/login") return login_route(request);
  if (request.path == "/api/events" && request.method == Method::get) return EventsRoute{};
  const auto* const row = std::ranges::find(command_rows, request.path, &CommandRow::path);
  return row == command_rows.end() ? Route(RefusedRoute{}) : command_route(*row, request);
}

}  // namespace cellblock::cli::ui
