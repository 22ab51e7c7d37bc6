// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/perf_map_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/capability.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsRoot;
using ::ksamp::testing::TempTree;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNoMap[] = "[anonymous memory without a perf-PID.map]";

class PerfMapSymbolizerTest : public ::testing::Test {
 protected:
  PerfMapSymbolizerTest() {
    options_.proc_root = tree_.Path("proc");
    tree_.Write("proc/sys/kernel/hostname", "box\n");
    tree_.Write("proc/sys/kernel/osrelease", "6.1.0\n");
    options_.kernel.hostname = "box";
    options_.kernel.os_release = "6.1.0";
    image_.kind = ImageKind::kAnonymous;
    image_.path = "//anon";
    image_.pid = 77;
    image_.start = ProcessAddress(0x10000);
    image_.end = ProcessAddress(0x20000);
  }
  // Process 77, number 5 in its own namespace, with code where the image is.
  void Run(const std::string& maps = "00010000-00020000 rwxp 00000000 00:00 0 \n") {
    tree_.Write("proc/77/status", StrCat("Uid:\t", geteuid(), "\t", geteuid(), "\nNSpid:\t77\t5\n"));
    tree_.Write("proc/77/maps", maps);
    tree_.MakeDirectory("proc/77/root/tmp");
  }
  ImageSymbols Resolve(std::vector<uint64_t> addresses = {0x10010}) {
    return PerfMapSymbolizer(options_).Resolve(image_, addresses);
  }
  static std::vector<std::string> Names(const ImageSymbols& found) {
    std::vector<std::string> names;
    for (const ResolvedAddress& address : found.addresses)
      names.push_back(address.symbol ? found.symbols[*address.symbol].name
                                     : StrCat("[", Text(address.reason), "]"));
    return names;
  }

  TempTree tree_;
  SymbolizerOptions options_;
  Image image_;
};

TEST_F(PerfMapSymbolizerTest, TheRecordingsMapComesFirst) {
  Run();
  tree_.Write("proc/77/root/tmp/perf-5.map", "10000 100 live\n");
  options_.perf_maps[77] = "10000 100 recorded\n10200 10 other\n";
  const ImageSymbols found = Resolve({0x10000, 0x100ff, 0x10100, 0x10200});
  EXPECT_THAT(Names(found), ElementsAre("recorded", "recorded", "[no symbol covers the address]", "other"));
  EXPECT_EQ(found.addresses[1].elf, ElfAddress(0x100ff));
  EXPECT_EQ(found.symbols[0].start, 0x10000u);
  EXPECT_EQ(found.symbols[0].size, 0x100u);
  EXPECT_EQ(found.file, "recording's perf-77.map");
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(PerfMapSymbolizerTest, ARunningProcessIsAskedInItsOwnNumbers) {
  Run();
  const std::string path = tree_.Write("proc/77/root/tmp/perf-5.map", "10000 100 live\n");
  tree_.Write("proc/77/root/tmp/perf-77.map", "10000 100 of_another\n");
  const ImageSymbols found = Resolve();
  EXPECT_THAT(Names(found), ElementsAre("live"));
  EXPECT_EQ(found.file, path);
  options_.live_machine = false;
  EXPECT_THAT(Names(Resolve()), ElementsAre(kNoMap));
  options_.live_machine = true;
  options_.kernel.hostname = "another";
  EXPECT_THAT(Names(Resolve()), ElementsAre(kNoMap)) << "process 77 of this machine is nobody's business";
}

TEST_F(PerfMapSymbolizerTest, APidThatIsAnotherProcessByNowNamesNothing) {
  Run("00010000-00020000 rw-p 00000000 00:00 0 \n00400000-00500000 r-xp 00000000 00:00 0 \n");
  tree_.Write("proc/77/root/tmp/perf-5.map", "10000 100 live\n");
  EXPECT_THAT(Names(Resolve()), ElementsAre(kNoMap));
}

TEST_F(PerfMapSymbolizerTest, AnEndedProcesssMapIsFoundBelowTheRoot) {
  options_.root = tree_.Path("image");
  options_.live_machine = false;
  tree_.Write("image/tmp/perf-77.map", "10000 100 left_behind\n");
  EXPECT_THAT(Names(Resolve()), ElementsAre("left_behind"));
}

TEST_F(PerfMapSymbolizerTest, WhatIsNotBelievedIsTold) {
  KSAMP_REQUIRE(IsRoot());
  Run();
  const std::string path = tree_.Write("proc/77/root/tmp/perf-5.map", "10000 100 forged\n");
  ASSERT_EQ(chown(path.c_str(), 1001, 1001), 0);
  const ImageSymbols found = Resolve();
  EXPECT_THAT(Names(found), ElementsAre(kNoMap));
  EXPECT_THAT(found.notes, Contains(HasSubstr("belongs to user 1001, its process to user 0; not used")));
}

TEST_F(PerfMapSymbolizerTest, DamagedLinesAreTold) {
  options_.perf_maps[77] = "10000 100 good\nrubbish\n";
  const ImageSymbols found = Resolve();
  EXPECT_THAT(Names(found), ElementsAre("good"));
  EXPECT_THAT(found.notes,
              ElementsAre("recording's perf-77.map: 1 lines are not \"start size name\"; left out"));
}

TEST_F(PerfMapSymbolizerTest, WithoutAMapTheReasonSaysSo) {
  Run();
  const ImageSymbols found = Resolve();
  EXPECT_THAT(Names(found), ElementsAre(kNoMap));
  EXPECT_THAT(found.notes, IsEmpty());
}

}  // namespace
}  // namespace ksamp
