#pragma once

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/interruption.h"
#include "client/cli/add/places.h"
#include "client/cli/common/context.h"

namespace cellblock::cli {

struct AddWishes {
  bool agrees = false;        ///< to what is shown, without being asked
  bool runs_scripts = false;  ///< what packages run at their installation
};

/// Installs a server, tries it, shows what it may do, asks, and declares it. Whatever fails is
/// told, and leaves nothing. `added.declared.name` becomes the server's.
Exit add_server(const Context& context, const AddPlaces& places, AddedServer added,
                const AddWishes& wishes, const Interruption& interruption);

}  // namespace cellblock::cli
