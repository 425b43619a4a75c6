#include "supervisor/gateway/message/control_request.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>

#include "policy/base/printable.h"
#include "policy/config/words.h"
#include "policy/mcp/control_methods.h"
#include "policy/pins/definition.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

constexpr std::uint32_t default_log_lines = 100;
constexpr std::size_t max_params = 64U << 10;
constexpr std::size_t longest_beforehand_name = 256;
constexpr std::size_t max_attach_params = max_resume + max_params;

struct Shape {
  std::string_view name;
  ControlMethod method;
  bool takes_server;
  std::span<const std::string_view> options;  ///< further members it takes
};

constexpr std::string_view attach_options[] = {"stdio",  "journal", "workspace", "probe", "start",
                                               "labels", "role",    "resume",    "tools"};
constexpr std::string_view logs_options[] = {"lines", "denied", "after"};
constexpr std::string_view pins_options[] = {"server", "definitions"};
constexpr std::string_view pin_options[] = {"name", "kind", "digest"};

constexpr std::string_view approvals_options[] = {"approval"};
constexpr std::string_view approve_options[] = {"approval", "word", "digest"};
constexpr std::string_view approve_next_options[] = {"name", "seconds"};
constexpr std::string_view home_options[] = {"clear"};

constexpr std::array shapes{
    Shape{control_method::attach, ControlMethod::attach, true, attach_options},
    Shape{control_method::status, ControlMethod::status, false, {}},
    Shape{control_method::logs, ControlMethod::logs, true, logs_options},
    Shape{control_method::stop, ControlMethod::stop, true, {}},
    Shape{control_method::restart, ControlMethod::restart, true, {}},
    Shape{control_method::pins, ControlMethod::pins, false, pins_options},
    Shape{control_method::pin_accept, ControlMethod::pin_accept, true, pin_options},
    Shape{control_method::approvals, ControlMethod::approvals, false, approvals_options},
    Shape{control_method::approve, ControlMethod::approve, false, approve_options},
    Shape{control_method::approve_next, ControlMethod::approve_next, true, approve_next_options},
    Shape{control_method::pin_forget, ControlMethod::pin_forget, true, pin_options},
    Shape{control_method::home, ControlMethod::home, true, home_options},
};

std::unexpected<Failure> invalid(std::string message) {
  return std::unexpected(plain_failure(FailureCode::invalid_request, std::move(message)));
}

std::expected<void, Failure> only_known_members(const nlohmann::json& params, const Shape& shape) {
  for (const auto& [name, value] : params.items()) {
    const bool known = (shape.takes_server && name == "server") || name == "_meta" ||
                       std::ranges::find(shape.options, name) != shape.options.end();
    if (!known) return invalid("unknown parameter \"" + name.substr(0, 64) + "\"");
  }
  return {};
}

std::expected<std::string, Failure> server_of(const nlohmann::json& params) {
  const auto server = params.find("server");
  if (server == params.end() || !server->is_string() ||
      server->get_ref<const std::string&>().empty()) {
    return invalid("parameter \"server\" must be the name of a server");
  }
  return server->get<std::string>();
}

// Absent is false.
std::expected<bool, Failure> flag_of(const nlohmann::json& params, const std::string& name) {
  const auto flag = params.find(name);
  if (flag == params.end()) return false;
  if (!flag->is_boolean()) return invalid("parameter \"" + name + "\" must be true or false");
  return flag->get<bool>();
}

std::expected<std::uint32_t, Failure> lines_of(const nlohmann::json& params) {
  const auto lines = params.find("lines");
  if (lines == params.end()) return default_log_lines;
  if (!lines->is_number_unsigned() || lines->get<std::uint64_t>() < 1 ||
      lines->get<std::uint64_t>() > max_log_lines) {
    return invalid("parameter \"lines\" must be a number from 1 to " +
                   std::to_string(max_log_lines));
  }
  return lines->get<std::uint32_t>();
}

std::expected<std::optional<std::uint64_t>, Failure> after_of(const nlohmann::json& params) {
  const auto after = params.find("after");
  if (after == params.end()) return std::nullopt;
  if (!after->is_number_unsigned()) {
    return invalid("parameter \"after\" must be the number of a line");
  }
  if (params.contains("denied")) return invalid("\"denied\" has no \"after\"");
  return after->get<std::uint64_t>();
}

std::expected<StartWhen, Failure> start_of(const nlohmann::json& params) {
  const auto start = params.find("start");
  if (start == params.end() || *start == "now") return StartWhen::now;
  if (*start == "on_demand") return StartWhen::on_demand;
  return invalid(R"(parameter "start" must be "now" or "on_demand")");
}

