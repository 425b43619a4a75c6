#include "supervisor/audit/audit_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <vector>

#include "policy/audit/log_verifier.h"

/// The writer runs to its end on sockets that were filled before: nothing here waits.
namespace cellblock::audit {
namespace {

std::string text_of(const Fd& file) {
  const auto bytes = read_all(file.get(), 1U << 20, Sealing::any).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class AuditWriterTest : public ::testing::Test {
 protected:
  /// As the supervisor starts one, over the log as it is.
  void start_writer(std::uint64_t max_bytes = 0) {
    Pair pair = make_seqpacket_pair().value();
    control_ = std::move(pair.first);
    const wire::AuditOrder begin{.kind = wire::AuditOrders::begin, .max_bytes = max_bytes};
    std::vector<int> fds;
    if (journal_.valid()) fds.push_back(journal_.get());
    ASSERT_TRUE(send_record(control_.get(), begin, fds));
    LogFiles files{.log = std::move(log_),
                   .written = duplicate(file_.get()).value(),
                   .former = duplicate(former_.get()).value()};
    writer_.emplace(std::move(pair.second), std::move(files), "boot");
    log_ = appending(file_);
  }

  static Fd appending(const Fd& file) {
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    return open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_APPEND).value();
  }

  /// The gateway's end.
  Fd add_source(std::uint32_t uid, std::uint64_t gateway = 1) const {
    Pair pair = make_seqpacket_pair().value();
    const std::array<int, 1> fds{pair.second.get()};
    const wire::AuditOrder order{.kind = wire::AuditOrders::source, .uid = uid, .gateway = gateway};
    EXPECT_TRUE(send_record(control_.get(), order, fds));
    return std::move(pair.first);
  }

  Result<void> run_to_the_end() {
    control_.reset();
    return writer_->run();
  }

  std::vector<nlohmann::json> all_lines() const {
    std::istringstream text(text_of(file_));
    std::vector<nlohmann::json> parsed;
    for (std::string line; std::getline(text, line);) parsed.push_back(nlohmann::json::parse(line));
    return parsed;
  }

  /// Those that gateways sent.
  std::vector<nlohmann::json> lines() const {
    auto parsed = all_lines();
    std::erase_if(parsed, [](const auto& line) { return !line.contains("gateway"); });
    return parsed;
  }

  static LogReport verify(const std::vector<std::string>& files) {
    LogVerifier verifier;
    for (const std::string& file : files) {
      verifier.begin_file("log");
      std::string_view text = file;
      for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        verifier.line(text.substr(0, end));
        text.remove_prefix(end + 1);
      }
      verifier.rest(text);
    }
    return verifier.finish();
  }

  Fd file_{::memfd_create("log", MFD_CLOEXEC)};
  Fd former_{::memfd_create("former", MFD_CLOEXEC)};
  Fd log_ = appending(file_);
  Fd journal_;  ///< that the writer is to tell
  Fd control_;
  std::optional<AuditWriter> writer_;
};

wire::AuditRecord record_of(std::uint64_t session, std::uint64_t number = 1) {
  wire::AuditRecord record;
  record.number = number;
  record.kind = wire::AuditKind::session_opened;
  record.session = session;
  return record;
}

TEST_F(AuditWriterTest, StampsEachRecordWithItsSourcesUserAndGateway) {
  start_writer();
  const Fd alice = add_source(1000, 0xa);
  const Fd bob = add_source(1001, 0xb);
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  ASSERT_TRUE(send_record(bob.get(), record_of(2)));
  ASSERT_TRUE(run_to_the_end());
  ASSERT_EQ(lines().size(), 2U);
  for (const nlohmann::json& line : lines()) {
    const bool is_alices = line.at("session") == 1;
    EXPECT_EQ(line.at("uid"), is_alices ? 1000 : 1001);
    EXPECT_EQ(line.at("gateway"), is_alices ? "000000000000000a" : "000000000000000b");
  }
}

TEST_F(AuditWriterTest, WritesWhatWasSentBeforeTheSupervisorLetItGo) {
  start_writer();
  const Fd alice = add_source(1000);
  for (std::uint64_t i = 1; i <= 20; ++i) ASSERT_TRUE(send_record(alice.get(), record_of(i, i)));
  ASSERT_TRUE(run_to_the_end());
  EXPECT_EQ(lines().size(), 20U);
  EXPECT_EQ(all_lines().front().at("kind"), "log_opened");
  EXPECT_EQ(all_lines().back().at("kind"), "log_closed");
  EXPECT_THAT(verify({text_of(file_)}).findings, ::testing::IsEmpty());
}

TEST_F(AuditWriterTest, TellsAGatewayWhatOfItsRecordsIsWritten) {
  start_writer();
  const Fd alice = add_source(1000);
  for (std::uint64_t i = 1; i <= 20; ++i) ASSERT_TRUE(send_record(alice.get(), record_of(i, i)));
  ASSERT_TRUE(run_to_the_end());
  wire::AuditWritten written;
  std::uint64_t last = 0;
  while (receive_record(alice.get(), written, MSG_DONTWAIT)) last = written.number;
  EXPECT_EQ(last, 20U);
  // An anchor: that line is there, with that hash.
  const nlohmann::json line = lines().back();
  EXPECT_EQ(line.at("seq"), written.sequence);
  EXPECT_EQ(line.at("hash"), hex_of(written.hash));
}

TEST_F(AuditWriterTest, TellsTheJournalOfEachRecordWhereItStandsInTheLog) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()), 0);
  journal_ = Fd(ends[0]);
  const Fd journal(ends[1]);
  start_writer();
  const Fd alice = add_source(1000);
  wire::AuditRecord record = record_of(1);
  record.kind = wire::AuditKind::call;
  constexpr std::string_view tool = "a\nMESSAGE=b";
  std::ranges::copy(tool, record.tool.begin());
  record.tool_length = tool.size();
  ASSERT_TRUE(send_record(alice.get(), record));
  ASSERT_TRUE(run_to_the_end());
  std::array<char, 4096> bytes{};
  const ssize_t size = ::recv(journal.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 0);
  const std::string entry(bytes.data(), static_cast<std::size_t>(size));
  EXPECT_THAT(entry, ::testing::StartsWith("MESSAGE=call"));
  EXPECT_THAT(entry, ::testing::HasSubstr("\nCELLBLOCK_UID=1000\n"));
  EXPECT_THAT(entry, ::testing::HasSubstr("\nCELLBLOCK_TOOL=a\\nMESSAGE=b\n"));
  const nlohmann::json line = lines().back();
  EXPECT_THAT(entry, ::testing::HasSubstr("\nCELLBLOCK_SEQ=" + line.at("seq").dump() + "\n"));
  EXPECT_THAT(entry, ::testing::HasSubstr(line.at("hash").get<std::string>()));
}

