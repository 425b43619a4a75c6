#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/import_file.h"
#include "client/cli/import/read/input_json.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/import_checks.h"
#include "tests/fuzz/input.h"

namespace {

using namespace cellblock::cli;  // NOLINT(google-build-using-namespace)
using cellblock::fuzz::Input;

/// Comments become blanks, at the same places and only once.
void check_plain(std::string_view text) {
  const auto plain = plain_json(text, max_import_depth);
  if (!plain) return;
  CELLBLOCK_FUZZ_CHECK(plain->size() == text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    CELLBLOCK_FUZZ_CHECK((*plain)[i] == text[i] || (*plain)[i] == ' ');
    CELLBLOCK_FUZZ_CHECK(text[i] != '\n' || (*plain)[i] == '\n');
  }
}

}  // namespace

/// The configuration of a host, in one of its formats or as it is recognised: JSON with or without
/// comments, or TOML. What is proposed from it is configuration again, without anything of the text
/// in a place where it is not a value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::vector<std::string> names = import_format_names();
  ImportQuestion question;
  const unsigned format = input.byte();
  if (format % (names.size() + 1) != 0) {
    question.format = import_format_named(names[format % (names.size() + 1) - 1]);
  }
  check_plain(input.rest());
  const auto servers = declared_servers(input.rest(), question);
  if (servers) cellblock::fuzz::check_proposals(*servers);
  return 0;
}
