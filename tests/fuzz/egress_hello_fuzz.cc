#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "policy/egress/egress_policy.h"
#include "supervisor/egress/client_hello.h"
#include "tests/fuzz/check.h"

using namespace cellblock;          // NOLINT(google-build-using-namespace)
using namespace cellblock::egress;  // NOLINT(google-build-using-namespace)

/// What has been judged stays so however much follows: what was let through cannot turn out to be
/// something else. Nothing is waited for beyond the bound, and nothing that begins as a TLS record
/// passes for another protocol.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Hello whole = judge_hello(bytes);
  CELLBLOCK_FUZZ_CHECK(whole.kind != HelloKind::need_more || size < max_hello_bytes);
  const bool begins_as_tls = size > 0 && data[0] >= 20 && data[0] <= 24;
  CELLBLOCK_FUZZ_CHECK(!begins_as_tls || whole.kind != HelloKind::not_tls);
  CELLBLOCK_FUZZ_CHECK(whole.size <= size);
  if (whole.kind == HelloKind::named) {
    CELLBLOCK_FUZZ_CHECK(normal_host_name(whole.name) == whole.name);
  }
  for (std::size_t cut = 0; cut <= std::min<std::size_t>(size, 256); ++cut) {
    const Hello part = judge_hello(bytes.substr(0, cut));
    if (part.kind == HelloKind::need_more) {
      CELLBLOCK_FUZZ_CHECK(part.wanted <= max_hello_bytes);
      continue;
    }
    CELLBLOCK_FUZZ_CHECK(part.kind == whole.kind && part.name == whole.name &&
                         part.size == whole.size);
  }
  return 0;
}