TEST_F(AuditWriterTest, ClosesOnlyTheSourceThatSendsNonsense) {
  start_writer();
  const Fd alice = add_source(1000, 1);
  const Fd bob = add_source(1001, 2);
  ASSERT_TRUE(send_record(alice.get(), wire::AuditWritten{7}));
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  ASSERT_TRUE(send_record(bob.get(), record_of(2)));
  ASSERT_TRUE(run_to_the_end());
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0].at("session"), 2);
}

TEST_F(AuditWriterTest, WritesEachRecordOfAPacketWithItsText) {
  start_writer();
  const Fd alice = add_source(1000);
  AuditPacket packet;
  wire::AuditRecord call = record_of(1);
  call.kind = wire::AuditKind::call;
  ASSERT_TRUE(packet.add(call, R"({"a":1})"));
  ASSERT_TRUE(packet.add(record_of(2, 2), {}));
  ASSERT_TRUE(packet.send(alice.get()));
  ASSERT_TRUE(run_to_the_end());
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines()[0].at("arguments"), R"({"a":1})");
  EXPECT_EQ(lines()[1].at("session"), 2);
}

TEST_F(AuditWriterTest, WritesNothingOfAPacketWhoseLastTextIsCutShort) {
  start_writer();
  const Fd alice = add_source(1000);
  std::array<wire::AuditRecord, 2> records{record_of(1), record_of(2, 2)};
  records[1].text_length = 1;
  ASSERT_TRUE(send_record(alice.get(), std::as_bytes(std::span(records))));
  ASSERT_TRUE(run_to_the_end());
  EXPECT_TRUE(lines().empty());
}

