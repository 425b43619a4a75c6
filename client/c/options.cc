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
    Result<void> done = set(options->options);
    // Whoever does not look: a rule that was not understood must not be one that is not there.
    if (!done && !options->mistake) options->mistake = done.error();
    return done;
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

void ask(cellblock_decide_fn decide, void* user, const CallToApprove& call,
         const ApprovalAnswer& answer) {
  const cellblock_call shown{call};
  cellblock_decision decision{.answer = answer};
  decide(user, &shown, &decision);
}

void ask(cellblock_request_fn handle, void* user, const ServerRequest& request,
         const RequestAnswer& answer) {
  cellblock_reply reply{answer};
  handle(user, request.method.c_str(), request.params.c_str(), &reply);
}

template <class Handle>
Handle* kept(const Handle* handle) noexcept {
  return handle == nullptr ? nullptr : new (std::nothrow) Handle(*handle);
}

}  // namespace
}  // namespace cellblock::client

using namespace cellblock::client;  // NOLINT(google-build-using-namespace): this file is its face

extern "C" {

void cellblock_decide(cellblock_decision* decision, cellblock_verdict verdict, const char* reason) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    const auto known = verdict_of(verdict);
    if (decision == nullptr || !known) return std::unexpected(bad_argument("no such verdict"));
    Decision made{.verdict = *known, .reason = or_empty(reason)};
    if (decision->answer) {
      (*decision->answer)(std::move(made));
    } else {
      decision->decision = std::move(made);
    }
    return {};
  });
}

void cellblock_reply_result(cellblock_reply* reply, const char* json) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (reply != nullptr && json != nullptr) reply->answer(std::string(json));
    return {};
  });
}

void cellblock_reply_error(cellblock_reply* reply, int rpc_code, const char* text) {
  (void)guarded(nullptr, [&]() -> Result<void> {
    if (reply == nullptr) return {};
    reply->answer(std::unexpected(
        Error{.code = ErrorCode::rpc, .text = or_empty(text), .rpc_code = rpc_code}));
    return {};
  });
}

cellblock_decision* cellblock_decision_keep(cellblock_decision* decision) {
  return decision == nullptr || !decision->answer ? nullptr : kept(decision);
}
void cellblock_decision_free(cellblock_decision* decision) { delete decision; }

cellblock_reply* cellblock_reply_keep(cellblock_reply* reply) { return kept(reply); }
int cellblock_reply_is_wanted(const cellblock_reply* reply) {
  return reply != nullptr && reply->answer.is_wanted() ? 1 : 0;
}
void cellblock_reply_free(cellblock_reply* reply) { delete reply; }

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
    all.on_approval = [decide, user](const CallToApprove& call, const ApprovalAnswer& answer) {
      ask(decide, user, call, answer);
    };
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
    all.on_server_request = nullptr;
    if (handle == nullptr) return {};
    all.on_server_request = [handle, user](const ServerRequest& request,
                                           const RequestAnswer& answer) {
      ask(handle, user, request, answer);
    };
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
