#pragma once

#include <cxxabi.h>
#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "cellblock/error.h"
#include "policy/base/printable.h"

namespace cellblock::client {

/// Runs one of the host's handlers. What it throws becomes the error, on one line: an exception
/// that went on would leave the connection in the middle of a line.
template <class Call>
std::optional<Error> failure_of(std::string_view handler, Call&& call) {
  const auto failed = [&](std::string_view what) {
    return Error{.code = ErrorCode::handler_failed,
                 .text = fmt::format("{} threw: {}", handler, printable(what))};
  };
  try {
    std::forward<Call>(call)();
    return std::nullopt;
  } catch (const abi::__forced_unwind&) {  // pthread_cancel(): the thread ends here
    throw;
  } catch (const std::exception& thrown) {
    return failed(thrown.what());
  } catch (...) {
    return failed("what is no std::exception");
  }
}

}  // namespace cellblock::client
