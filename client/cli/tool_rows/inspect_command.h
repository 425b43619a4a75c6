#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cellblock/error.h"
#include "client/cli/tool_rows/list_kind.h"

/// What `cellblock inspect` is told to do: the same words as arguments and at its prompt.
namespace cellblock::cli {

enum class Verb : std::uint8_t {
  list,
  info,
  describe,
  call,
  read,
  get,
  complete,
  raw,
  // At the prompt only.
  frames,
  help,
  quit,
};

struct InspectCommand {
  Verb verb = Verb::help;
  ListKind kind = ListKind::tools;  ///< of list and describe
  std::string name;                 ///< of describe; "on" or "off" of frames
  std::string method;               ///< of what is one request: its method and parameters
  nlohmann::ordered_json params = nlohmann::ordered_json::object();
};

/// The source of commands.
enum class CommandSource : std::uint8_t { arguments, prompt };

/// invalid_argument with the command's usage, where it is none.
client::Result<InspectCommand> read_command(const std::vector<std::string>& words,
                                            CommandSource source);

/// A command that arguments can give begins with this word.
bool is_one_shot_command(const std::string& word);

/// All words that a command may begin with.
std::vector<std::string> command_words(CommandSource source);

/// A line a command.
std::string command_help(CommandSource source);

}  // namespace cellblock::cli
