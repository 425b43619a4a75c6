#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "tests/fuzz/check.h"

namespace {

using cellblock::Message;
using cellblock::MessageScanner;
using cellblock::Span;
using Json = nlohmann::json;

/// Every part that is there is a JSON value of its own.
void check_span(Span span, std::string_view line) {
  CELLBLOCK_FUZZ_CHECK(span.begin <= span.end && span.end <= line.size());
  CELLBLOCK_FUZZ_CHECK(span.empty() || Json::accept(span.in(line)));
}

void check_input_methods(const Message& message, const Json& whole) {
  const Json part = whole.value("result", whole.value("params", Json()));
  if (!part.is_object() || !part.contains("inputRequests")) {
    CELLBLOCK_FUZZ_CHECK(message.input_methods.empty());
    return;
  }
  std::vector<std::string> methods;
  const auto method_of = [](const Json& request) {
    const bool has_one = request.is_object() && request.contains("method");
    return has_one && request["method"].is_string() ? request["method"].get<std::string>() : "";
  };
  const Json& requests = part["inputRequests"];
  if (!requests.is_object()) methods.emplace_back();
  if (requests.is_object())
    std::ranges::transform(requests, std::back_inserter(methods), method_of);
  std::vector<std::string> seen = message.input_methods;
  std::ranges::sort(seen);
  std::ranges::sort(methods);
  CELLBLOCK_FUZZ_CHECK(seen == methods);
}

void check_accepted(const Message& message, std::string_view line) {
  const Json whole = Json::parse(line, nullptr, false);
  CELLBLOCK_FUZZ_CHECK(whole.is_object());
  for (const Span span :
       {message.id, message.params, message.result, message.error, message.name, message.uri,
        message.request_id, message.progress_token, message.meta_progress_token,
        message.protocol_version, message.client_capabilities, message.capabilities,
        message.subscription_id}) {
    check_span(span, line);
  }
  for (const cellblock::ListedTool& tool : message.tools) check_span(tool.element, line);
  check_input_methods(message, whole);
  if (!message.method.empty()) {
    CELLBLOCK_FUZZ_CHECK(whole.at("method").get<std::string>() == message.method);
  }
  if (!message.id.empty()) {
    CELLBLOCK_FUZZ_CHECK(Json::parse(message.id.in(line)) == whole.at("id"));
  }
}

}  // namespace

/// Whatever the scanner accepts a second parser accepts as well and reads the same way; and what
/// stands behind the line makes no difference. The first byte of the input is what stands there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static MessageScanner scanner;
  if (size == 0) return 0;
  const std::size_t length = size - 1;
  const auto buffer = std::make_unique<char[]>(length + MessageScanner::padding);
  if (length != 0) std::memcpy(buffer.get(), data + 1, length);
  std::string_view line{buffer.get(), length};
  const bool accepted_alone = scanner.scan(line).has_value();
  std::memset(buffer.get() + length, data[0], MessageScanner::padding);
  const auto scanned = scanner.scan(line);
  CELLBLOCK_FUZZ_CHECK(scanned.has_value() == accepted_alone);
  if (scanned.has_value()) {
    check_accepted(*scanned, line);
  } else {
    check_span(scanned.error().id, line);
  }
  return 0;
}
