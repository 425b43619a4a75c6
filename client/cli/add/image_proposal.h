#pragma once

#include <functional>
#include <string>

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/image_config.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/read/container_run.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// An image that was unpacked and copied, where no other user can change it.
struct UnpackedImage {
  std::string root;  ///< the root directory
  ImageConfig config;
};

/// What is asked about the files of an image. A path is one inside it, its links followed there.
struct ImageView {
  /// The program itself, behind all links; empty: there is no file that may be executed.
  std::function<std::string(const std::string& path)> program_at;
  std::function<bool(const std::string& path)> is_directory;
  std::function<std::string(const std::string& path)> first_line;
};

/// What an installation put into `directory`.
Result<UnpackedImage> unpacked_image(const std::string& directory);

ImageView view_of_image(const std::string& root);

struct ImageSurroundings {
  const ImageView& view;
  const MachineView& machine;
  const std::string& secrets;  ///< the directory with a file for each secret
};

/// The server of such a line, without what `cellblock add` was told besides. An error: what it
/// would run cannot be told.
Result<Proposal> image_proposal(const AddedServer& added, const ContainerRun& run,
                                const UnpackedImage& image, const ImageSurroundings& around);

}  // namespace cellblock::cli
