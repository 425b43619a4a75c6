#include "supervisor/audit/audit_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

/// The writer runs to its end on sockets that were filled before: nothing here waits.
namespace cellblock::audit {
namespace {

class AuditWriterTest : public ::testing::Test {
 protected:
  AuditWriterTest() {
    Pair pair = make_seqpacket_pair().value();
    control_ = std::move(pair.first);
    log_ = Fd(::memfd_create("log", MFD_CLOEXEC));
    writer_.emplace(std::move(pair.second), duplicate(log_.get()).value(), "boot");
  }

  /// The gateway's end.
  Fd add_source(std::uint32_t uid) const {
    Pair pair = make_seqpacket_pair().value();
    const std::array<int, 1> fds{pair.second.get()};
    EXPECT_TRUE(send_record(control_.get(), wire::AuditSource{uid}, fds));
    return std::move(pair.first);
  }

  Result<void> run_to_the_end() {
    control_.reset();
    return writer_->run();
  }

  std::vector<nlohmann::json> lines() const {
    const auto bytes = read_all(log_.get(), 1U << 20, Sealing::any).value();
    std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    std::vector<nlohmann::json> parsed;
    for (std::string line; std::getline(text, line);) parsed.push_back(nlohmann::json::parse(line));
    return parsed;
  }

  Fd control_;
  Fd log_;
  std::optional<AuditWriter> writer_;
};

wire::AuditRecord record_of(std::uint64_t session) {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::session_opened;
  record.session = session;
  return record;
}

TEST_F(AuditWriterTest, StampsEachRecordWithItsSourcesUserAndANumber) {
  const Fd alice = add_source(1000);
  const Fd bob = add_source(1001);
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  ASSERT_TRUE(send_record(bob.get(), record_of(2)));
  ASSERT_TRUE(run_to_the_end());
  ASSERT_EQ(lines().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(lines()[i].at("seq"), i + 1);
    EXPECT_EQ(lines()[i].at("uid"), lines()[i].at("session") == 1 ? 1000 : 1001);
  }
}

TEST_F(AuditWriterTest, WritesWhatWasSentBeforeTheSupervisorLetItGo) {
  const Fd alice = add_source(1000);
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(send_record(alice.get(), record_of(i)));
  ASSERT_TRUE(run_to_the_end());
  EXPECT_EQ(lines().size(), 20U);
}

TEST_F(AuditWriterTest, ClosesOnlyTheSourceThatSendsNonsense) {
  const Fd alice = add_source(1000);
  const Fd bob = add_source(1001);
  ASSERT_TRUE(send_record(alice.get(), wire::AuditSource{7}));
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  ASSERT_TRUE(send_record(bob.get(), record_of(2)));
  ASSERT_TRUE(run_to_the_end());
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0].at("session"), 2);
}

TEST_F(AuditWriterTest, EndsWithAnErrorWhenTheLogCannotBeWritten) {
  Pair pair = make_seqpacket_pair().value();
  control_ = std::move(pair.first);
  writer_.emplace(std::move(pair.second), open_at(AT_FDCWD, "/dev/full", O_WRONLY).value(), "boot");
  const Fd alice = add_source(1000);
  ASSERT_TRUE(send_record(alice.get(), record_of(1)));
  EXPECT_FALSE(run_to_the_end());
}

TEST_F(AuditWriterTest, TakesASourceWithoutASocketForABrokenSupervisor) {
  ASSERT_TRUE(send_record(control_.get(), wire::AuditSource{1}));
  EXPECT_FALSE(run_to_the_end());
}

}  // namespace
}  // namespace cellblock::audit
