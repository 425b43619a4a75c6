#include <CLI/CLI.hpp>
#include <memory>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"

namespace cellblock::cli {
namespace {

struct PinFlags {
  std::shared_ptr<Flags> flags;
  std::shared_ptr<PinRequest> asked;
};

struct Words {
  const char* name;
  const char* what;
  const char* example;
};

// Fewer say too little, and none would say nothing.
std::string check_digest(const std::string& digest) {
  const bool is_digest = digest.size() >= 8 && digest.size() <= 64 &&
                         digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_digest ? std::string()
                   : digest +
                         ": expected 8 to 64 hexadecimal digits, as \"cellblock pin diff\" "
                         "prints them";
}

CLI::App* add_pin(CLI::App& pin, Command& command, const Words& words, const PinFlags& shared,
                  Exit (*run)(const Context&, const PinRequest&)) {
  auto* sub = add_command(pin, command, words.name, words.what, words.example,
                          [shared, run] { return run(context_of(*shared.flags), *shared.asked); });
  for_option(sub, *shared.flags);
  // An empty name would mean all, where one was meant.
  const auto names_something = [](const std::string& name) {
    return name.empty() ? std::string("it names nothing") : std::string();
  };
  sub->add_option("NAME", shared.asked->server, "the server, as the configuration names it")
      ->check(names_something);
  sub->add_option("DEFINITION", shared.asked->name,
                  "only what has this name: a tool, a prompt, or a template")
      ->check(names_something);
  return sub;
}

}  // namespace

void declare_pins(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  auto* pin = app.add_subcommand("pin", "what servers say of their tools, and may be shown of it");
  pin->footer(
      "A definition of a tool, prompt or template is pinned when it is first seen or accepted;\n"
      "what is new or changed after that is withheld until somebody accepts it.\n"
      "Example:\n  cellblock pin list\n  cellblock pin diff files\n"
      "  cellblock pin accept files read_file --digest 9f86d081884c");
  pin->fallthrough();
  pin->require_subcommand(1);
  const PinFlags shared{flags, std::make_shared<PinRequest>()};
  add_pin(*pin, command,
          {"list", "what is pinned, and what is withheld and why",
           "cellblock pin list files\n  cellblock pin list files read_file"},
          shared, run_pin_list);
  add_pin(
      *pin, command,
      {"diff",
       "what is withheld, line by line beside what was pinned, and its digest; another order of "
       "members alone is no change",
       "cellblock pin diff files read_file"},
      shared, run_pin_diff);
  auto* accept =
      add_pin(*pin, command,
              {"accept", "let pass what is withheld, as it is shown now (for administrators)",
               "cellblock pin accept files read_file --digest 9f86d081884c"},
              shared, run_pin_accept);
  accept->get_option("NAME")->required();
  accept
      ->add_option("--digest", shared.asked->digest,
                   "only if its digest begins so, as diff printed it; 8 digits or more")
      ->type_name("DIGITS")
      ->check(check_digest);
  auto* forget =
      add_pin(*pin, command,
              {"forget",
               "forget one definition, which is new then; or all of a server, whose next "
               "list is a first sight (for administrators)",
               "cellblock pin forget files read_file\n  cellblock pin forget files"},
              shared, run_pin_forget);
  forget->get_option("NAME")->required();
}

}  // namespace cellblock::cli
