#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/gateway/io/byte_io.h"
#include "supervisor/gateway/session/host_link.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/child/attached_record.h"
#include "supervisor/launcher/run/descriptor_receivers.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/input.h"

// Everything that receives descriptors, fed with bytes and with descriptors of all kinds.
namespace {

using namespace cellblock;        // NOLINT(google-build-using-namespace)
using namespace cellblock::fuzz;  // NOLINT(google-build-using-namespace)
using gateway::IoStatus;
using launcher::AttachedRecord;
using launcher::GatewayRecord;

/// A record of fixed size: all that was sent, or an error and nothing.
void receive_record_of(Input& input) {
  const Pair pair = *make_seqpacket_pair();
  const auto plan = planned_descriptors(input);
  const std::string_view bytes = input.text(input.byte());
  if (!send_with(pair.second.get(), bytes, plan)) return;
  const std::size_t before = open_descriptors();
  wire::GatewayRequest request;
  {
    const auto received = receive_record(pair.first.get(), request, MSG_DONTWAIT);
    const bool whole = bytes.size() == sizeof request && plan.size() <= max_record_fds;
    CELLBLOCK_FUZZ_CHECK(received.has_value() == whole);
    if (received) {
      check_same(received->fds, plan);
    } else {
      CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
    }
  }
  CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
}

/// As a host speaks to a gateway: bytes of a stream, of which some come with descriptors.
void receive_stream(Input& input) {
  const Pair pair = *make_stream_pair();
  const auto plan = planned_descriptors(input);
  const std::string_view bytes = input.text(1U + input.byte());
  if (bytes.empty() || !send_with(pair.second.get(), bytes, plan)) return;
  const std::size_t before = open_descriptors();
  {
    std::vector<Fd> came;
    std::array<char, 64> into{};
    const auto result = gateway::read_with_descriptors(pair.first.get(), into, came);
    CELLBLOCK_FUZZ_CHECK(result.status == IoStatus::done && result.count <= into.size());
    if (plan.size() > gateway::max_handed_descriptors) {
      CELLBLOCK_FUZZ_CHECK(came.empty() && open_descriptors() == before);
    } else {
      check_same(came, plan);
      for (std::size_t i = 0; i < came.size(); ++i) {
        CELLBLOCK_FUZZ_CHECK(gateway::classify_foreign(came[i].get()).has_value() ==
                             is_stream(plan[i].kind));
        CELLBLOCK_FUZZ_CHECK(gateway::is_directory(came[i].get()) ==
                             is_directory_kind(plan[i].kind));
      }
    }
  }
  CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
}

AttachedRecord record_of(const launcher::AttachedChild& child) {
  AttachedRecord record;
  int status = 0;
  CELLBLOCK_FUZZ_CHECK(::waitpid(child.pid, &status, 0) == child.pid);
  CELLBLOCK_FUZZ_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CELLBLOCK_FUZZ_CHECK(receive_record(child.line.get(), record, MSG_DONTWAIT).has_value());
  return record;
}

/// What a gateway attaches never comes into the launcher: a child says what it was.
void receive_attached(int channel, std::string_view bytes, const std::vector<Planned>& plan) {
  const auto child = launcher::receive_attached_in_child(channel);
  CELLBLOCK_FUZZ_CHECK(child.has_value());
  const AttachedRecord record = record_of(*child);
  const bool is_one = plan.size() == 1 && bytes.size() == sizeof record.request;
  CELLBLOCK_FUZZ_CHECK((record.kind == AttachedRecord::Kind::request) == is_one);
  const bool is_directory = is_one && is_directory_kind(plan[0].kind);
  CELLBLOCK_FUZZ_CHECK((record.path_length != 0) == is_directory);
  CELLBLOCK_FUZZ_CHECK(record.directory().path.empty() != is_directory);
  if (!is_directory) return;
  launcher::DirectoryIdentity identity;
  CELLBLOCK_FUZZ_CHECK(launcher::identify_directory(plan[0].fd.get(), identity));
  CELLBLOCK_FUZZ_CHECK(record.identity == identity);
}

void receive_from_gateway(Input& input) {
  const Pair pair = *make_seqpacket_pair();
  const auto plan = planned_descriptors(input);
  const std::string_view bytes = input.text(input.byte());
  if (!send_with(pair.second.get(), bytes, plan)) return;
  const std::size_t before = open_descriptors();
  const GatewayRecord record = launcher::receive_from_gateway(pair.first.get());
  CELLBLOCK_FUZZ_CHECK((record.kind == GatewayRecord::Kind::attached) == !plan.empty());
  CELLBLOCK_FUZZ_CHECK((record.kind == GatewayRecord::Kind::request) ==
                       (plan.empty() && bytes.size() == sizeof record.request));
  if (record.kind == GatewayRecord::Kind::attached) {
    receive_attached(pair.first.get(), bytes, plan);
  }
  CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
}

/// A host's attach, over the link that a gateway has with it.
class Attach {
 public:
  Attach(Input& input, EventLoop& loop)
      : plan_(planned_descriptors(input)), offer_(offer_in(input)), pair_(*make_stream_pair()) {
    const std::size_t cut = input.byte();
    const std::string text = std::string(input.text(cut)) + "\n";
    // The line may come in two pieces, with the descriptors at the second.
    const bool apart = input.choice(2) != 0;
    if (apart && !send_with(pair_.second.get(), text.substr(0, text.size() / 2), {})) return;
    if (!send_with(pair_.second.get(), apart ? text.substr(text.size() / 2) : text, plan_)) return;
    link_ = std::make_unique<gateway::HostLink>(
        loop, std::move(pair_.first), gateway::HostLink::Bounds{512, 512},
        gateway::HostLink::Receiver{.line = [this](auto) { line(); },
                                    .too_long = [](auto) {},
                                    .ended = [](auto) {},
                                    .turn_done = [] {},
                                    .arrived = [](auto) {}});
    for (int i = 0; i < 2 && !taken_; ++i) CELLBLOCK_FUZZ_CHECK(loop.turn().has_value());
    // Its other end is closed, whatever was handed over: there is something to read, its end.
    if (has_stdio_) CELLBLOCK_FUZZ_CHECK(loop.turn().has_value());
    link_->close();
    link_->flush();
  }

