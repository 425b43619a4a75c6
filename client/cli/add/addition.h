#pragma once

#include <cstdint>

#include "client/cli/add/added_proposal.h"
#include "client/cli/common/context.h"
#include "client/cli/common/prompt.h"
#include "client/cli/install/package_install.h"
#include "client/cli/install/places.h"

namespace cellblock::cli {

/// When the user who adds it consents.
enum class Consent : std::uint8_t {
  given,
  after_trial,   ///< who typed its line has named all that it may do
  before_trial,  ///< a user's file declares what it may do: the server is not started before the
                 ///< answer
};

struct AddOptions {
  Consent consent = Consent::after_trial;
  InstallScripts scripts = InstallScripts::left_out;
  bool may_authorize =
      false;  ///< a person is there who goes to a browser where a server asks for it
};

/// Installs a server, tries it, shows what it may do, asks, and declares it. A failure is reported
/// and leaves nothing behind. `added.declared.name` becomes the server's name.
Exit add_server(const Context& context, const AddPlaces& places, AddedServer added,
                const AddOptions& options, const Interruption& interruption);

}  // namespace cellblock::cli
