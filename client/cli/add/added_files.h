#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/cli/install/places.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// The file of a server's declaration.
std::string declaration_of(const AddPlaces& places, const std::string& server);

/// The directory and its parents are there afterwards, closed to others where that is asked for.
Result<void> make_place(const std::string& directory, unsigned mode);

/// A declaration and the secrets it names, in their places; taken away again unless they are kept.
class AddedFiles {
 public:
  explicit AddedFiles(AddPlaces places) : places_(std::move(places)) {}
  ~AddedFiles();
  AddedFiles(const AddedFiles&) = delete;
  AddedFiles& operator=(const AddedFiles&) = delete;

  /// Of a configuration that is not there yet: one that declares nothing by itself.
  Result<void> make_main_file();
  Result<void> add_secret(const std::string& path, const std::string& value);
  Result<void> add_declaration(const std::string& server, const std::string& text);
  /// One that somebody else has made.
  void take(const std::string& path) { made_.push_back(path); }
  void keep() { made_.clear(); }

 private:
  AddPlaces places_;
  std::vector<std::string> made_;
};

}  // namespace cellblock::cli
