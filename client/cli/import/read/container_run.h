#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

/// `docker run` and `podman run`: commands that start a container of an image.
namespace cellblock::cli {

/// A directory or file of the host's in the container.
struct ContainerMount {
  std::string source;
  std::string target;
  bool is_read_only = false;
};

struct ContainerRun {
  std::string image;  ///< as it stands there
  std::vector<std::string> arguments;
  std::optional<std::string> entrypoint;
  std::string working_directory;
  std::vector<DeclaredVariable> variables;
  std::vector<std::string> inherited;          ///< names of variables of the starting process
  std::vector<std::string> environment_files;  ///< as they are named
  std::vector<ContainerMount> mounts;
  std::vector<std::string> remarks;  ///< what is not kept, and why it need not be
};

/// None: such a command it is not. An error: it is, with an option that a cell cannot keep.
Result<std::optional<ContainerRun>> container_run(const std::vector<std::string>& command);

/// The variables in a file of `--env-file`: NAME=VALUE a line, a name alone is inherited.
void read_environment_file(const std::string& text, ContainerRun& run);

}  // namespace cellblock::cli
