#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "policy/egress/egress_policy.h"
#include "supervisor/egress/proxy_request.h"
#include "tests/fuzz/check.h"

using namespace cellblock;          // NOLINT(google-build-using-namespace)
using namespace cellblock::egress;  // NOLINT(google-build-using-namespace)

namespace {

/// All steps over bytes that come `each` at a time.
ProxyStep last_step(std::string_view bytes, std::size_t each) {
  ProxyHandshake handshake;
  ProxyStep step;
  std::size_t used = 0;
  for (std::size_t come = 0; come < bytes.size();) {
    come += std::min(each, bytes.size() - come);
    do {
      step = handshake.next(bytes.substr(used, come - used));
      used += step.used;
      CELLBLOCK_FUZZ_CHECK(used <= come);
    } while (step.kind == ProxyStepKind::answer);
    if (step.kind != ProxyStepKind::need_more) break;
    CELLBLOCK_FUZZ_CHECK(come - used < max_proxy_request);
  }
  return step;
}

}  // namespace

/// The same request is read wherever the bytes were cut, and leads to a port and to either a normal
/// name or an address.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ProxyStep whole = last_step(bytes, bytes.size());
  const ProxyStep pieces = last_step(bytes, 1);
  if (size < max_proxy_request) {
    CELLBLOCK_FUZZ_CHECK(whole.kind == pieces.kind && whole.target == pieces.target);
  }
  if (whole.kind != ProxyStepKind::connect) return 0;
  CELLBLOCK_FUZZ_CHECK(whole.target.port != 0);
  if (whole.target.has_name()) {
    CELLBLOCK_FUZZ_CHECK(normal_host_name(whole.target.host) == whole.target.host);
  }
  return 0;
}
