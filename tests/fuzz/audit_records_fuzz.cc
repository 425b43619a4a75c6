#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/audit/chain.h"
#include "policy/audit/log_verifier.h"
#include "supervisor/audit/audit_writer.h"
#include "supervisor/ipc/audit_wire.h"
#include "supervisor/os/helper_process.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/input.h"

// A whole life of the audit writer: what the supervisor orders and what gateways tell is sent
// first, then it runs to its end. Whatever came, the log is one chain of whole lines, and no line
// says that it is another gateway's than the one whose socket it came from.
namespace {

using namespace cellblock;         // NOLINT(google-build-using-namespace)
using namespace cellblock::audit;  // NOLINT(google-build-using-namespace)
using namespace cellblock::fuzz;   // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

constexpr std::string_view boot = "0123456789abcdef";

std::string text_of(int file) {
  const auto bytes = read_all(file, 8U << 20, Sealing::any).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Fd appending(const Fd& file) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  return open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_APPEND).value();
}

struct Teller {
  std::uint32_t uid = 0;
  std::uint64_t gateway = 0;
  bool is_supervisor = false;
  Fd socket;
};

class Life {
 public:
  explicit Life(Input& input) : input_(input) {
    Pair pair = make_seqpacket_pair().value();
    control_ = std::move(pair.first);
    writer_end_ = std::move(pair.second);
    add_file();
  }

  void send_everything() {
    wire::AuditOrder begin{.kind = wire::AuditOrders::begin};
    begin.max_bytes = input_.choice(2) == 0 ? 0 : input_.number<std::uint16_t>();
    std::vector<Planned> fds;
    if (input_.choice(4) == 0) fds = planned_descriptors(input_);
    if (input_.choice(16) == 0) input_.fill(begin);
    send_order(begin, fds);
    for (int steps = 0; steps < 64 && !input_.at_end(); ++steps) step();
    // What the writer asks for is not read, but can be sent.
    ::shutdown(control_.get(), SHUT_WR);
  }

  Result<void> run() {
    LogFiles files{.log = appending(files_[0]),
                   .written = duplicate(files_[0].get()).value(),
                   .former = Fd(::memfd_create("former", MFD_CLOEXEC))};
    AuditWriter writer(std::move(writer_end_), std::move(files), std::string(boot));
    return writer.run();
  }

