#include "client/cli/tool_rows/inspect_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "client/cli/common/call_arguments.h"
#include "policy/base/result.h"
#include "policy/mcp/methods.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using WordSpan = std::span<const std::string>;

struct CommandFacts {
  std::string_view word;
  std::string_view usage;
  std::string_view meaning;
  Verb verb;
  std::size_t least;  // words after the first
  std::size_t most;
  CommandSource from = CommandSource::arguments;
};

constexpr std::size_t any = 256;
constexpr std::size_t width_of_form = 29;  // so that no line is over 80 columns

constexpr std::array commands = {
    CommandFacts{"tools", "", "list its tools", Verb::list, 0, 0},
    CommandFacts{"resources", "", "list its resources", Verb::list, 0, 0},
    CommandFacts{"templates", "", "list its resource templates", Verb::list, 0, 0},
    CommandFacts{"prompts", "", "list its prompts", Verb::list, 0, 0},
    CommandFacts{"info", "", "who it says it is, and what it can do", Verb::info, 0, 0},
    CommandFacts{"describe", "tool|prompt|resource|template NAME", "all about one, with its schema",
                 Verb::describe, 2, 2},
    CommandFacts{"call", "TOOL [{JSON}] [name=value ...]", "call a tool", Verb::call, 1, any},
    CommandFacts{"read", "URI", "read a resource", Verb::read, 1, 1},
    CommandFacts{"get", "PROMPT [name=value ...]", "get a prompt", Verb::get, 1, any},
    CommandFacts{"complete", "prompt|resource NAME ARGUMENT [VALUE]",
                 "what the server would complete an argument to", Verb::complete, 3, 4},
    CommandFacts{"raw", "METHOD [{JSON}]", "any request or notification", Verb::raw, 1, 2},
    CommandFacts{"frames", "on|off", "show each message as it goes over the connection",
                 Verb::frames, 1, 1, CommandSource::prompt},
    CommandFacts{"help", "", "this list", Verb::help, 0, 0, CommandSource::prompt},
    CommandFacts{"quit", "", "end (also: end of input)", Verb::quit, 0, 0, CommandSource::prompt},
};

bool is_from(const CommandFacts& command, CommandSource source) {
  return source == CommandSource::prompt || command.from == CommandSource::arguments;
}

std::unexpected<client::Error> wrong(std::string text) {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::invalid_argument, .text = std::move(text)});
}

std::unexpected<client::Error> misused(const CommandFacts& command) {
  return wrong(
      fmt::format("it is: {}{}{}", command.word, command.usage.empty() ? "" : " ", command.usage));
}

client::Result<void> check_pair(const std::string& word) {
  const auto equals = word.find('=');
  if (equals != std::string::npos && equals != 0) return {};
  return wrong(fmt::format("{}: expected name=value", word));
}

client::Result<Json> object_in(const std::string& text) {
  auto object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return wrong("parameters are one JSON object");
  return object;
}

