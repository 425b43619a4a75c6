#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/config_check/config_check.h"
#include "tests/fuzz/check.h"

// The first byte chooses the door: text as an admin's file, or bytes as a sealed descriptor.
namespace {

using namespace cellblock;

void read_text(std::string_view text, RunMode mode) {
  Complaints complaints;
  const std::vector<ConfigText> files = {
      parse_config_text(text, "fuzz.toml", FileRole::main, complaints)};
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 1024;
  facts.users["cellblock"] = {990, 990};
  facts.landlock_abi = 7;
  facts.cgroup = {"/sys/fs/cgroup/cellblock", true, true, true, true, ""};
  facts.primary_groups[1001] = 1001;
  facts.members[2000] = {{{1002, 1002}}, {"gone"}};
  const Config config = check_config({mode, {}, files}, facts, complaints);
  if (complaints.has_errors()) return;
  // What passes the check must survive the way to the other processes.
  const auto decoded = decode_config(encode(config));
  CELLBLOCK_FUZZ_CHECK(decoded.has_value());
  CELLBLOCK_FUZZ_CHECK(*decoded == config);
}

// One value has one form in bytes.
void read_bytes(std::span<const std::byte> bytes) {
  const auto config = decode_config(bytes);
  if (!config) return;
  const auto again = encode(*config);
  CELLBLOCK_FUZZ_CHECK(std::vector(bytes.begin(), bytes.end()) == again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span rest(data + 1, size - 1);
  if (data[0] % 3 == 0) {
    read_bytes(std::as_bytes(rest));
  } else {
    read_text({reinterpret_cast<const char*>(rest.data()), rest.size()},
              data[0] % 3 == 1 ? RunMode::system : RunMode::user);
  }
  return 0;
}
