#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/config_check/config_check.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"

// What stands in a sealed descriptor. The bytes are a whole encoding that the input changes here
// and there, so that a corpus stays useful when a field is added.
namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)
using Bytes = std::vector<std::byte>;

constexpr std::string_view rich_text = R"(
admins = ["root"]
[roles]
dev = { users = ["root"] }
[listen]
socket = "/run/cellblock/cellblock.sock"
[audit]
keep = 3
[server.files]
command = ["/usr/bin/env", "-i"]
read = ["/srv/files"]
env = { LANG = "C", HOME = "/home/mcp" }
network = "egress"
egress = { allow = ["api.example.org:443", "10.0.0.0/8:80"] }
allow = { users = ["root"], tools = ["read_*", "list"] }
calls = { rate = "10/s", in_flight = 4 }
[server.files.limits]
memory = "64M"
[server.other]
command = ["/usr/bin/true"]
run_as = "client"
)";

Config rich_config() {
  Complaints complaints;
  const std::vector<ConfigText> files = {
      parse_config_text(rich_text, "rich.toml", FileRole::main, complaints)};
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 1024;
  facts.users["cellblock"] = {990, 990};
  facts.users["root"] = {0, 0};
  facts.landlock_abi = 7;
  facts.cgroup = {"/sys/fs/cgroup/cellblock", true, true, true, true, ""};
  Config config = check_config({RunMode::system, {}, files}, facts, complaints);
  // Also what the text cannot say without a host that has it.
  for (Server& server : config.servers) {
    server.command_stamp = FileStamp{1, 2, 3, 4, 5};
    server.disks = {{8, 0}};
    server.secrets.push_back({});
    server.calls.tools.push_back({});
    server.redaction.detectors.push_back({});
    server.redaction.expressions.push_back({});
    server.secret_marks.marks.push_back({});
  }
  config.clients.push_back({});
  return config;
}

/// Each takes a place, a way and a value.
void change(Bytes& bytes, fuzz::Input& input) {
  while (!input.at_end() && !bytes.empty()) {
    const auto at = static_cast<std::ptrdiff_t>(input.number<std::uint16_t>() % bytes.size());
    const unsigned way = input.choice(8);
    const auto value = static_cast<std::byte>(input.byte());
    if (way == 0) bytes.insert(bytes.begin() + at, value);
    if (way == 1) bytes.erase(bytes.begin() + at);
    if (way == 2) bytes.resize(static_cast<std::size_t>(at));
    if (way == 3) bytes.insert(bytes.end(), std::to_integer<std::size_t>(value), std::byte{});
    if (way > 3) bytes[static_cast<std::size_t>(at)] = value;
  }
}

/// One value has one form in bytes, which ends where it ends.
template <class Decode>
void check(const Bytes& bytes, Decode decode) {
  const auto value = decode(std::span<const std::byte>(bytes));
  if (!value) {
    CELLBLOCK_FUZZ_CHECK(!value.error().text.empty());
    return;
  }
  CELLBLOCK_FUZZ_CHECK(encode(*value) == bytes);
  Bytes other = bytes;
  other.push_back(std::byte{});
  CELLBLOCK_FUZZ_CHECK(!decode(std::span<const std::byte>(other)));
  other.resize(bytes.size() - 1);
  CELLBLOCK_FUZZ_CHECK(!decode(std::span<const std::byte>(other)));
}

void check_both(const Bytes& bytes) {
  check(bytes, [](auto span) { return decode_config(span); });
  check(bytes, [](auto span) { return decode_secrets(span); });
}

}  // namespace

/// The first byte chooses what is changed: nothing (the rest is all), an empty configuration, one
/// with everything in it, or secrets.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Bytes bases[] = {
      {}, encode(Config{}), encode(rich_config()), encode(Secrets{{{{"one", "two"}}, {}, {{""}}}})};
  fuzz::Input input(data, size);
  Bytes bytes = bases[input.choice(4)];
  if (bytes.empty()) {
    const auto rest = std::as_bytes(std::span(input.rest()));
    check_both({rest.begin(), rest.end()});
  } else {
    change(bytes, input);
    check_both(bytes);
  }
  return 0;
}
