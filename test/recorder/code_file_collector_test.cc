// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/code_file_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/base/compression.h"
#include "lib/base/str_cat.h"
#include "lib/event/attr_builder.h"
#include "lib/event/record_encoder.h"
#include "test/support/capability.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsRoot;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct CodeFileCollectorTest : ::testing::Test {
  CodeFileCollectorTest() {
    tree.MakeDirectory("proc");
    EventSpec dummy;
    const perf_event_attr attr = BuildSamplingAttr(dummy, {});
    layout = *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
    collector.emplace(*ProcFs::Open(tree.Path("proc")), layout);
  }
  // A process that is number 5 inside.
  void Run(int pid, uid_t user = geteuid()) {
    tree.MakeDirectory(StrCat("proc/", pid, "/root/tmp"));
    tree.Write(StrCat("proc/", pid, "/status"),
               StrCat("Uid:\t", user, "\t", user, "\nNSpid:\t", pid, "\t5\n"));
  }
  std::string WriteMap(int pid, std::string_view text) {
    return tree.Write(StrCat("proc/", pid, "/root/tmp/perf-5.map"), text);
  }
  void End(int pid) { std::filesystem::rename(tree.Path(StrCat("proc/", pid)), tree.Path("ended")); }

  void Notice(RecordBody body) {
    ByteWriter out;
    ASSERT_OK(EncodeRecord({.id = {}, .body = std::move(body)}, layout, out));
    collector->Notice(out.bytes());
  }
  void Map(uint32_t pid, std::string_view path = "//anon", uint32_t protection = PROT_READ | PROT_EXEC,
           uint64_t address = 0x7f0000000000) {
    MmapRecord map;
    map.mode = CpuMode::kUser;
    map.has_protection = true;
    map.pid = map.tid = pid;
    map.addr = address;
    map.length = 0x1000;
    map.protection = protection;
    map.path = path;
    Notice(map);
  }
  void Exit(uint32_t pid, uint32_t tid) {
    ExitRecord exit;
    exit.pid = pid;
    exit.tid = tid;
    Notice(exit);
  }
  // "PID PATH: TEXT" of each file taken.
  std::vector<std::string> Take() {
    std::vector<std::string> files;
    for (const perfdata::PackedCodeFile& file : collector->Take())
      files.push_back(StrCat(file.pid, " ", file.path, ": ",
                             AsText(Decompress(Compression::kZstd, file.frame, 1 << 20).value())));
    return files;
  }

  TempTree tree;
  SampleLayout layout;
  std::optional<CodeFileCollector> collector;
};

TEST_F(CodeFileCollectorTest, TheMapOfARunningProcessIsCopiedAtTheEnd) {
  Run(77);
  Map(77);
  WriteMap(77, "1000 10 f\n");
  EXPECT_THAT(Take(), ElementsAre("77 /tmp/perf-5.map: 1000 10 f\n"));
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(collector->notes(), IsEmpty());
}

TEST_F(CodeFileCollectorTest, OnlyExecutableMemoryWithoutAFileIsOfInterest) {
  const struct {
    const char* path;
    uint32_t protection;
    uint64_t address;
    bool watched;
  } cases[] = {
      {"//anon", PROT_READ | PROT_EXEC, 0x10000, true},
      {"[heap]", PROT_READ | PROT_EXEC, 0x10000, true},
      {"/memfd:doublemapper (deleted)", PROT_READ | PROT_EXEC, 0x10000, true},
      {"//anon", PROT_READ | PROT_WRITE, 0x10000, false},
      {"/usr/lib/libc.so.6", PROT_READ | PROT_EXEC, 0x10000, false},
      {"[vdso]", PROT_READ | PROT_EXEC, 0x10000, false},
      {"[uprobes]", PROT_READ | PROT_EXEC, 0x10000, false},
      {"[vsyscall]", PROT_EXEC, 0xffffffffff600000, false},
  };
  Run(77);
  WriteMap(77, "1000 10 f\n");
  for (const auto& c : cases) {
    Map(77, c.path, c.protection, c.address);
    EXPECT_EQ(Take().size(), c.watched ? 1u : 0u) << c.path;
  }
}

