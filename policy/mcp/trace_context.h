#pragma once

#include <cstddef>
#include <string_view>

/// W3C Trace Context, https://www.w3.org/TR/trace-context/#traceparent-header, as MCP carries it in
/// `_meta.traceparent`. Pure.
namespace cellblock {

/// version-trace_id-parent_id-flags: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".
inline constexpr std::size_t traceparent_size = 55;

/// Whether it names a trace and a span of it; lower-case hexadecimal, neither of them zero.
bool is_traceparent(std::string_view text);

/// From a value in raw JSON; empty where there is none.
std::string_view traceparent_in(std::string_view json);

}  // namespace cellblock
