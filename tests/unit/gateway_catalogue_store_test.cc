#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "supervisor/gateway/catalogue/catalogue_file.h"
#include "supervisor/gateway/catalogue/catalogue_store.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::gateway {
namespace {

constexpr std::uint64_t max_bytes = 1U << 20;

KeptCatalogue sample() {
  KeptCatalogue kept;
  kept.catalogue.era = Era::modern;
  kept.catalogue.protocol_version = "2026-07-28";
  kept.catalogue.server_info = R"({"name":"s"})";
  kept.catalogue.capabilities = R"({"tools":{}})";
  kept.catalogue.instructions = "do \"this\"\n";
  kept.catalogue.lists.at(0) = R"([{"name":"a","description":"ä"}])";
  kept.catalogue.found_at_ms = 1'700'000'000'000;
  kept.eras = {.legacy = Speaks::no, .modern = Speaks::yes};
  kept.findings[Finding::cut] = 3;
  return kept;
}

Server named(const std::string& name) {
  Server server;
  server.name = name;
  server.fingerprint.fill(7);
  return server;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(CatalogueFile, ComesBackAsItWas) {
  const Server server = named("git");
  const std::string bytes = catalogue_file(server.fingerprint, sample());
  EXPECT_EQ(read_catalogue_file(bytes, server.fingerprint), sample());
}

TEST(CatalogueFile, OfAnotherFingerprintIsNone) {
  Server server = named("git");
  const std::string bytes = catalogue_file(server.fingerprint, sample());
  server.fingerprint[31] ^= 1;
  EXPECT_EQ(read_catalogue_file(bytes, server.fingerprint), std::nullopt);
}

TEST(CatalogueFile, IsNoneAtEveryLengthButItsOwn) {
  const Server server = named("git");
  const std::string bytes = catalogue_file(server.fingerprint, sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(read_catalogue_file(bytes.substr(0, length), server.fingerprint), std::nullopt);
  }
  EXPECT_EQ(read_catalogue_file(bytes + "x", server.fingerprint), std::nullopt);
}

TEST(CatalogueFile, IsNoneWithAnyOfItsBytesChanged) {
  const Server server = named("git");
  const std::string bytes = catalogue_file(server.fingerprint, sample());
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x20);
    EXPECT_EQ(read_catalogue_file(damaged, server.fingerprint), std::nullopt) << place;
  }
}

TEST(CatalogueFile, OfAnotherVersionIsNone) {
  const Server server = named("git");
  std::string bytes = catalogue_file(server.fingerprint, sample());
  bytes.replace(bytes.find("-1 "), 3, "-2 ");
  EXPECT_EQ(read_catalogue_file(bytes, server.fingerprint), std::nullopt);
}

TEST(CatalogueFile, WithARightDigestAndWrongContentIsNone) {
  const Server server = named("git");
  for (const auto& spoil :
       {+[](KeptCatalogue& kept) { kept.catalogue.lists[0] = "{}"; },
        +[](KeptCatalogue& kept) { kept.catalogue.lists[0] = "[{\"name\":\"\"}]"; },
        +[](KeptCatalogue& kept) { kept.catalogue.protocol_version = "2099"; },
        +[](KeptCatalogue& kept) { kept.catalogue.capabilities = "[]"; },
        +[](KeptCatalogue& kept) { kept.catalogue.instructions = "\u202e"; },
        +[](KeptCatalogue& kept) { kept.eras.legacy = Speaks{9}; },
        +[](KeptCatalogue& kept) { kept.catalogue.era = Era{2}; }}) {
    KeptCatalogue kept = sample();
    spoil(kept);
    const std::string bytes = catalogue_file(server.fingerprint, kept);
    EXPECT_EQ(read_catalogue_file(bytes, server.fingerprint), std::nullopt);
  }
}

class StoreTest : public ::testing::Test {
 protected:
  CatalogueStore open() const {
    auto store = CatalogueStore::open(scratch.path());
    EXPECT_TRUE(store);
    return std::move(*store);
  }
  std::string path() const { return scratch.path() + "/git.catalogue"; }

  ScratchDirectory scratch;
  const Server server = named("git");
};

TEST_F(StoreTest, KeepsACatalogueForTheNextGateway) {
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  EXPECT_EQ(open().load(server, max_bytes), sample());
  EXPECT_EQ(open().load(named("other"), max_bytes), std::nullopt);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

TEST_F(StoreTest, ReplacesTheOldOne) {
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  KeptCatalogue newer = sample();
  newer.catalogue.instructions = "newer";
  ASSERT_TRUE(open().save(server, newer, max_bytes));
  EXPECT_EQ(open().load(server, max_bytes), newer);
}

TEST_F(StoreTest, TakesADamagedFileForNoneAndReplacesIt) {
  overwrite(path(), "garbage");
  EXPECT_EQ(open().load(server, max_bytes), std::nullopt);
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  EXPECT_EQ(open().load(server, max_bytes), sample());
}

TEST_F(StoreTest, FollowsNoLinkAndReplacesIt) {
  const std::string elsewhere = scratch.path() + "/elsewhere";
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  std::filesystem::rename(path(), elsewhere);
  const std::string before = content(elsewhere);
  ASSERT_EQ(::symlink("elsewhere", path().c_str()), 0);
  EXPECT_EQ(open().load(server, max_bytes), std::nullopt);
  KeptCatalogue newer = sample();
  newer.catalogue.instructions = "newer";
  ASSERT_TRUE(open().save(server, newer, max_bytes));
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path())));
  EXPECT_EQ(content(elsewhere), before);
}

TEST_F(StoreTest, WritesThroughNoLinkThatLiesInItsWay) {
  const std::string victim = scratch.write("victim", "mine", 0600);
  ASSERT_EQ(::symlink("victim", (scratch.path() + "/.git.catalogue").c_str()), 0);
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  EXPECT_EQ(content(victim), "mine");
  EXPECT_EQ(open().load(server, max_bytes), sample());
}

TEST_F(StoreTest, WaitsForNoPipeInPlaceOfAFile) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(open().load(server, max_bytes), std::nullopt);
}

TEST_F(StoreTest, ReadsNoFileThatIsTooLarge) {
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  ASSERT_EQ(::truncate(path().c_str(), static_cast<off_t>(max_catalogue_file(max_bytes)) + 1), 0);
  EXPECT_EQ(open().load(server, max_bytes), std::nullopt);
}

TEST_F(StoreTest, RemovesWhatIsOfNoDeclaredServer) {
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  ASSERT_TRUE(open().save(named("gone"), sample(), max_bytes));
  scratch.write(".git.catalogue", "half", 0600);
  scratch.make_directory("directory", 0700);
  ASSERT_TRUE(open().remove_others({server}));
  EXPECT_TRUE(std::filesystem::exists(path()));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/gone.catalogue"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/.git.catalogue"));
}

TEST_F(StoreTest, ForgetsWhatItIsTold) {
  ASSERT_TRUE(open().save(server, sample(), max_bytes));
  EXPECT_TRUE(open().remove(server));
  EXPECT_TRUE(open().remove(server));
  EXPECT_EQ(open().load(server, max_bytes), std::nullopt);
}

TEST_F(StoreTest, SaysWhatItCannotWrite) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes where nobody may";
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0500), 0);
  const auto saved = open().save(server, sample(), max_bytes);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().number, EACCES);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0700), 0);
}

}  // namespace
}  // namespace cellblock::gateway