TEST_F(CodeFileCollectorTest, AProcessThatEndedIsReadThroughWhatWasHeldOfIt) {
  Run(77);
  Map(77);
  WriteMap(77, "1000 10 f\n");
  End(77);
  Exit(77, 78);
  Exit(77, 77);
  EXPECT_THAT(Take(), ElementsAre("77 /tmp/perf-5.map: 1000 10 f\n"));
}

TEST_F(CodeFileCollectorTest, AMapThatIsTakenAwayStaysReadableOnceOpened) {
  Run(77);
  Map(77);
  const std::string path = WriteMap(77, "1000 10 f\n");
  collector->Open();
  std::filesystem::remove(path);
  EXPECT_THAT(Take(), ElementsAre("77 /tmp/perf-5.map: 1000 10 f\n"));
}

TEST_F(CodeFileCollectorTest, AMapThatIsReplacedIsTakenAsItIsAtTheEnd) {
  Run(77);
  Map(77);
  const std::string path = WriteMap(77, "1000 10 old\n");
  collector->Open();
  std::filesystem::remove(path);
  WriteMap(77, "1000 10 new\n");
  EXPECT_THAT(Take(), ElementsAre("77 /tmp/perf-5.map: 1000 10 new\n"));
}

TEST_F(CodeFileCollectorTest, APidThatIsUsedAgainHasTwoMaps) {
  Run(77);
  Map(77);
  WriteMap(77, "1000 10 first\n");
  Exit(77, 77);
  WriteMap(77, "1000 10 second\n");
  Map(77);
  EXPECT_THAT(Take(),
              ElementsAre("77 /tmp/perf-5.map: 1000 10 first\n", "77 /tmp/perf-5.map: 1000 10 second\n"));
}

TEST_F(CodeFileCollectorTest, WhatIsNotBelievedIsTold) {
  KSAMP_REQUIRE(IsRoot());
  Run(77, 1000);
  Map(77);
  ASSERT_EQ(chown(WriteMap(77, "1000 10 forged\n").c_str(), 1001, 1001), 0);
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(collector->notes(), ElementsAre(HasSubstr("belongs to user 1001, its process to user 1000")));
}

TEST_F(CodeFileCollectorTest, AJitdumpIsKeptWithoutItsCode) {
  Run(77);
  ByteWriter dump;
  for (const uint32_t field : {0x4a695444u, 1u, 40u, 62u, 0u, 5u}) dump.Put(field);
  for (const uint64_t field : {9, 0}) dump.Put(field);
  for (const uint32_t field : {0u, 16u + 40 + 2 + 8}) dump.Put(field);
  dump.Put<uint64_t>(10);
  for (const uint64_t field : {0, 0x1000, 0x1000, 8, 1}) dump.Put(field);
  dump.PutBytes(AsBytes("f"));
  dump.PutZeros(1 + 8);
  tree.Write("proc/77/root/home/jit-5.dump", AsText(dump.bytes()));
  Map(77, "/home/jit-5.dump", PROT_READ);
  EXPECT_THAT(Take(), IsEmpty()) << "not executable: not mapped to show it";
  Map(77, "/home/jit-5.dump");
  collector->Open();
  std::filesystem::remove(tree.Path("proc/77/root/home/jit-5.dump"));
  EXPECT_THAT(Take(), ElementsAre("77 /home/jit-5.dump: jitdump 0x9 0x1 \n0xa 0x1000 0x8 0x62 f\n"));
  Map(77, "//anon");
  Map(77, "/home/jit-6.dump");  // of a process that is known already
  tree.Write("proc/77/root/home/jit-6.dump", "not one");
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(collector->notes(), ElementsAre(HasSubstr("/home/jit-6.dump: read jitdump")));
}

TEST_F(CodeFileCollectorTest, DamagedRecordsAreIgnored) {
  Run(77);
  WriteMap(77, "1000 10 f\n");
  perf_event_header header = {PERF_RECORD_MMAP2, 0, 200};
  collector->Notice(std::as_bytes(std::span(&header, 1)));
  header.size = sizeof(header);
  collector->Notice(std::as_bytes(std::span(&header, 1)));
  header.size = 0;
  collector->Notice(std::as_bytes(std::span(&header, 1)));
  EXPECT_THAT(Take(), IsEmpty());
}

}  // namespace
}  // namespace ksamp
