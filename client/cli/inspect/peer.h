#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellblock/session.h"
#include "client/cli/inspect/envelope.h"
#include "client/cli/tool_rows/list_kind.h"

namespace cellblock::cli {

/// The other side of an inspection: one session, in one era, a request at a time. While it waits,
/// and whenever its context runs, notifications, frames and questions reach the handlers of Options
/// (which of the modern era's questions come between two requests).
class Peer {
 public:
  struct Settings {
    Era era = Era::legacy;
    Interaction interaction = Interaction::none;
    std::chrono::milliseconds start_timeout{60'000};
    std::chrono::milliseconds call_timeout{60'000};
  };

  Peer(Settings settings, client::Options options);

  /// Given the error of a lost connection, who knows better says what ended it. Asked once.
  using LossExplainer = std::function<client::Error(client::Error)>;
  void explain_loss_with(LossExplainer explainer) { explainer_ = std::move(explainer); }
  /// What ended the connection that this error tells of.
  client::Error loss(const client::Error& error);

  /// Connects, attaches, and says hello as its era does.
  client::Result<void> open(const std::string& server, const client::AttachOptions& with);

  /// The whole answer to the hello: who the server is.
  const std::string& introduction() const { return introduction_; }

  /// Questions of the server are answered where a person can answer them.
  client::Result<std::string> ask(const std::string& method, nlohmann::ordered_json params);

  /// Nothing done about what comes back.
  client::Result<std::string> ask_once(const std::string& method, nlohmann::ordered_json params);

  client::Result<void> notify(const std::string& method, const nlohmann::ordered_json& params);

  /// All pages, within the bounds of client::Limits.
  client::Result<std::vector<nlohmann::ordered_json>> list(ListKind kind);

  /// Ends what is being asked, if anything is; from inside the context.
  void cancel();
  bool is_asking() const { return asking_ > 0; }

  Era era() const { return settings_.era; }

  boost::asio::io_context& context() { return context_; }

 private:
  template <class T, class Start>
  client::Result<T> wait(Start start);
  client::Result<void> greet();
  void answer(nlohmann::ordered_json& params, const InputNeeded& needed);
  nlohmann::ordered_json answer_to(const nlohmann::ordered_json& question);
  void pause();

  Settings settings_;
  client::RequestHandler on_request_;
  client::Limits limits_;
  boost::asio::io_context context_{1};
  client::Session session_;
  LossExplainer explainer_;
  std::optional<client::Error> loss_;
  std::string introduction_;
  std::uint64_t next_token_ = 1;
  unsigned asking_ = 0;  ///< how deep: a request of a list, a round of a call
  bool cancelled_ = false;
};

}  // namespace cellblock::cli
