#pragma once

#include <stop_token>
#include <string>

#include "client/cli/common/context.h"
#include "client/cli/install/package_installer.h"
#include "client/cli/install/places.h"
#include "client/cli/install/scratch.h"
#include "policy/base/result.h"

/// The cells in which a registry's installer runs.
namespace cellblock::cli {

struct InstallPlaces {
  std::string script;        ///< the directory with the installer's script
  std::string output;        ///< the directory that is filled
  unsigned user = 0;         ///< who calls it
  std::string secrets = {};  ///< the directory with a file for each of the installer's secrets
};

/// The declarations of the cells in which that is done. Pure.
std::string installing_cells(const PackageInstaller& installer, const InstallPlaces& places);

/// What a call of an installer needs, made in `scratch`. The installer's secrets are files there
/// until it ends or they are removed.
class InstallingCell {
 public:
  static Result<InstallingCell> make(const Context& context, const AddPlaces& places,
                                     const Scratch& scratch, const PackageInstaller& installer);
  InstallingCell(InstallingCell&& other) noexcept;
  InstallingCell& operator=(InstallingCell&&) = delete;
  InstallingCell(const InstallingCell&) = delete;
  InstallingCell& operator=(const InstallingCell&) = delete;
  ~InstallingCell();

  /// The directory that the cells write.
  const std::string& output() const { return places_.output; }
  /// Calls a tool ("install", "check") in the cell that has a network and the secrets. The cell has
  /// ended afterwards. An error: what the installer said.
  Result<void> call(const std::string& tool, const std::string& package,
                    const std::stop_token& stop) const;
  /// Runs what packages run at their installation, in a cell without a network. Removes the secrets
  /// before.
  Result<void> run_scripts(const std::stop_token& stop) const;
  void remove_secrets() const;

 private:
  InstallingCell(const Context& context, const Scratch& scratch, const PackageInstaller& installer)
      : context_(context), scratch_(scratch), installer_(installer) {}

  const Context& context_;
  const Scratch& scratch_;
  const PackageInstaller& installer_;
  InstallPlaces places_;
  std::string tables_;  ///< of the private daemon's configuration, besides the cells
};

}  // namespace cellblock::cli