TEST_F(AuditWriterTest, TakesNoNumberOfAGatewayTwice) {
  start_writer();
  const Fd alice = add_source(1000);
  ASSERT_TRUE(send_record(alice.get(), record_of(1, 3)));
  ASSERT_TRUE(send_record(alice.get(), record_of(2, 3)));
  ASSERT_TRUE(run_to_the_end());
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(AuditWriterTest, EndsWithAnErrorWhenTheLogCannotBeWritten) {
  log_ = open_at(AT_FDCWD, "/dev/full", O_WRONLY).value();
  start_writer();
  EXPECT_FALSE(run_to_the_end());
}

TEST_F(AuditWriterTest, TakesASourceWithoutASocketForABrokenSupervisor) {
  start_writer();
  ASSERT_TRUE(send_record(control_.get(), wire::AuditOrder{.kind = wire::AuditOrders::source}));
  EXPECT_FALSE(run_to_the_end());
}

TEST_F(AuditWriterTest, GoesOnWithTheChainOfTheWriterBeforeIt) {
  for (std::uint64_t life = 1; life <= 3; ++life) {
    start_writer();
    const Fd alice = add_source(1000);
    ASSERT_TRUE(send_record(alice.get(), record_of(life, life)));
    ASSERT_TRUE(run_to_the_end());
  }
  const LogReport report = verify({text_of(file_)});
  EXPECT_THAT(report.findings, ::testing::IsEmpty());
  EXPECT_EQ(report.lines, 9U);
}

TEST_F(AuditWriterTest, MarksWhatAKilledOneLeftOfItsLastLineWhereverItWasCut) {
  start_writer();
  const Fd alice = add_source(1000);
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  ASSERT_TRUE(run_to_the_end());
  const std::string whole = text_of(file_);
  const std::size_t first_line = whole.find('\n') + 1;
  for (std::size_t kept = first_line; kept < whole.size(); kept += 7) {
    ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
    ASSERT_TRUE(write_all(appending(file_).get(), whole.substr(0, kept)));
    start_writer();
    ASSERT_TRUE(run_to_the_end());
    const std::string text = text_of(file_);
    EXPECT_EQ(text.substr(0, kept), whole.substr(0, kept)) << "nothing is cut away";
    const LogReport report = verify({text});
    EXPECT_EQ(report.broken, 0U) << kept;
    EXPECT_FALSE(report.findings.empty()) << kept;
  }
}

TEST_F(AuditWriterTest, RefusesALogThatIsNotItsOwn) {
  ASSERT_TRUE(write_all(log_.get(), "{\"kind\":\"call\"}\n"));
  start_writer();
  EXPECT_FALSE(run_to_the_end());
  EXPECT_EQ(text_of(file_), "{\"kind\":\"call\"}\n");
}

TEST_F(AuditWriterTest, AsksForTheNextFileAndGoesOnThereWithTheChain) {
  start_writer(1);
  const Fd next(::memfd_create("next", MFD_CLOEXEC));
  const Fd alice = add_source(1000);
  const Fd next_log = appending(next);
  const std::array<int, 1> fds{next_log.get()};
  const wire::AuditOrder order{.kind = wire::AuditOrders::next_file};
  // In this order: the writer asks as soon as it has begun, before it reads any of these.
  ASSERT_TRUE(send_record(control_.get(), order, fds));
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  const Fd control = duplicate(control_.get()).value();
  ::shutdown(control_.get(), SHUT_WR);
  ASSERT_TRUE(run_to_the_end());
  wire::AuditTell tell;
  ASSERT_TRUE(receive_record(control.get(), tell, MSG_DONTWAIT));
  EXPECT_EQ(tell.kind, wire::AuditTells::file_full);
  EXPECT_THAT(text_of(file_), ::testing::HasSubstr(R"("kind":"log_closed","reason":"rotated")"));
  EXPECT_THAT(text_of(next), ::testing::HasSubstr(R"("kind":"log_opened","reason":"rotated")"));
  EXPECT_THAT(verify({text_of(file_), text_of(next)}).findings, ::testing::IsEmpty());
  EXPECT_THAT(verify({text_of(next)}).findings, ::testing::IsEmpty());
}

TEST_F(AuditWriterTest, AsksForTheNextFileByTheRulesThatItWasToldLast) {
  start_writer();
  const wire::AuditOrder rules{
      .kind = wire::AuditOrders::rules, .durability = wire::Durability::synced, .max_bytes = 1};
  ASSERT_TRUE(send_record(control_.get(), rules));
  const Fd alice = add_source(1000);
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  const Fd control = duplicate(control_.get()).value();
  ::shutdown(control_.get(), SHUT_WR);
  ASSERT_TRUE(run_to_the_end());
  wire::AuditTell tell;
  ASSERT_TRUE(receive_record(control.get(), tell, MSG_DONTWAIT));
  EXPECT_EQ(tell.kind, wire::AuditTells::file_full);
}

TEST_F(AuditWriterTest, FindsTheChainInTheFormerFileWhereItDiedBetweenTheTwo) {
  start_writer();
  ASSERT_TRUE(run_to_the_end());
  std::swap(file_, former_);
  log_ = appending(file_);
  start_writer();
  ASSERT_TRUE(run_to_the_end());
  EXPECT_THAT(verify({text_of(former_), text_of(file_)}).findings, ::testing::IsEmpty());
  EXPECT_EQ(all_lines().front().at("seq"), 3);
}

TEST_F(AuditWriterTest, TakesNoFileThatItDidNotAskFor) {
  start_writer();
  const std::array<int, 1> fds{log_.get()};
  ASSERT_TRUE(
      send_record(control_.get(), wire::AuditOrder{.kind = wire::AuditOrders::next_file}, fds));
  EXPECT_FALSE(run_to_the_end());
}

}  // namespace
}  // namespace cellblock::audit