  void check_log(bool ended_well) {
    LogVerifier verifier;
    for (const Fd& file : files_) {
      const std::string text = text_of(file.get());
      if (text.empty()) continue;
      verifier.begin_file(std::to_string(file.get()));
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        CELLBLOCK_FUZZ_CHECK(end != std::string::npos);
        check_line(std::string_view(text).substr(at, end - at));
        verifier.line(std::string_view(text).substr(at, end - at));
        at = end + 1;
      }
    }
    const LogReport report = verifier.finish();
    CELLBLOCK_FUZZ_CHECK(report.last == at_);
    CELLBLOCK_FUZZ_CHECK(!ended_well || closed_);
  }

 private:
  void add_file() { files_.emplace_back(::memfd_create("log", MFD_CLOEXEC)); }

  void send_order(const wire::AuditOrder& order, const std::vector<Planned>& fds) {
    send_with(control_.get(), {reinterpret_cast<const char*>(&order), sizeof order}, fds);
  }

  void add_teller(bool is_supervisor) {
    Pair pair = make_seqpacket_pair().value();
    Teller teller{input_.byte(), input_.choice(8), is_supervisor, std::move(pair.first)};
    std::vector<Planned> fds;
    fds.push_back({Kind::record_socket, std::move(pair.second)});
    send_order({.kind = is_supervisor ? wire::AuditOrders::own_source : wire::AuditOrders::source,
                .uid = teller.uid,
                .gateway = teller.gateway},
               fds);
    known_.push_back({teller.uid, teller.gateway, is_supervisor});
    tellers_.push_back(std::move(teller));
  }

  void step() {
    switch (input_.choice(8)) {
      case 0:
        return add_teller(input_.choice(4) == 0);
      case 1: {  // what no supervisor orders
        wire::AuditOrder order;
        input_.fill(order);
        // The log would go on in a file that nobody looks into.
        if (order.kind == wire::AuditOrders::next_file) order.kind = wire::AuditOrders::begin;
        return send_order(order, planned_descriptors(input_));
      }
      case 2: {
        add_file();
        std::vector<Planned> fds;
        fds.push_back({Kind::memory, appending(files_.back())});
        return send_order({.kind = wire::AuditOrders::next_file}, fds);
      }
      case 3:
        if (!tellers_.empty()) tellers_[input_.byte() % tellers_.size()].socket.reset();
        return;
      default:
        return tell();
    }
  }

  wire::AuditRecord sound_record() {
    wire::AuditRecord record;
    record.kind = static_cast<wire::AuditKind>(1 + input_.choice(15));
    record.outcome = static_cast<wire::AuditOutcome>(input_.choice(5));
    record.method = static_cast<wire::AuditMethod>(input_.choice(3));
    record.number = ++number_;
    record.server_length = static_cast<std::uint8_t>(input_.choice(65));
    record.tool_length = static_cast<std::uint8_t>(input_.choice(129));
    input_.fill(record.server, record.server_length);
    input_.fill(record.tool, record.tool_length);
    input_.fill(record.reason, input_.choice(64));
    if (input_.choice(4) == 0) input_.fill(record.arguments);
    if (input_.choice(4) == 0) {
      constexpr std::string_view sound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      std::ranges::copy(sound, record.traceparent.begin());
    }
    return record;
  }

  void tell() {
    if (tellers_.empty()) return;
    const Teller& teller = tellers_[input_.byte() % tellers_.size()];
    if (!teller.socket.valid()) return;
    wire::AuditRecord record = sound_record();
    const std::string text(input_.text(input_.byte()));
    record.text_length = static_cast<std::uint16_t>(text.size());
    // Then some of its bytes anew.
    if (input_.choice(3) == 0) {
      auto* const bytes = reinterpret_cast<char*>(&record);
      bytes[input_.number<std::uint16_t>() % sizeof record] = static_cast<char>(input_.byte());
    }
    unsent_.append(reinterpret_cast<const char*>(&record), sizeof record).append(text);
    if (input_.choice(4) == 0 && unsent_.size() < wire::max_audit_packet) return;  // one more
    std::string packet = std::exchange(unsent_, {});
    if (input_.choice(16) == 0) packet.resize(input_.number<std::uint16_t>() % 6000);
    std::vector<Planned> plan;
    if (input_.choice(16) == 0) plan = planned_descriptors(input_);
    send_with(teller.socket.get(), packet, plan);
  }

  void check_line(std::string_view line) {
    CELLBLOCK_FUZZ_CHECK(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; }));
    const auto sealed = sealed_line(line);
    CELLBLOCK_FUZZ_CHECK(sealed.has_value());
    CELLBLOCK_FUZZ_CHECK(chained(at_.hash, sealed->body) == sealed->hash);
    CELLBLOCK_FUZZ_CHECK(sealed->sequence == at_.sequence + 1);
    at_ = {sealed->sequence, sealed->hash};
    const Json json = Json::parse(line, nullptr, false);
    CELLBLOCK_FUZZ_CHECK(json.is_object() && json.at("boot") == boot);
    closed_ = json.at("kind") == "log_closed";
    if (!json.contains("uid")) return;
    const auto gateway = std::stoull(json.at("gateway").get<std::string>(), nullptr, 16);
    const auto is_it = [&](const auto& one) {
      return std::get<0>(one) == json.at("uid").get<std::uint32_t>() &&
             std::get<1>(one) == gateway && std::get<2>(one) == (json.at("kind") == "switched");
    };
    CELLBLOCK_FUZZ_CHECK(std::ranges::any_of(known_, is_it));
  }

  Input& input_;
  Fd control_;
  Fd writer_end_;
  std::vector<Fd> files_;
  std::vector<Teller> tellers_;
  std::vector<std::tuple<std::uint32_t, std::uint64_t, bool>> known_;
  std::uint64_t number_ = 0;
  std::string unsent_;  ///< of the next packet
  ChainPoint at_;
  bool closed_ = false;  ///< by the last line
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (ignore_broken_pipes(), true);
  static_cast<void>(ready);
  Input input(data, size);
  const std::size_t before = open_descriptors();
  {
    Life life(input);
    life.send_everything();
    life.check_log(life.run().has_value());
  }
  CELLBLOCK_FUZZ_CHECK(open_descriptors() == before);
  return 0;
}
