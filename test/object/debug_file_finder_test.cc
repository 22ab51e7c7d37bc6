// SPDX-License-Identifier: Apache-2.0
#include "lib/object/debug_file_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "test/support/elf_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::IsOk;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;

std::string Debug(std::string_view build_id) {
  ElfBuilder elf;
  elf.AddSymbol("secret", 0x1000, 16, elf.AddCode(".text", 0x1000, 64));
  if (!build_id.empty()) elf.AddBuildId(build_id);
  return elf.Build();
}

std::string Stripped(std::string_view build_id, std::string_view link, uint32_t crc) {
  ElfBuilder elf;
  elf.AddCode(".text", 0x1000, 64);
  if (!build_id.empty()) elf.AddBuildId(build_id);
  std::string section(link);
  section.resize((section.size() + 4) / 4 * 4);
  for (int shift = 0; shift < 32; shift += 8) section.push_back(static_cast<char>(crc >> shift & 0xff));
  if (!link.empty()) elf.AddSection(".gnu_debuglink", SHT_PROGBITS, 0, 0, section);
  return elf.Build();
}

std::vector<std::string> Verdicts(const DebugFile& found) {
  std::vector<std::string> verdicts;
  for (const DebugFileCandidate& candidate : found.tried) verdicts.push_back(candidate.verdict);
  return verdicts;
}

class DebugFileFinderTest : public ::testing::Test {
 protected:
  DebugFile Find(const std::string& content) {
    const std::string path = tree_.Write("bin/prog", content);
    auto elf = ElfImage::Open(path);
    EXPECT_THAT(elf, IsOk());
    const std::vector<std::string> directories = {tree_.Path("debug")};
    return FindDebugFile(*elf, path, directories);
  }
  TempTree tree_;
};

TEST_F(DebugFileFinderTest, ByBuildId) {
  const std::string path = tree_.Write("debug/.build-id/61/626364.debug", Debug("abcd"));
  const DebugFile found = Find(Stripped("abcd", "", 0));
  ASSERT_TRUE(found.elf);
  EXPECT_EQ(found.path, path);
  EXPECT_THAT(Verdicts(found), ElementsAre("used"));
}

TEST_F(DebugFileFinderTest, AWrongFileUnderTheRightBuildIdIsRefused) {
  tree_.Write("debug/.build-id/61/626364.debug", Debug("xxxx"));
  const DebugFile found = Find(Stripped("abcd", "", 0));
  EXPECT_FALSE(found.elf);
  EXPECT_THAT(Verdicts(found), ElementsAre("other build-id"));
}

TEST_F(DebugFileFinderTest, ByLinkInEachPlace) {
  const std::string debug = Debug("");
  const uint32_t crc = Crc32(AsBytes(debug));
  const std::string places[] = {"bin/prog.debug", "bin/.debug/prog.debug",
                                "debug" + tree_.Path("bin") + "/prog.debug"};
  for (const std::string& place : places) {
    const TempTree fresh;
    const std::string path = fresh.Write("bin/prog", Stripped("", "prog.debug", crc));
    const std::string wanted =
        place.starts_with("debug") ? "debug" + fresh.Path("bin") + "/prog.debug" : place;
    fresh.Write(wanted, debug);
    ASSERT_OK_AND_ASSIGN(const ElfImage elf, ElfImage::Open(path));
    const std::vector<std::string> directories = {fresh.Path("debug")};
    const DebugFile found = FindDebugFile(elf, path, directories);
    EXPECT_TRUE(found.elf) << place;
    EXPECT_EQ(found.path, fresh.Path(wanted));
  }
}

TEST_F(DebugFileFinderTest, TheCrcDecides) {
  tree_.Write("bin/prog.debug", Debug(""));
  const DebugFile found = Find(Stripped("", "prog.debug", 0x12345678));
  EXPECT_FALSE(found.elf);
  EXPECT_THAT(Verdicts(found), ElementsAre("other CRC", "not found", "not found"));
}

TEST_F(DebugFileFinderTest, ALinkThatLeadsElsewhereIsNone) {
  EXPECT_TRUE(Find(Stripped("", "../../etc/passwd", 0)).tried.empty());
  EXPECT_TRUE(Find(Stripped("", "", 0)).tried.empty());
}

TEST_F(DebugFileFinderTest, DamagedMiniDebugInfoIsNone) {
  ElfBuilder elf;
  elf.AddSection(".gnu_debugdata", SHT_PROGBITS, 0, 0,
                 "\xfd"
                 "7zXZ junk");
  const std::string path = tree_.Write("prog", elf.Build());
  ASSERT_OK_AND_ASSIGN(const ElfImage image, ElfImage::Open(path));
  EXPECT_FALSE(ReadMiniDebugInfo(image));
}

class AlternateFileTest : public ::testing::Test {
 protected:
  static std::string WithLink(const std::string& name, const std::string& build_id) {
    ElfBuilder elf;
    elf.AddSection(".gnu_debugaltlink", SHT_PROGBITS, 0, 0, name + '\0' + build_id);
    return elf.Build();
  }
  std::string Find(const std::string& content) {
    const std::string path = tree_.Write("lib/prog.debug", content);
    const auto elf = ElfImage::Open(path);
    EXPECT_THAT(elf, IsOk());
    const std::vector<std::string> directories = {tree_.Path("debug")};
    return FindAlternateFile(*elf, path, directories).path;
  }
  const TempTree tree_;
};

TEST_F(AlternateFileTest, BesideTheFileElseByBuildId) {
  tree_.Write("debug/.dwz/common", Debug("aaaa"));
  EXPECT_EQ(Find(WithLink("../dwz/common", "aaaa")), tree_.Path("debug/.dwz/common"));
  tree_.Write("debug/.build-id/61/616161.debug", Debug("aaaa"));
  EXPECT_EQ(Find(WithLink("../dwz/common", "aaaa")), tree_.Path("debug/.build-id/61/616161.debug"));
  tree_.Write("dwz/common", Debug("aaaa"));
  EXPECT_EQ(Find(WithLink("../dwz/common", "aaaa")), tree_.Path("lib/../dwz/common"));
  EXPECT_EQ(Find(WithLink(tree_.Path("dwz/common"), "aaaa")), tree_.Path("dwz/common"));
}

TEST_F(AlternateFileTest, AnotherBuildIsNotUsed) {
  tree_.Write("dwz/common", Debug("bbbb"));
  EXPECT_EQ(Find(WithLink("../dwz/common", "aaaa")), "");
  EXPECT_EQ(Find(WithLink("", "aaaa")), "");
  EXPECT_EQ(Find(WithLink("../dwz/common", "")), "");
  EXPECT_EQ(Find(Debug("aaaa")), "") << "no link";
}

}  // namespace
}  // namespace ksamp
