#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/translate/bridge.h"

/// Feeds a bridge by hand and keeps what it says.
namespace cellblock::gateway {

using namespace std::chrono_literals;
using Tree = nlohmann::ordered_json;

class BridgeRig : public BridgeEffects {
 public:
  virtual ~BridgeRig() = default;

  void to_host(std::string_view text) override { host_.push_back(Tree::parse(text)); }
  void to_server(std::string_view text) override { server_.push_back(Tree::parse(text)); }
  void record(const AuditNote& note) override { notes_.emplace_back(note.reason); }
  void set_deadline(std::optional<Milliseconds> from_now) override {
    due_ = from_now ? std::optional(now_ + *from_now) : std::nullopt;
  }

  void from_host(Bridge& bridge, const std::string& text) {
    bridge.from_host(scanned(text), message_, now_);
  }
  void from_server(Bridge& bridge, const std::string& text) {
    bridge.from_server(scanned(text), message_, now_);
  }

  /// Lets time pass, and the deadline come where it lies in it.
  void pass(Bridge& bridge, Milliseconds time) {
    now_ += time;
    while (due_ && *due_ <= now_) {
      due_.reset();
      bridge.deadline(now_);
    }
  }

  std::vector<Tree> take_host() { return std::exchange(host_, {}); }
  std::vector<Tree> take_server() { return std::exchange(server_, {}); }
  /// The only thing said since the last look.
  Tree host() { return only(take_host()); }
  Tree server() { return only(take_server()); }
  bool is_silent() const { return host_.empty() && server_.empty(); }

  std::vector<std::string> notes_;
  std::optional<Time> due_;
  Time now_{1'000s};

 private:
  static Tree only(std::vector<Tree> said) {
    if (said.size() != 1) throw std::runtime_error("said " + Tree(said).dump());
    return said.front();
  }

  std::string_view scanned(const std::string& text) {
    line_ = text;
    const std::size_t size = line_.size();
    line_.append(MessageScanner::padding, ' ');
    auto message = scanner_.scan({line_.data(), size});
    if (!message) throw std::runtime_error(message.error().detail + ": " + text);
    message_ = std::move(*message);
    return {line_.data(), size};
  }

  std::vector<Tree> host_;
  std::vector<Tree> server_;
  MessageScanner scanner_;
  Message message_;
  std::string line_;
};

inline std::string request(const Tree& id, std::string_view method, Tree params = {}) {
  Tree message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  return message.dump();
}

inline std::string notification(std::string_view method, Tree params = {}) {
  Tree message{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  return message.dump();
}

inline std::string result(const Tree& id, const Tree& value) {
  return Tree{{"jsonrpc", "2.0"}, {"id", id}, {"result", value}}.dump();
}

inline std::string error(const Tree& id, int code, std::string_view text, Tree data = {}) {
  Tree object{{"code", code}, {"message", text}};
  if (!data.is_null()) object["data"] = std::move(data);
  return Tree{{"jsonrpc", "2.0"}, {"id", id}, {"error", object}}.dump();
}

}  // namespace cellblock::gateway
