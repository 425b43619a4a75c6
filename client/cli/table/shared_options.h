#pragma once

#include <string>

#include "client/cli/common/context.h"
#include "client/cli/common/server_request.h"
#include "client/cli/table/words.h"

/// Options that several commands have, each declared once.
namespace cellblock::cli {

// Options of the program, which every command takes.
extern const Option socket_option;
extern const Option user_option;
extern const Option system_option;
extern const Option json_option;

extern const Option server_name;  ///< NAME
extern const Option for_user;     ///< --for
extern const Option as_role;
extern const Option workspace_directory;
extern const Option label_option;
extern const Option argument_pair;  ///< --arg
extern const Option timeout_option;
extern const Option within_option;
extern const Option output_file;
extern const Option follow_option;

/// The daemon, or with --for the socket of that user's gateway.
Context context_of(const Words& words);

/// From a command with NAME, --workspace, --as or --timeout.
ServerRequest server_request(const Words& words);

/// What is wrong with a --label; empty: nothing. As the gateway takes them.
std::string label_mistake(const std::string& label);

/// A workspace goes to one server: empty where there is one, or no workspace.
std::string workspace_mistake(const Words& words, const std::string& server);

}  // namespace cellblock::cli
