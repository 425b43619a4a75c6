#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "supervisor/gateway/message/control_request.h"

/// One cellblock/attach: the request, its descriptors, and its answer. Pure.
namespace cellblock::gateway {

/// What is to come with the attach request as descriptors: [0] and [1] stdio, then the memory for
/// the journal, the last one the workspace. Exactly as many as are announced, or none counts.
struct DescriptorOffer {
  StdioOffer stdio = StdioOffer::none;
  WorkspaceOffer workspace = WorkspaceOffer::none;
  JournalOffer journal = JournalOffer::none;

  std::size_t count() const {
    return (stdio == StdioOffer::offered ? 2U : 0U) + (journal == JournalOffer::offered ? 1U : 0U) +
           (workspace == WorkspaceOffer::offered ? 1U : 0U);
  }
};

enum class WorkspaceFound : std::uint8_t {
  none,       ///< none was announced
  directory,  ///< an open directory: whether it is an allowed one is for the launcher to find out
  unusable,   ///< no directory, or not as many descriptors as were announced
};

struct DescriptorsTaken {
  bool stdio = false;    ///< MCP goes over the handed descriptors
  bool journal = false;  ///< it is written
  WorkspaceFound workspace = WorkspaceFound::none;
};

class Attachment {
 public:
  Attachment() = default;
  Attachment(std::string_view id, const ControlRequest& request)
      : id_(id),
        offer_{request.stdio, request.workspace, request.journal},
        program_(request.program) {}

  const std::string& id() const { return id_; }
  const DescriptorOffer& offer() const { return offer_; }
  wire::CellProgram program() const { return program_; }
  /// For the audit log; empty: a plain session.
  std::string_view purpose() const;
  bool has_stdio() const { return taken_.stdio; }
  bool has_workspace() const { return taken_.workspace == WorkspaceFound::directory; }

  void take(DescriptorsTaken taken) { taken_ = taken; }

  /// Why what came with it does not suit this server.
  std::optional<Failure> refusal(const Server& server) const;

  /// `server`: null: all of them. `cell`: 0: none yet.
  std::string answer(const Server* server, std::uint64_t session, std::uint64_t cell,
                     std::string_view role) const;

 private:
  std::string id_;
  DescriptorOffer offer_;
  wire::CellProgram program_ = wire::CellProgram::server;
  DescriptorsTaken taken_;
};

}  // namespace cellblock::gateway
