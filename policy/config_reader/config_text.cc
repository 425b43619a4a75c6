#include "policy/config_reader/config_text.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "policy/config_reader/text_reader.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {
namespace {

/// The visitor for a file that may hold servers only.
class RefuseTables {
 public:
  explicit RefuseTables(TableReader& reader) : reader_(reader) {}

  void plain(std::string_view key, auto&&...) { refuse(key); }
  void table(std::string_view key, auto&&...) { refuse(key); }
  void named(std::string_view key, auto&&...) { refuse(key); }
  void listen(auto&&...) { refuse("listen"); }

 private:
  void refuse(std::string_view key) {
    reader_.refuse(key, "stands in the main file only; allowed here: server tables");
  }

  TableReader& reader_;
};

void read_file(TableReader reader, FileRole role, ConfigText& text) {
  TextReader keys(reader);
  if (role == FileRole::main) {
    visit_installation(keys, text);
  } else {
    RefuseTables refused(reader);
    visit_installation(refused, text);
  }
  visit_servers(keys, text);
  for (ServerText& server : text.servers) server.file = text.file;
}

}  // namespace

ConfigText parse_config_text(std::string_view text, std::string_view file, FileRole role,
                             Complaints& complaints) {
  ConfigText result;
  result.file = file;
  result.syntax = Syntax::broken;
  if (const auto at = find_too_deep_key(text)) {
    complaints.error(file, *at, "",
                     fmt::format("a key of more than {} parts; allowed: the keys of "
                                 "docs/configuration.md",
                                 max_key_dots + 1));
    return result;
  }
  // A library's exception must not leave here, whichever it is: the text may be hostile.
  try {
    const toml::table root = toml::parse(text, file);
    read_file(TableReader(root, file, "", complaints), role, result);
    result.syntax = Syntax::good;
  } catch (const toml::parse_error& error) {
    complaints.error(file, place_of(error.source()), "",
                     fmt::format("{}; allowed: TOML 1.0", error.description()));
  } catch (const std::exception& error) {
    complaints.error(file, {}, "", fmt::format("cannot be read as TOML: {}", error.what()));
  }
  return result;
}

}  // namespace cellblock