 private:
  static gateway::DescriptorOffer offer_in(Input& input) {
    const unsigned bits = input.byte();
    gateway::DescriptorOffer offer;
    if ((bits & 1U) != 0) offer.stdio = gateway::StdioOffer::offered;
    if ((bits & 2U) != 0) offer.workspace = gateway::WorkspaceOffer::offered;
    // control_request.cc takes no journal without stdio.
    if ((bits & 5U) == 5U) offer.journal = gateway::JournalOffer::offered;
    return offer;
  }

  void line() {
    if (taken_) return;
    taken_ = true;
    const auto taken = link_->take_descriptors(offer_);
    const Fd workspace = link_->take_workspace();
    const auto journal = link_->take_journal();
    CELLBLOCK_FUZZ_CHECK(workspace.valid() ==
                         (taken.workspace == gateway::WorkspaceFound::directory));
    CELLBLOCK_FUZZ_CHECK((journal != nullptr) == taken.journal);
    check(taken);
    has_stdio_ = taken.stdio;
    if (taken.stdio) link_->to_mcp(std::array<std::string_view, 2>{"{}", "\n"});
  }

  void check(const gateway::DescriptorsTaken& taken) const {
    const bool complete = plan_.size() == offer_.count();
    const bool may_stdio = complete && offer_.stdio == gateway::StdioOffer::offered &&
                           is_stream(plan_[0].kind) && is_stream(plan_[1].kind);
    CELLBLOCK_FUZZ_CHECK(!taken.stdio || may_stdio);
    const bool may_journal = may_stdio && offer_.journal == gateway::JournalOffer::offered &&
                             plan_[2].kind == Kind::sealed_memory;
    CELLBLOCK_FUZZ_CHECK(!taken.journal || may_journal);
    const bool may_workspace = complete && offer_.workspace == gateway::WorkspaceOffer::offered &&
                               is_directory_kind(plan_.back().kind);
    CELLBLOCK_FUZZ_CHECK(taken.workspace != gateway::WorkspaceFound::directory || may_workspace);
  }

  std::vector<Planned> plan_;
  gateway::DescriptorOffer offer_;
  Pair pair_;
  std::unique_ptr<gateway::HostLink> link_;
  bool taken_ = false;
  bool has_stdio_ = false;
};

void attach(Input& input) {
  auto loop = EventLoop::make();
  CELLBLOCK_FUZZ_CHECK(loop.has_value());
  const Attach attached(input, **loop);
}

}  // namespace

/// The first byte of each step chooses who receives. Nothing stays open behind any of them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::signal(SIGPIPE, SIG_IGN);  // as every process of ours does
  Input input(data, size);
  const std::size_t before = open_descriptors();
  for (int steps = 0; steps < 16 && !input.at_end(); ++steps) {
    switch (input.choice(4)) {
      case 0:
        receive_record_of(input);
        break;
      case 1:
        receive_stream(input);
        break;
      case 2:
        receive_from_gateway(input);
        break;
      default:
        attach(input);
        break;
    }
  }
  CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
  return 0;
}
