#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/import/read/bundle_archive.h"

namespace cellblock::cli {
namespace {

using ::testing::HasSubstr;

using Members = std::vector<std::pair<std::string, std::string>>;

class BundleArchive : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cellblock-bundle-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string packed(const Members& members) const {
    const std::string path = directory_ / "x.mcpb";
    archive* to = ::archive_write_new();
    ::archive_write_set_format_zip(to);
    EXPECT_EQ(::archive_write_open_filename(to, path.c_str()), ARCHIVE_OK);
    for (const auto& [name, text] : members) {
      archive_entry* entry = ::archive_entry_new();
      ::archive_entry_set_pathname(entry, name.c_str());
      ::archive_entry_set_filetype(entry, AE_IFREG);
      ::archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
      EXPECT_EQ(::archive_write_header(to, entry), ARCHIVE_OK);
      ::archive_write_data(to, text.data(), text.size());
      ::archive_entry_free(entry);
    }
    ::archive_write_free(to);
    return path;
  }
  std::string written(const std::string& bytes) const {
    const std::string path = directory_ / "y.json";
    std::ofstream(path) << bytes;
    return path;
  }
  static std::string mistake_in(const std::string& path) {
    const auto manifest = packed_manifest(path, 100);
    return manifest ? "none" : manifest.error().text;
  }

  std::filesystem::path directory_;
};

TEST_F(BundleArchive, HasItsManifestReadWhereverItStands) {
  for (const Members& members : {Members{{"manifest.json", "{}"}},
                                 Members{{"server/index.js", "x"}, {"manifest.json", "{}"}},
                                 Members{{"./manifest.json", "{}"}}}) {
    const auto path = packed(members);
    EXPECT_TRUE(is_zip(path));
    EXPECT_EQ(packed_manifest(path, 100).value_or("none"), "{}");
  }
}

TEST_F(BundleArchive, WithoutAManifestAtItsRootIsNone) {
  EXPECT_THAT(mistake_in(packed({{"server/manifest.json", "{}"}})), HasSubstr("no manifest.json"));
}

TEST_F(BundleArchive, ThatIsNotThereIsRefusedByItsName) {
  EXPECT_EQ(mistake_in(directory_ / "gone.mcpb"),
            (directory_ / "gone.mcpb").string() + ": No such file or directory");
}

TEST_F(BundleArchive, WithALongManifestIsRefused) {
  EXPECT_THAT(mistake_in(packed({{"manifest.json", std::string(101, ' ')}})),
              HasSubstr("longer than 100 bytes"));
}

TEST_F(BundleArchive, ThatIsCutShortIsRefused) {
  const auto path = packed({{"manifest.json", std::string(90, 'x')}});
  std::filesystem::resize_file(path, 60);
  EXPECT_NE(mistake_in(path), "none");
}

TEST_F(BundleArchive, IsNotWhatDoesNotBeginLikeOne) {
  EXPECT_FALSE(is_zip(written("{}")));
  EXPECT_FALSE(is_zip(written("")));
  EXPECT_FALSE(is_zip(directory_));
  EXPECT_FALSE(is_zip(directory_ / "absent"));
}

}  // namespace
}  // namespace cellblock::cli
