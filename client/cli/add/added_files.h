#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/cli/install/places.h"
#include "policy/base/result.h"

/// The files of a server that `cellblock add` declares: made, taken away, and read back later.
namespace cellblock::cli {

/// The file of a server's declaration.
std::string declaration_of(const AddPlaces& places, const std::string& server);

/// The file of the secret that an authorization is.
std::string authorization_file(const AddPlaces& places, const std::string& server);

/// The directory and its parents are there afterwards, closed to others where that is asked for.
Result<void> make_place(const std::string& directory, unsigned mode);

/// A declaration and the secrets it names, in their places; taken away again unless they are kept,
/// with the directories that were made for them.
class AddedFiles {
 public:
  explicit AddedFiles(AddPlaces places) : places_(std::move(places)) {}
  ~AddedFiles();
  AddedFiles(const AddedFiles&) = delete;
  AddedFiles& operator=(const AddedFiles&) = delete;

  /// Makes a configuration that declares nothing, if there is none yet.
  Result<void> make_main_file();
  Result<void> add_secret(const std::string& path, const std::string& value);
  Result<void> add_declaration(const std::string& server, const std::string& text);
  /// The directory of the server's program.
  Result<void> add_directory(const std::string& directory);
  /// Takes over a file that exists: it is removed like those made here.
  void take(const std::string& path) { made_.push_back(path); }
  void keep() { made_.clear(); }

 private:
  Result<void> make_directory(const std::string& directory, unsigned mode);

  AddPlaces places_;
  std::vector<std::string> made_;  ///< files and directories, in their order
};

// The text of a declaration that `cellblock add` made. Its administrator may have changed it.

/// A program that moved to another version's directory: its directory and its own script there.
struct MovedProgram {
  std::string from;
  std::string to;
  std::string old_script;
  std::string new_script;
};
/// `text` with the new version: every path below `from` leads below `to`, and the program's own
/// script is the new one's. All else stays as it was written. Pure.
std::string moved(const std::string& text, const MovedProgram& program);

/// `allow.tools` of that server as it stands there; empty where it says nothing of the sort.
Result<std::vector<std::string>> listed_tools(const std::string& text, const std::string& server);

/// `text` in which that server's `env_from_file` has that variable, or has it no more; all else
/// stays as it was written. Pure.
std::string with_secret(const std::string& text, const std::string& server,
                        const std::string& variable, const std::string& file);
std::string without_secret(const std::string& text, const std::string& variable);

/// Files of `env_from_file` of that server, in `directory`.
Result<std::vector<std::string>> secret_files_in(const std::string& text, const std::string& server,
                                                 const std::string& directory);

}  // namespace cellblock::cli
