#include <new>

#include "client/c/handles.h"

/// What a connection of the C interface is made with.

namespace cellblock::client {
namespace {

// `set` says what is wrong by its Result.
template <class Set>
cellblock_code with(cellblock_options* options, Set set) noexcept {
  return guarded(nullptr, [&]() -> Result<void> {
    if (options == nullptr) return std::unexpected(bad_argument("no options"));
    return set(options->options);
  });
}

Result<void> set_text(std::string& where, const char* text) {
  if (text == nullptr) return std::unexpected(bad_argument("no text"));
  where = text;
  return {};
}

Decision decided_by(cellblock_decide_fn decide, void* user, const CallToApprove& call) {
  const cellblock_call shown{call};
  cellblock_decision decision;
  decide(user, &shown, &decision);
  return decision.decision;
}

RequestHandler handler_for(cellblock_request_fn handle, void* user) {
  return [handle, user](std::string_view method, std::string_view params) {
    cellblock_reply reply{std::unexpected(
        Error{.code = ErrorCode::rpc, .text = "the host gave no answer", .rpc_code = -32603})};
    handle(user, std::string(method).c_str(), std::string(params).c_str(), &reply);
    return reply.answer;
  };
}

}  // namespace
}  // namespace cellblock::client

using namespace cellblock::client;  // NOLINT(google-build-using-namespace): this file is its face

extern "C" {

void cellblock_decide(cellblock_decision* decision, cellblock_verdict verdict, const char* reason) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    const auto known = verdict_of(verdict);
    if (decision == nullptr || !known) return std::unexpected(bad_argument("no such verdict"));
    decision->decision = {.verdict = *known, .reason = or_empty(reason)};
    return {};
  });
}

void cellblock_reply_result(cellblock_reply* reply, const char* json) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (reply != nullptr && json != nullptr) reply->answer = std::string(json);
    return {};
  });
}

void cellblock_reply_error(cellblock_reply* reply, int rpc_code, const char* text) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (reply == nullptr) return {};
    reply->answer = std::unexpected(
        Error{.code = ErrorCode::rpc, .text = or_empty(text), .rpc_code = rpc_code});
    return {};
  });
}

cellblock_options* cellblock_options_new(void) {
  try {
    return new cellblock_options;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void cellblock_options_free(cellblock_options* options) { delete options; }

cellblock_code cellblock_options_socket(cellblock_options* options, const char* path) {
  return with(options, [&](Options& all) { return set_text(all.socket, path); });
}

cellblock_code cellblock_options_identity(cellblock_options* options, const char* name,
                                          const char* version) {
  return with(options, [&](Options& all) -> Result<void> {
    auto named = set_text(all.client_name, name);
    return named ? set_text(all.client_version, version) : named;
  });
}

cellblock_code cellblock_options_capabilities(cellblock_options* options, const char* json) {
  return with(options, [&](Options& all) { return set_text(all.capabilities, json); });
}

cellblock_code cellblock_options_longest_message(cellblock_options* options, size_t bytes) {
  return with(options, [&](Options& all) -> Result<void> {
    if (bytes < 1024) return std::unexpected(bad_argument("no message has room in so little"));
    all.limits.incoming_line = bytes;
    all.limits.outgoing_line = bytes;
    all.limits.outgoing_queue = std::max(all.limits.outgoing_queue, bytes + 1);
    return {};
  });
}

cellblock_code cellblock_options_rule(cellblock_options* options, const char* server,
                                      cellblock_kind kind, const char* name,
                                      cellblock_verdict verdict, const char* reason) {
  return with(options, [&](Options& all) -> Result<void> {
    const auto known_kind = kind_of(kind);
    const auto known_verdict = verdict_of(verdict);
    if (!known_kind || !known_verdict || name == nullptr) {
      return std::unexpected(bad_argument("a rule has a kind, a name and a verdict"));
    }
    all.permission.rules.push_back({.server = or_empty(server),
                                    .kind = *known_kind,
                                    .name = name,
                                    .verdict = *known_verdict,
                                    .reason = or_empty(reason)});
    return {};
  });
}

cellblock_code cellblock_options_otherwise(cellblock_options* options, cellblock_verdict verdict) {
  return with(options, [&](Options& all) -> Result<void> {
    const auto known = verdict_of(verdict);
    if (!known) return std::unexpected(bad_argument("no such verdict"));
    all.permission.otherwise = *known;
    return {};
  });
}

cellblock_code cellblock_options_on_permission(cellblock_options* options,
                                               cellblock_decide_fn decide, void* user) {
  return with(options, [&](Options& all) -> Result<void> {
    all.on_permission = nullptr;
    if (decide == nullptr) return {};
    all.on_permission = [decide, user](const CallToApprove& call) {
      return decided_by(decide, user, call);
    };
    return {};
  });
}

cellblock_code cellblock_options_on_approval(cellblock_options* options, cellblock_decide_fn decide,
                                             void* user) {
  return with(options, [&](Options& all) -> Result<void> {
    all.on_approval = nullptr;
    if (decide == nullptr) return {};
    all.on_approval = answered_at_once(
        [decide, user](const CallToApprove& call) { return decided_by(decide, user, call); });
    return {};
  });
}

cellblock_code cellblock_options_on_notification(cellblock_options* options,
                                                 cellblock_notification_fn handle, void* user) {
  return with(options, [&](Options& all) -> Result<void> {
    all.on_notification = nullptr;
    if (handle == nullptr) return {};
    all.on_notification = [handle, user](std::string_view method, std::string_view params) {
      handle(user, std::string(method).c_str(), std::string(params).c_str());
    };
    return {};
  });
}

cellblock_code cellblock_options_on_request(cellblock_options* options, cellblock_request_fn handle,
                                            void* user) {
  return with(options, [&](Options& all) -> Result<void> {
    all.on_request = handle == nullptr ? RequestHandler() : handler_for(handle, user);
    return {};
  });
}

cellblock_code cellblock_options_on_ended(cellblock_options* options, cellblock_ended_fn handle,
                                          void* user) {
  return with(options, [&](Options& all) -> Result<void> {
    all.on_ended = nullptr;
    if (handle == nullptr) return {};
    all.on_ended = [handle, user](const Error& why) {
      handle(user, code_of(why.code), why.text.c_str());
    };
    return {};
  });
}

}  // extern "C"
