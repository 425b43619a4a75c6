#include "supervisor/egress/proxy_request.h"

#include <optional>

#include "supervisor/egress/http_request.h"
#include "supervisor/egress/socks_request.h"

namespace cellblock::egress {
namespace {

constexpr char socks_version = 5;
constexpr char oldest_socks = 4;

}  // namespace

ProxyStep ProxyHandshake::next(std::string_view received) {
  if (received.empty()) return {};
  if (dialect_ == ProxyDialect::unknown) {
    // SOCKS4 has no names of its own to check, and nothing that speaks it would understand HTTP.
    if (received[0] == oldest_socks) return {.kind = ProxyStepKind::refuse};
    dialect_ = received[0] == socks_version ? ProxyDialect::socks : ProxyDialect::http;
  }
  ProxyStep step = dialect_ == ProxyDialect::http ? read_http_request(received)
                   : greeted_                     ? read_socks_request(received)
                                                  : greet(received);
  if (step.kind == ProxyStepKind::need_more && received.size() >= max_proxy_request) {
    return {.kind = ProxyStepKind::refuse,
            .reply = refused_reply(dialect_, wire::EgressReason::malformed)};
  }
  return step;
}

ProxyStep ProxyHandshake::greet(std::string_view received) {
  ProxyStep step = read_socks_greeting(received);
  greeted_ = step.kind == ProxyStepKind::answer;
  return step;
}

std::string connected_reply(ProxyDialect dialect) {
  return dialect == ProxyDialect::socks ? socks_success() : http_success();
}

std::string refused_reply(ProxyDialect dialect, wire::EgressReason reason) {
  return dialect == ProxyDialect::socks ? socks_refusal(reason) : http_refusal(reason);
}

}  // namespace cellblock::egress