std::expected<std::optional<ToolListing>, Failure> tools_of(const nlohmann::json& params) {
  const auto tools = params.find("tools");
  if (tools == params.end()) return std::nullopt;
  if (*tools == word_of(ToolListing::all)) return ToolListing::all;
  if (*tools == word_of(ToolListing::search)) return ToolListing::search;
  return invalid(R"(parameter "tools" must be "all" or "search")");
}

bool is_printable(const std::string& text) { return printable(text) == text; }

bool is_label_name(std::string_view name) {
  const auto may_stand = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !name.empty() && name.size() <= max_label_name && std::ranges::all_of(name, may_stand);
}

std::expected<std::vector<Label>, Failure> labels_of(const nlohmann::json& params) {
  std::vector<Label> labels;
  const auto given = params.find("labels");
  if (given == params.end()) return labels;
  if (!given->is_object() || given->size() > max_labels) {
    return invalid("parameter \"labels\" must be an object of at most " +
                   std::to_string(max_labels) + " texts");
  }
  for (const auto& [name, value] : given->items()) {
    if (!is_label_name(name)) {
      return invalid("a label's name has 1 to 32 characters of a-z, 0-9, \"_\", \".\" and \"-\"");
    }
    if (!value.is_string() || value.get_ref<const std::string&>().size() > max_label_value ||
        !is_printable(value.get_ref<const std::string&>())) {
      return invalid("label \"" + name + "\" must be a text of at most 128 printable bytes");
    }
    labels.push_back({name, value.get<std::string>()});
  }
  return labels;
}

std::expected<std::string, Failure> role_of(const nlohmann::json& params) {
  const auto role = params.find("role");
  if (role == params.end()) return std::string{};
  if (!role->is_string() || role->get_ref<const std::string&>().empty()) {
    return invalid("parameter \"role\" must be the name of a role");
  }
  return role->get<std::string>();
}

std::expected<std::string, Failure> text_in(const nlohmann::json& params, const std::string& name) {
  const auto text = params.find(name);
  if (text == params.end()) return std::string{};
  if (!text->is_string() || text->get_ref<const std::string&>().empty()) {
    return invalid("parameter \"" + name + "\" must be a text");
  }
  return text->get<std::string>();
}

std::expected<PinRequest, Failure> pin_of(const nlohmann::json& params) {
  constexpr std::array<std::string_view, 4> kinds{"", "tool", "prompt", "template"};
  PinRequest pin;
  pin.name = CELLBLOCK_TRY(text_in(params, "name"));
  pin.kind = CELLBLOCK_TRY(text_in(params, "kind"));
  pin.digest = CELLBLOCK_TRY(text_in(params, "digest"));
  if (CELLBLOCK_TRY(flag_of(params, "definitions"))) pin.definitions = Definitions::texts;
  if (std::ranges::find(kinds, pin.kind) == kinds.end()) {
    return invalid(R"(parameter "kind" must be "tool", "prompt" or "template")");
  }
  if (Digest digest{}; !pin.digest.empty() && !read_hex(pin.digest, digest)) {
    return invalid("parameter \"digest\" must be 64 hexadecimal digits");
  }
  if (pin.name.empty() && !pin.digest.empty()) {
    return invalid("parameter \"digest\" needs the \"name\" whose it is");
  }
  return pin;
}

std::expected<std::uint64_t, Failure> approval_of(const nlohmann::json& params) {
  const auto number = params.find("approval");
  if (number == params.end()) return 0;
  if (number->is_number_unsigned() && *number != 0) return number->get<std::uint64_t>();
  return invalid("parameter \"approval\" must be the number of a call that waits");
}

std::expected<ApprovalWord, Failure> word_of(const nlohmann::json& params) {
  const std::uint64_t number = CELLBLOCK_TRY(approval_of(params));
  if (number == 0) return invalid("parameter \"approval\" is missing");
  const std::string word = CELLBLOCK_TRY(text_in(params, "word"));
  std::string digest = CELLBLOCK_TRY(text_in(params, "digest"));
  if (Digest shown{}; !digest.empty() && !read_hex(digest, shown)) {
    return invalid("parameter \"digest\" must be 64 hexadecimal digits");
  }
  if (word == "allow") return ApprovalWord{number, Approvals::Word::allow, std::move(digest)};
  if (word == "deny") return ApprovalWord{number, Approvals::Word::deny, std::move(digest)};
  return invalid(R"(parameter "word" must be "allow" or "deny")");
}

