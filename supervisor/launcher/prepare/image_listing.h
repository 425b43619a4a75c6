#pragma once

#include <string>
#include <vector>

#include "supervisor/launcher/child/image_plan.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// What the image at `image` (a path of the host's; `host`: a descriptor of its root) has in these
/// directories. One that is missing, a file or reached through a link is left out, but not the
/// image itself. Devices, sockets and pipes are left out. E2BIG: more than 1024 entries.
SysResult<ImageListing> list_image(int host, const std::string& image,
                                   const std::vector<std::string>& directories);

}  // namespace cellblock::launcher
