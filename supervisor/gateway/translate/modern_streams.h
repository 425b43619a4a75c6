#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/translate/bridge.h"

/// A modern host's streams (subscriptions/listen), fed by a legacy server's subscriptions: each
/// resource is subscribed to once, however many streams want it, until the last of them ends.
namespace cellblock::gateway {

class ModernStreams {
 public:
  static constexpr std::size_t max_streams = 32;
  static constexpr std::size_t max_resources = 512;  ///< of all streams
  /// Bound of the messages before a stream's acknowledgement, for each stream. Beyond it they are
  /// dropped.
  static constexpr std::size_t max_early_bytes = 256U << 10;

  ModernStreams(Outbox& out, BridgeIds& ids) : out_(out), ids_(ids) {}

  /// Acknowledged as soon as the server has answered for each resource; what it refused, or what
  /// its capabilities lack, is not among what is honoured.
  void open(std::string_view host_id, const Json& params, const Json& server_capabilities);
  bool has(std::string_view host_id) const;
  /// False: no such stream. There is no answer then.
  bool cancel(std::string_view host_id);

  enum class Subscribed : std::uint8_t { yes, refused };
  /// False: `ours` is none of its requests.
  bool answered(std::uint64_t own_id, Subscribed how);

  /// A notification of the server; false: not one for streams.
  bool notified(std::string_view method, const Json& params);

  void fail_all(const Failure& failure);
  /// The host has gone.
  void clear();
  std::size_t size() const { return streams_.size(); }
  bool hears(mcp::ListKind kind) const;
  Listening listening() const {
    if (!resources_.empty()) return Listening::more;
    return streams_.empty() ? Listening::nothing : Listening::lists;
  }

 private:
  static constexpr std::size_t list_count = 3;
  struct Stream {
    std::string id;  ///< the host's, raw JSON
    std::array<bool, list_count> lists{};
    std::vector<std::string> resources;
    std::vector<std::string> early;  ///< what came before it was acknowledged
    bool acknowledged = false;
  };
  struct Resource {
    std::string uri;
    std::size_t streams = 0;
    std::uint64_t asking = 0;  ///< our request; 0: the server has agreed
  };

  Stream stream_for(std::string_view host_id, const Json& wanted, const Json& capabilities);
  void take(const std::string& uri);
  void give_back(const std::string& uri);
  bool is_asking(const Stream& stream) const;
  void acknowledge_ready();
  void acknowledge(Stream& stream);
  void tell(Stream& stream, std::string_view method, const Json& params);
  Resource* find(std::string_view uri);

  Outbox& out_;
  BridgeIds& ids_;
  std::vector<Stream> streams_;
  std::vector<Resource> resources_;
};

}  // namespace cellblock::gateway
