#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/json_tree.h"

/// What a legacy host has told its server, as far as the next cell of it must be told: `initialize`
/// and that it was answered, the log level, and subscriptions. When a cell has ended, the next one
/// is told again, and the host goes on. Pure: messages in, messages to say out.
namespace cellblock::gateway {

class SessionReplay {
 public:
  static constexpr std::size_t max_bytes = 256U << 10;  ///< of all that is kept
  static constexpr std::size_t most_subscriptions = 512;
  static constexpr std::size_t most_awaited = 256;

  enum class Outcome : std::uint8_t {
    none,
    agreed,   ///< rest() is to be said, and then what the host says
    refused,  ///< the session cannot go on: refusal()
  };

  /// Every message of the host, before it is routed.
  void from_host(std::string_view line, const Message& message);
  /// Whether answers to the host are to be shown to answered() now.
  bool listens() const { return !awaited_.empty(); }
  /// An answer on its way to the host. True: it goes no further.
  bool answered(std::string_view line, const Message& message);

  /// The host has a session which another cell can be told of.
  bool is_possible() const { return introduced_ && !is_too_much_; }
  /// No cell knows of it any more.
  void cell_lost();
  /// Another object tells the next cell of it.
  void carried() { is_due_ = false; }
  /// The cell at hand is to be told, before anything else is said to it.
  bool is_due() const { return is_due_ && is_possible(); }
  bool is_under_way() const { return is_under_way_; }
  bool has_subscriptions() const { return !subscriptions_.empty(); }

  /// The `initialize`, without its newline.
  std::string begin();
  /// What has become of it; once.
  Outcome take_outcome();
  std::vector<std::string> rest();
  /// The end of a sentence.
  const std::string& refusal() const { return refusal_; }

  /// Changes whenever kept() may have changed.
  std::uint64_t changes() const { return changes_; }
  /// For another gateway; null: there is nothing to tell. nullopt: it is too much.
  std::optional<Json> kept() const;
  /// From a non-null value of kept(); is_due() holds then. nullopt: the value is not valid.
  static std::optional<SessionReplay> from_kept(const Json& kept);

  /// What the host has been promised to hear of, and may have missed: notifications.
  std::vector<std::string> missed() const;

 private:
  enum class What : std::uint8_t { introduction, level, subscription };
  /// A request of the host: its answer decides whether it is kept. A request of our own: the host
  /// does not see it.
  struct Awaited {
    std::string id;  ///< raw JSON
    What what{};
    std::string said;  ///< raw JSON: params, level or URI
    bool is_own = false;
  };

  void request(std::string_view line, const Message& message);
  void await(Awaited awaited);
  void forget(std::string_view id);
  std::string ask(What what, std::string_view method, const std::string& params, std::string said);
  void keep(Awaited asked, std::string_view result);
  void introduced(std::string params, std::string_view result);
  void answered_anew(std::string_view line, const Message& message);
  void refuse(std::string why);
  void weigh();

  std::vector<Awaited> awaited_;
  bool introduced_ = false;
  std::string params_;  ///< of `initialize`, raw JSON
  std::string version_;
  Json capabilities_;  ///< of the server, as the host was told
  bool is_initialized_ = false;
  std::string level_;  ///< raw JSON; empty: none
  std::vector<std::string> subscriptions_;
  bool is_too_much_ = false;

  std::uint64_t changes_ = 1;
  bool is_due_ = false;
  bool is_under_way_ = false;
  std::uint64_t last_id_ = 0;
  Outcome outcome_ = Outcome::none;
  std::string refusal_;
};

}  // namespace cellblock::gateway