std::expected<ApprovalBeforehand, Failure> beforehand_of(const nlohmann::json& params) {
  constexpr std::uint64_t most =
      std::chrono::duration_cast<std::chrono::seconds>(Approvals::longest_beforehand).count();
  ApprovalBeforehand beforehand{.name = CELLBLOCK_TRY(text_in(params, "name"))};
  const auto seconds = params.find("seconds");
  const bool is_number = seconds != params.end() && seconds->is_number_unsigned();
  if (beforehand.name.empty() || beforehand.name.size() > longest_beforehand_name) {
    return invalid("parameter \"name\" must be that of a tool");
  }
  if (!is_number || seconds->get<std::uint64_t>() < 1 || seconds->get<std::uint64_t>() > most) {
    return invalid("parameter \"seconds\" must be a number from 1 to " + std::to_string(most));
  }
  beforehand.time = std::chrono::seconds(seconds->get<std::uint64_t>());
  return beforehand;
}

// All servers at once are none that could be probed, or that takes a directory.
std::expected<void, Failure> read_attach(const nlohmann::json& params, ControlRequest& request) {
  if (params.contains("server")) request.server = CELLBLOCK_TRY(server_of(params));
  if (CELLBLOCK_TRY(flag_of(params, "journal"))) request.journal = JournalOffer::offered;
  request.start = CELLBLOCK_TRY(start_of(params));
  request.labels = CELLBLOCK_TRY(labels_of(params));
  request.role = CELLBLOCK_TRY(role_of(params));
  request.tools = CELLBLOCK_TRY(tools_of(params));
  if (params.contains("resume")) request.resume = params["resume"].dump();
  const bool needs_one =
      request.workspace == WorkspaceOffer::offered || request.program == wire::CellProgram::probe;
  if (request.tools && request.program == wire::CellProgram::probe) {
    return invalid(R"("tools" is for a server, and a probe has one tool)");
  }
  if (request.server.empty() && needs_one) return invalid("parameter \"server\" is missing");
  return {};
}

// What a shape does not take was refused before, so it reads as absent here.
std::expected<ControlRequest, Failure> read(const nlohmann::json& params, const Shape& shape) {
  CELLBLOCK_CHECK(only_known_members(params, shape));
  ControlRequest request;
  request.method = shape.method;
  const bool is_attach = shape.method == ControlMethod::attach;
  if (shape.takes_server && !is_attach) request.server = CELLBLOCK_TRY(server_of(params));
  if (CELLBLOCK_TRY(flag_of(params, "stdio"))) request.stdio = StdioOffer::offered;
  if (CELLBLOCK_TRY(flag_of(params, "workspace"))) request.workspace = WorkspaceOffer::offered;
  if (CELLBLOCK_TRY(flag_of(params, "probe"))) request.program = wire::CellProgram::probe;
  if (CELLBLOCK_TRY(flag_of(params, "denied"))) request.log = LogKind::denied;
  if (CELLBLOCK_TRY(flag_of(params, "clear"))) request.home = wire::HomeAction::clear;
  request.lines = CELLBLOCK_TRY(lines_of(params));
  request.after = CELLBLOCK_TRY(after_of(params));
  const bool is_of_pins = shape.options.data() == pin_options;
  if (is_of_pins || shape.method == ControlMethod::pins)
    request.pin = CELLBLOCK_TRY(pin_of(params));
  if (shape.method == ControlMethod::pins && params.contains("server")) {
    request.server = CELLBLOCK_TRY(server_of(params));
  }
  if (shape.method == ControlMethod::approvals) {
    request.approval.number = CELLBLOCK_TRY(approval_of(params));
  }
  if (shape.method == ControlMethod::approve) request.approval = CELLBLOCK_TRY(word_of(params));
  if (shape.method == ControlMethod::approve_next) {
    request.beforehand = CELLBLOCK_TRY(beforehand_of(params));
  }
  if (is_attach) CELLBLOCK_CHECK(read_attach(params, request));
  return request;
}

}  // namespace

std::expected<ControlRequest, Failure> parse_control(std::string_view method,
                                                     std::string_view params) {
  const auto shape = std::ranges::find(shapes, method, &Shape::name);
  if (shape == shapes.end()) {
    return invalid("cellblock has no method \"" + std::string(method.substr(0, 64)) + "\"");
  }
  const bool is_attach = shape->method == ControlMethod::attach;
  if (params.size() > (is_attach ? max_attach_params : max_params))
    return invalid("the parameters are too large");
  const nlohmann::json object =
      params.empty() ? nlohmann::json::object()
                     : nlohmann::json::parse(params, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return invalid("the parameters must be an object");
  return read(object, *shape);
}

}  // namespace cellblock::gateway
