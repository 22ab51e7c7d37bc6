// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/kernel_snapshot.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "ksamp/record.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/perfdata/format.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::TempTree;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Note(std::string_view build_id) {
  return std::string("\4\0\0\0", 4) + static_cast<char>(build_id.size()) +
         std::string("\0\0\0\3\0\0\0GNU\0", 11) + std::string(build_id);
}

std::vector<std::string> Describe(const std::vector<KernelImage>& images) {
  std::vector<std::string> lines;
  for (const KernelImage& image : images) {
    lines.push_back(StrCat(Hex(image.address), "+", Hex(image.length), "@", Hex(image.file_offset), " ",
                           AsText(std::as_bytes(image.build_id.view())), " ", image.path));
  }
  return lines;
}

std::string Inflate(const KernelSnapshot& snapshot, unsigned feature) {
  auto it = snapshot.features.find(feature);
  if (it == snapshot.features.end()) return "(absent)";
  auto text = Decompress(Compression::kZstd, it->second, size_t{1} << 30);
  return text.ok() ? std::string(AsText(*text)) : text.status().ToString();
}

constexpr char kKallsyms[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 T start_it\n"
    "ffffffff82000000 T _etext\n"
    "ffffffffc0100000 t lo_open\t[loop]\n";
constexpr char kModules[] =
    "nf_tables 36864 0 - Live 0xffffffffc0200000\n"
    "loop 1048576 0 - Live 0xffffffffc0100000\n"
    "local 4096 0 - Live 0xffffffffc01ff000 (OE)\n";

class KernelSnapshotTest : public ::testing::Test {
 protected:
  KernelSnapshotTest() {
    options_.proc_root = tree_.MakeDirectory("proc");
    options_.sys_root = tree_.MakeDirectory("sys");
    options_.modules_root = tree_.MakeDirectory("lib/modules");
    tree_.Write("proc/sys/kernel/osrelease", "6.1.0-test\n");
    tree_.Write("proc/sys/kernel/kptr_restrict", "1\n");
    tree_.Write("proc/kallsyms", kKallsyms);
    tree_.Write("proc/modules", kModules);
    tree_.Write("sys/kernel/notes", Note("KERNEL"));
    tree_.Write("sys/module/loop/notes/.note.gnu.build-id", Note("LOOP"));
    tree_.Write("sys/module/loop/sections/.text", "0xffffffffc0100000\n");
    tree_.Write("sys/module/loop/sections/.init.text", "0xffffffffc0110000\n");
    tree_.Write("sys/module/loop/sections/.data", "0xffffffffc0120000\n");
    tree_.Write("sys/module/local/sections/.text.unlikely", "0x0000000000000000\n");
    tree_.Write(
        "lib/modules/6.1.0-test/modules.dep",
        "kernel/drivers/block/loop.ko.xz:\nkernel/net/netfilter/nf-tables.ko: kernel/lib/crc.ko\nbroken\n");
  }
  std::string ModulesFolder() const { return options_.modules_root + "/6.1.0-test/"; }

  TempTree tree_;
  KernelSnapshotOptions options_;
};

TEST_F(KernelSnapshotTest, FindsTheKernelAndItsModules) {
  const KernelSnapshot snapshot = TakeKernelSnapshot(options_);
  EXPECT_THAT(
      Describe(snapshot.images),
      ElementsAre(
          "0xffffffff81000000+0x1000000@0xffffffff81000000 KERNEL [kernel.kallsyms]_text",
          // Its size sums up regions that lie apart: cut where the next module begins.
          StrCat("0xffffffffc0100000+0xff000@0x0 LOOP ", ModulesFolder(), "kernel/drivers/block/loop.ko.xz"),
          "0xffffffffc01ff000+0x1000@0x0  [local]",
          StrCat("0xffffffffc0200000+0x9000@0x0  ", ModulesFolder(), "kernel/net/netfilter/nf-tables.ko")));
  EXPECT_THAT(snapshot.notes, IsEmpty());
  EXPECT_EQ(Inflate(snapshot, perfdata::kKsampKernelSymbols), kKallsyms);
  EXPECT_EQ(Inflate(snapshot, perfdata::kKsampModules), kModules);
  EXPECT_EQ(Inflate(snapshot, perfdata::kKsampModuleSections),
            "loop .init.text 0xffffffffc0110000\nloop .text 0xffffffffc0100000\n");
}

TEST_F(KernelSnapshotTest, EndsWhereTheTextEnds) {
  tree_.Write("proc/kallsyms", StrCat(kKallsyms, "ffffffff82800000 D _edata\n"));
  EXPECT_EQ(TakeKernelSnapshot(options_).images[0].length, 0x1000000u);
  tree_.Write("proc/kallsyms", "ffffffff81000000 T _stext\nffffffff82800000 D _edata\n");
  EXPECT_EQ(TakeKernelSnapshot(options_).images[0].length, 0x1800000u);
}

TEST_F(KernelSnapshotTest, WithoutSymbolsTheMapsRemain) {
  options_.symbols = false;
  const KernelSnapshot snapshot = TakeKernelSnapshot(options_);
  EXPECT_EQ(snapshot.images.size(), 4u);
  EXPECT_THAT(snapshot.features, IsEmpty());
}

TEST_F(KernelSnapshotTest, HiddenAddressesAreTold) {
  tree_.Write("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
  tree_.Write("proc/modules", "loop 32768 0 - Live 0x0000000000000000\n");
  const KernelSnapshot snapshot = TakeKernelSnapshot(options_);
  EXPECT_THAT(snapshot.images, IsEmpty());
  EXPECT_FALSE(snapshot.features.contains(perfdata::kKsampKernelSymbols));
  EXPECT_THAT(snapshot.notes,
              ElementsAre(StrCat("the kernel hides its addresses from user ", geteuid(),
                                 " (kernel.kptr_restrict = 1): kernel samples stay without names; "
                                 "root with kernel.kptr_restrict = 0 or 1, or CAP_SYSLOG, sees them")));
}

TEST_F(KernelSnapshotTest, AddressesHiddenByTheLevelOfParanoidAreToldSo) {
  tree_.Write("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
  tree_.Write("proc/sys/kernel/kptr_restrict", "0\n");
  EXPECT_THAT(TakeKernelSnapshot(options_).notes,
              ElementsAre(AllOf(HasSubstr("perf_event_paranoid is above 1"), Not(HasSubstr("kptr")))));
}

TEST_F(KernelSnapshotTest, NothingReadableIsANoteNotAnError) {
  options_.proc_root = tree_.MakeDirectory("empty");
  const KernelSnapshot snapshot = TakeKernelSnapshot(options_);
  EXPECT_THAT(snapshot.images, IsEmpty());
  EXPECT_THAT(snapshot.features, IsEmpty());
  EXPECT_THAT(snapshot.notes, ElementsAre(StartsWith("the kernel's symbols cannot be read (open ")));
}

TEST_F(KernelSnapshotTest, WritesKernelRecords) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  ASSERT_OK_AND_ASSIGN(SampleLayout layout, SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1))));
  const KernelSnapshot snapshot = TakeKernelSnapshot(options_);
  std::vector<std::byte> bytes;
  ASSERT_OK(snapshot.Append(layout, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return absl::OkStatus();
  }));
  perf_event_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  RawRecord raw{header.type, header.misc, std::span(bytes).first(header.size), 0};
  ASSERT_OK_AND_ASSIGN(Record record, DecodeRecord(raw, layout));
  const MmapRecord& map = std::get<MmapRecord>(record.body);
  EXPECT_EQ(map.mode, CpuMode::kKernel);
  EXPECT_EQ(map.pid, UINT32_MAX);
  EXPECT_EQ(map.tid, 0u);
  EXPECT_EQ(map.addr, 0xffffffff81000000u);
  EXPECT_EQ(map.length, 0x1000000u);
  EXPECT_EQ(map.file_offset, 0xffffffff81000000u);
  EXPECT_EQ(AsText(std::as_bytes(map.build_id.bytes)), "KERNEL");
  EXPECT_EQ(map.path, "[kernel.kallsyms]_text");
  EXPECT_EQ(record.id.time, 0u);
}

TEST_F(KernelSnapshotTest, FindsModulesLoadedMeanwhile) {
  const KernelSnapshot before = TakeKernelSnapshot(options_);
  EXPECT_THAT(NewModules(before, options_), IsEmpty());
  tree_.Write("proc/modules", StrCat("late 8192 0 - Live 0xffffffffc0101000\n", kModules));
  EXPECT_THAT(Describe(NewModules(before, options_)), ElementsAre("0xffffffffc0101000+0x2000@0x0  [late]"));
}

TEST(TakeKernelSnapshot, HoldsThisMachinesSymbols) {
  const KernelSnapshot snapshot = TakeKernelSnapshot({});
  if (!snapshot.notes.empty()) GTEST_SKIP() << snapshot.notes[0];
  ASSERT_FALSE(snapshot.images.empty());
  EXPECT_THAT(snapshot.images[0].path, HasSubstr("[kernel.kallsyms]_"));
  EXPECT_GT(snapshot.images[0].length, 1u << 20);
  EXPECT_EQ(Inflate(snapshot, perfdata::kKsampKernelSymbols), ReadFile("/proc/kallsyms").value());
}

}  // namespace
}  // namespace ksamp
