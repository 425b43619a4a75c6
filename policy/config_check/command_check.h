#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// `command`, `sha256` and `program` of a server: that it starts, and that what runs is what the
/// administrator installed.
namespace cellblock {

/// In an image everything that could run was checked, so a shell or `env` may find it by name.
enum class CommandPlace { host, image };

/// Why a command does not name the program that will really run: it downloads it, is a shell that
/// reads it, or looks for it by name. With what to do instead. None: it names it.
std::optional<std::string> habit_problem(const std::vector<std::string>& command,
                                         CommandPlace place = CommandPlace::host);

/// "is a directory"; none: it can be executed.
std::optional<std::string> why_it_will_not_start(CommandState state);

/// What makes the command unsafe is an error; what merely makes this one server fail is a warning,
/// since the others shall run, and starting it says the same with the exact step.
std::vector<std::string> check_command(const Scope& scope, const ServerText& text,
                                       const HostFacts& facts, PathFindings& found);

/// None: no `sha256`. A file whose digest could not be taken has a stamp that no file has.
std::optional<FileStamp> check_digest(const Scope& scope, const ServerText& text,
                                      const HostFacts& facts);

/// Checks that no other user can change anything in the directory.
void check_program(const Scope& scope, const ServerText& text, const HostFacts& facts);

/// A warning for a runtime that compiles while it runs where the server's memory may not be written
/// and then executed: it would end at once, and without a word.
void check_runtime(const Scope& scope, const ServerText& text, const SyscallRules& rules,
                   const HostFacts& facts);

/// `${client.…}` and `${secret:…}` in a key where nothing fills them in: the server would get those
/// very characters.
void refuse_placeholders(const Scope& scope, const ServerText& text);

}  // namespace cellblock
