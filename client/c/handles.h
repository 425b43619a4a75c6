#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cellblock/bounds.h"
#include "cellblock/cellblock.h"
#include "cellblock/client.h"
#include "client/lib/client_core.h"

/// What the opaque handles of the C interface are, and how every function of it ends.

struct cellblock_error {
  cellblock_code code = CELLBLOCK_OK;
  cellblock::client::Error error;
};

struct cellblock_call {
  const cellblock::client::CallToApprove& call;
};

struct cellblock_decision {
  cellblock::client::Decision decision = {};
  std::optional<cellblock::client::ApprovalAnswer> answer = {};  ///< of an approval: decided there
};

struct cellblock_reply {
  cellblock::client::RequestAnswer answer;
};

struct cellblock_options {
  cellblock::client::Options options;
  std::optional<cellblock::client::Error> mistake = {};  ///< the first one of a setter
};

/// Shared with the function that waits, since a callback may free the client.
struct cellblock_client_state {
  using Impl = cellblock::client::Client::Impl;

  explicit cellblock_client_state(std::shared_ptr<Impl> which)
      : impl(std::move(which)), client(impl) {}

  const std::shared_ptr<Impl> impl;
  cellblock::client::Client client;
  std::optional<cellblock::client::Error> failure;  ///< of a completion that threw
  std::mutex mutex;
  std::optional<std::stop_source> stop;  ///< of what waits; guarded by `mutex`
};

struct cellblock_client {
  std::shared_ptr<cellblock_client_state> state;
};

struct cellblock_result {
  std::string json;
  std::string text;
  bool is_error = false;
  bool is_bounded = false;
  std::vector<cellblock::client::WithheldPart> parts = {};
};

struct cellblock_tools {
  std::vector<cellblock::client::Tool> tools;
};

namespace cellblock::client {

cellblock_code code_of(ErrorCode code);

/// The number in any value that came from C: nothing promises that it is one of the enumeration.
std::optional<Verdict> verdict_of(cellblock_verdict verdict);
std::optional<CallKind> kind_of(cellblock_kind kind);

/// What overflows is never.
std::chrono::milliseconds duration_of(uint64_t ms);

/// What connects by these options, which may be null.
Result<std::shared_ptr<Client::Impl>> client_of(const cellblock_options* options);

/// Reads options of a program that may have been built for an older library; null: the defaults.
Result<AttachOptions> read_options(const cellblock_attach_options* given,
                                   std::chrono::milliseconds& timeout);
Result<CallOptions> read_options(const cellblock_call_options* given);

cellblock_result* new_result(ToolResult result);

inline const char* or_empty(const char* text) { return text == nullptr ? "" : text; }

Error bad_argument(std::string text);
cellblock_code refuse(cellblock_error** error, cellblock_code code, Error why) noexcept;

/// Runs what gives a Result<void>; nothing that it throws leaves.
template <class Act>
cellblock_code guarded(cellblock_error** error, Act act) noexcept {
  try {
    if (error != nullptr) *error = nullptr;
    const Result<void> done = act();
    return done ? CELLBLOCK_OK : refuse(error, code_of(done.error().code), done.error());
  } catch (const std::bad_alloc&) {
    return CELLBLOCK_NO_MEMORY;
  } catch (...) {  // a callback's, or a mistake here
    return refuse(error, CELLBLOCK_INTERNAL, {.text = "an exception reached the C interface"});
  }
}

/// `given`, of a program that may be older than this library and so know fewer members, over the
/// defaults. nullopt: it knows more, or has no size.
template <class Options>
std::optional<Options> options_from(const Options* given, Options defaults) {
  if (given == nullptr) return defaults;
  if (given->size < sizeof(given->size) || given->size > sizeof(Options)) return std::nullopt;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  std::copy(bytes, bytes + given->size, reinterpret_cast<unsigned char*>(&defaults));
  return defaults;
}

}  // namespace cellblock::client
