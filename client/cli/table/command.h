#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/terminal/exit_code.h"

/// Commands and their options as values: the parser, `--help`, cellblock(1) and the shells'
/// completions are made of them.
namespace cellblock::cli {

class Words;
struct Context;

/// How many values an option takes.
enum class Values : std::uint8_t {
  none,  ///< a flag
  one,
  each,  ///< one, each time that it is written
  rest,  ///< a positional argument: all words that are left
};

/// What shells offer for a value besides `choices` and `suggestions`.
enum class Completes : std::uint8_t { nothing, files, directories, servers, tools };

/// A suffix of a number, and what it multiplies with.
struct Unit {
  std::string_view name;
  double factor = 1;
};

/// A positional argument ("NAME") or an option ("-n,--lines"). Known by its address: declared once,
/// as a constant.
struct Option {
  std::string_view name;
  std::string_view what;
  Values values = Values::one;
  std::string_view placeholder = "TEXT";  ///< in `--help`
  /// The value that holds where none is written; shown in `--help`.
  std::string_view standard = {};
  std::string_view variable = {};  ///< of the environment, which is read where none is written
  std::vector<std::string> (*choices)() = nullptr;  ///< all that the value may be; none: anything
  std::pair<int, int> range = {};    ///< of a number: the least and the most; {0, 0}: any
  std::span<const Unit> units = {};  ///< of a number; without one the factor is 1
  /// What is wrong with a value; empty: nothing.
  std::string (*check)(const std::string&) = nullptr;
  Completes completes = Completes::nothing;
  std::vector<std::string> (*suggestions)() = nullptr;  ///< that shells offer beside other values
};

constexpr Option flag(std::string_view name, std::string_view what) {
  return {.name = name, .what = what, .values = Values::none};
}

inline bool is_positional(const Option& option) { return !option.name.starts_with('-'); }

/// What a command is for: `--help` shows them so.
enum class Group : std::uint8_t { use, see, decide, change, set_up };

/// What `cellblock-tools` carries out, which has the libraries that few commands need: `cellblock`
/// executes it with the same words.
enum class Tool : std::uint8_t {
  none,
  add,
  added_list,
  added_removal,
  added_update,
  audit_verify,
  authorize,
  connect_by_line,
  doctor,
  export_to_host,
  import_from_host,
  inspect,
  learn,
  purge,
  scan,
  setup,
  ui,
  watch,
};

using OptionPairs = std::vector<std::pair<const Option*, const Option*>>;

struct Command {
  std::string_view name;
  Group group = Group::use;
  std::string_view what;  ///< one line
  /// For an older word: the command that replaces it. The older word works, the manual page
  /// explains it, and neither `--help` nor completion names it.
  std::string_view newer = {};
  std::string note = {};  ///< lines below the options in `--help`, before the example
  std::string_view example = {};
  std::vector<const Option*> required = {};  ///< positional arguments, in their order
  std::vector<const Option*> optional = {};  ///< positional arguments behind those
  std::vector<const Option*> options = {};
  OptionPairs excludes = {};  ///< not both
  OptionPairs needs = {};     ///< the first not without the second
  /// What `cellblock` does; none: it executes `cellblock-tools` for `tool`. Without either one of
  /// `below` has to be named.
  Exit (*run)(const Context& context, const Words& words) = nullptr;
  Tool tool = Tool::none;
  /// What is wrong with the words together; empty: nothing.
  std::string (*mistake)(const Words& words) = nullptr;
  std::vector<Command> below = {};
};

/// False: one of `below` has to be named.
inline bool is_complete(const Command& command) {
  return command.run != nullptr || command.tool != Tool::none;
}

inline bool is_listed(const Command& command) { return command.newer.empty(); }

/// Below a word that is older itself all are named.
inline bool is_named_below(const Command& above, const Command& command) {
  return is_listed(command) || !is_listed(above);
}

/// Declares the command under an older word for `newer`.
Command older(Command command, std::string_view name, std::string_view newer);

/// "-n,--lines": {"-n", "--lines"}.
std::vector<std::string_view> spellings(const Option& option);

/// In the order of `--help`: positional arguments first.
std::vector<const Option*> all_options(const Command& command);

}  // namespace cellblock::cli