// A prompt's arguments are texts, whatever they look like.
client::Result<Json> texts_in(WordSpan words) {
  auto texts = Json::object();
  for (const auto& word : without_arg_flags({words.begin(), words.end()})) {
    CELLBLOCK_CHECK(check_pair(word));
    const auto equals = word.find('=');
    texts[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return texts;
}

client::Result<void> fill_call(InspectCommand& command, WordSpan words) {
  const auto rest = words.subspan(1);
  const auto text = CELLBLOCK_TRY(call_arguments({rest.begin(), rest.end()}));
  auto arguments = CELLBLOCK_TRY(object_in(text));
  command.method = mcp::method::tools_call;
  command.params["name"] = words[0];
  command.params["arguments"] = std::move(arguments);
  return {};
}

client::Result<void> fill_get(InspectCommand& command, WordSpan words) {
  auto arguments = CELLBLOCK_TRY(texts_in(words.subspan(1)));
  command.method = mcp::method::prompts_get;
  command.params["name"] = words[0];
  command.params["arguments"] = std::move(arguments);
  return {};
}

client::Result<void> fill_read(InspectCommand& command, WordSpan words) {
  command.method = mcp::method::resources_read;
  command.params["uri"] = words[0];
  return {};
}

client::Result<void> fill_complete(InspectCommand& command, WordSpan words,
                                   const CommandFacts& facts) {
  const bool prompt = words[0] == "prompt";
  if (!prompt && words[0] != "resource" && words[0] != "template") return misused(facts);
  command.method = mcp::method::complete;
  command.params["ref"]["type"] = prompt ? "ref/prompt" : "ref/resource";
  command.params["ref"][prompt ? "name" : "uri"] = words[1];
  command.params["argument"]["name"] = words[2];
  command.params["argument"]["value"] = words.size() > 3 ? words[3] : "";
  return {};
}

client::Result<void> fill_raw(InspectCommand& command, WordSpan words) {
  command.method = words[0];
  if (words.size() > 1) command.params = CELLBLOCK_TRY(object_in(words[1]));
  return {};
}

client::Result<void> fill_describe(InspectCommand& command, WordSpan words,
                                   const CommandFacts& facts) {
  const auto* kind = std::ranges::find(list_table, words[0], &ListFacts::singular);
  if (kind == list_table.end()) return misused(facts);
  command.kind = kind->kind;
  command.name = words[1];
  return {};
}

client::Result<void> fill_frames(InspectCommand& command, WordSpan words,
                                 const CommandFacts& facts) {
  if (words[0] != "on" && words[0] != "off") return misused(facts);
  command.name = words[0];
  return {};
}

client::Result<void> fill(InspectCommand& command, WordSpan words, const CommandFacts& facts) {
  switch (facts.verb) {
    case Verb::list:
      command.kind = std::ranges::find(list_table, facts.word, &ListFacts::word)->kind;
      return {};
    case Verb::describe:
      return fill_describe(command, words, facts);
    case Verb::call:
      return fill_call(command, words);
    case Verb::read:
      return fill_read(command, words);
    case Verb::get:
      return fill_get(command, words);
    case Verb::complete:
      return fill_complete(command, words, facts);
    case Verb::raw:
      return fill_raw(command, words);
    case Verb::frames:
      return fill_frames(command, words, facts);
    case Verb::info:
    case Verb::help:
    case Verb::quit:
      break;
  }
  return {};
}

const CommandFacts* find_command(const std::string& word, CommandSource source) {
  const auto* found = std::ranges::find(commands, word == "exit" ? std::string_view("quit") : word,
                                        &CommandFacts::word);
  return found != commands.end() && is_from(*found, source) ? found : nullptr;
}

}  // namespace

client::Result<InspectCommand> read_command(const std::vector<std::string>& words,
                                            CommandSource source) {
  const auto* facts = words.empty() ? nullptr : find_command(words.front(), source);
  if (facts == nullptr) {
    return wrong(fmt::format("there is no command \"{}\"; there are: {}",
                             words.empty() ? "" : words.front(),
                             fmt::join(command_words(source), ", ")));
  }
  const auto rest = WordSpan(words).subspan(1);
  if (rest.size() < facts->least || rest.size() > facts->most) return misused(*facts);
  InspectCommand command;
  command.verb = facts->verb;
  CELLBLOCK_CHECK(fill(command, rest, *facts));
  return command;
}

bool is_one_shot_command(const std::string& word) {
  return find_command(word, CommandSource::arguments) != nullptr;
}

std::vector<std::string> command_words(CommandSource source) {
  std::vector<std::string> words;
  for (const auto& command : commands) {
    if (is_from(command, source)) words.emplace_back(command.word);
  }
  return words;
}

std::string command_help(CommandSource source) {
  std::string text;
  for (const auto& command : commands) {
    if (!is_from(command, source)) continue;
    const auto form = fmt::format("{} {}", command.word, command.usage);
    const bool fits = form.size() < width_of_form;
    text += fits ? fmt::format("  {:<{}}{}\n", form, width_of_form, command.meaning)
                 : fmt::format("  {}\n  {:<{}}{}\n", form, "", width_of_form, command.meaning);
  }
  return text;
}

}  // namespace cellblock::cli
