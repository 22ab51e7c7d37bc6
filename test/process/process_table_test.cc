// SPDX-License-Identifier: Apache-2.0
#include "lib/process/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr uint32_t kKernelPid = ~0u;

MmapRecord Map(uint32_t pid, uint64_t addr, uint64_t length, std::string_view path, uint64_t offset = 0) {
  MmapRecord map;
  map.mode = pid == kKernelPid ? CpuMode::kKernel : CpuMode::kUser;
  map.pid = map.tid = pid;
  map.addr = addr;
  map.length = length;
  map.file_offset = offset;
  map.path = path;
  return map;
}

ForkRecord Fork(uint32_t pid, uint32_t ppid, uint64_t time) {
  return {.pid = pid, .ppid = ppid, .tid = pid, .ptid = ppid, .time = time};
}

class ProcessTableTest : public ::testing::Test {
 protected:
  void Add(uint64_t time, RecordBody body) {
    Record record;
    record.body = body;
    builder_->Add(time, record);
  }
  void Exec(uint64_t time, uint32_t pid, std::string_view comm) {
    Add(time, CommRecord{.pid = pid, .tid = pid, .exec = true, .comm = comm});
  }
  void Comm(uint64_t time, uint32_t pid, uint32_t tid, std::string_view comm) {
    Add(time, CommRecord{.pid = pid, .tid = tid, .comm = comm});
  }
  void Build() { table_.emplace(std::move(*builder_).Build()); }

  // "app image+offset", or what is missing.
  std::string Where(uint32_t pid, uint64_t ip, uint64_t time) const {
    const std::optional<ProcessState> state = table_->StateAt(pid, time);
    if (!state) return "no process";
    const std::string app(table_->names().Get(state->app));
    const FoundMapping found = table_->Find(state->epoch, ProcessAddress(ip), time);
    if (found.mapping == nullptr) return StrCat(app, " nothing");
    return StrCat(app, " ", table_->images()[found.mapping->image].path, "+",
                  Hex(found.mapping->ToFileOffset(ProcessAddress(ip)).value));
  }
  std::string WhereKernel(uint64_t ip, uint64_t time) const {
    const FoundMapping found = table_->FindKernel(ProcessAddress(ip), time);
    return found.mapping == nullptr ? "nothing" : table_->images()[found.mapping->image].path;
  }
  std::string CommOf(uint32_t tid, uint64_t time) const {
    const std::optional<ThreadComm> comm = table_->CommAt(tid, time);
    return comm ? std::string(table_->names().Get(comm->name)) : "nobody";
  }

  std::optional<ProcessTable::Builder> builder_{std::in_place};
  std::optional<ProcessTable> table_;
};

TEST_F(ProcessTableTest, TranslatesAddressesToFileOffsets) {
  Add(0, Map(7, 0x401000, 0x2000, "/bin/cat", 0x1000));
  Add(0, Map(7, 0x7f0000000000, 0x5000, "/lib/libc.so.6", 0x26000));
  Build();
  EXPECT_EQ(Where(7, 0x401010, 5), "cat /bin/cat+0x1010");
  EXPECT_EQ(Where(7, 0x402fff, 5), "cat /bin/cat+0x2fff");
  EXPECT_EQ(Where(7, 0x403000, 5), "cat nothing");
  EXPECT_EQ(Where(7, 0x7f0000000004, 5), "cat /lib/libc.so.6+0x26004");
  EXPECT_EQ(Where(8, 0x401010, 5), "no process");
}

TEST_F(ProcessTableTest, RecordsMayComeInAnyOrder) {
  Add(20, Map(7, 0x1000, 0x1000, "/lib/new.so"));
  Add(10, Map(7, 0x1000, 0x1000, "/lib/old.so"));
  Build();
  EXPECT_EQ(Where(7, 0x1800, 15), "old.so /lib/old.so+0x800");
  EXPECT_EQ(Where(7, 0x1800, 20), "old.so /lib/new.so+0x800");
}

TEST_F(ProcessTableTest, LaterMappingSplitsFromItsTimeOn) {
  Add(10, Map(7, 0x1000, 0x3000, "/bin/a"));
  Add(20, Map(7, 0x2000, 0x1000, "/bin/b"));
  Build();
  for (const uint64_t ip : {0x1000, 0x2000, 0x3000})
    EXPECT_EQ(Where(7, ip, 19), StrCat("a /bin/a+", Hex(ip - 0x1000)));
  EXPECT_EQ(Where(7, 0x1fff, 20), "a /bin/a+0xfff");
  EXPECT_EQ(Where(7, 0x2000, 20), "a /bin/b+0x0");
  EXPECT_EQ(Where(7, 0x3001, 20), "a /bin/a+0x2001");
}

TEST_F(ProcessTableTest, SampleOlderThanItsMappingGetsIt) {
  Add(10, Map(7, 0x1000, 0x1000, "/bin/a"));
  Add(20, Map(7, 0x1000, 0x1000, "/bin/b"));
  Add(20, Map(7, 0x9000, 0x1000, "/bin/c"));
  Build();
  EXPECT_EQ(Where(7, 0x1000, 3), "a /bin/a+0x0");
  EXPECT_EQ(Where(7, 0x9000, 3), "a /bin/c+0x0");
}

TEST_F(ProcessTableTest, ForkSharesWhatWasMappedThen) {
  Add(0, Map(1, 0x1000, 0x1000, "/bin/sh"));
  Add(10, Fork(2, 1, 10));
  Add(20, Map(1, 0x5000, 0x1000, "/lib/parent.so"));
  Add(30, Map(2, 0x6000, 0x1000, "/lib/child.so"));
  Add(40, Map(1, 0x1000, 0x1000, "/bin/replaced"));
  Build();
  EXPECT_EQ(Where(2, 0x1000, 50), "sh /bin/sh+0x0");
  EXPECT_EQ(Where(2, 0x5000, 50), "sh nothing");
  EXPECT_EQ(Where(2, 0x6000, 50), "sh /lib/child.so+0x0");
  EXPECT_EQ(Where(1, 0x6000, 50), "sh nothing");
  EXPECT_EQ(Where(1, 0x1000, 50), "sh /bin/replaced+0x0");
}

TEST_F(ProcessTableTest, ExecDropsMappingsAndRenamesTheApplication) {
  Add(0, Map(1, 0x1000, 0x1000, "/bin/bash"));
  Add(10, Fork(2, 1, 10));
  Exec(20, 2, "grep");
  Add(21, Map(2, 0x4000, 0x1000, "/bin/grep"));
  Add(22, Map(2, 0x8000, 0x1000, "/lib/ld.so"));
  Build();
  EXPECT_EQ(Where(2, 0x1000, 15), "bash /bin/bash+0x0");
  EXPECT_EQ(Where(2, 0x1000, 20), "grep nothing");
  EXPECT_EQ(Where(2, 0x4000, 20), "grep /bin/grep+0x0");
  EXPECT_EQ(Where(2, 0x8000, 25), "grep /lib/ld.so+0x0");
}

TEST_F(ProcessTableTest, ReusedPidIsAnotherProcess) {
  Add(0, Map(1, 0x1000, 0x1000, "/sbin/init"));
  Add(10, Fork(2, 1, 10));
  Exec(11, 2, "first");
  Add(12, Map(2, 0x4000, 0x1000, "/bin/first"));
  Add(20, ExitRecord{.pid = 2, .ppid = 1, .tid = 2, .ptid = 1, .time = 20});
  Add(30, Fork(2, 1, 30));
  Build();
  EXPECT_EQ(Where(2, 0x4000, 25), "first /bin/first+0x0") << "a late sample still belongs to the dead";
  EXPECT_EQ(Where(2, 0x4000, 30), "init nothing");
  EXPECT_EQ(Where(2, 0x1000, 30), "init /sbin/init+0x0");
}

TEST_F(ProcessTableTest, SynthesisedForkHandsDownNothing) {
  Add(0, Map(1, 0x1000, 0x1000, "/sbin/init"));
  Add(0, Fork(2, 1, 0));
  Add(0, Map(2, 0x4000, 0x1000, "/bin/a"));
  Build();
  EXPECT_EQ(Where(2, 0x1000, 1), "a nothing");
  EXPECT_EQ(Where(2, 0x4000, 1), "a /bin/a+0x0");
}

TEST_F(ProcessTableTest, ThreadsShareTheProcessAndHaveTheirOwnComm) {
  Comm(0, 5, 5, "server");
  Add(0, Map(5, 0x1000, 0x1000, "/bin/server"));
  Add(10, ForkRecord{.pid = 5, .ppid = 5, .tid = 6, .ptid = 5, .time = 10});
  Comm(20, 5, 6, "worker");
  Comm(30, 5, 5, "renamed");
  Build();
  EXPECT_EQ(CommOf(6, 10), "server");
  EXPECT_EQ(CommOf(6, 19), "server");
  EXPECT_EQ(CommOf(6, 20), "worker");
  EXPECT_EQ(CommOf(5, 29), "server");
  EXPECT_EQ(CommOf(5, 31), "renamed");
  EXPECT_EQ(CommOf(0, 31), "swapper");
  EXPECT_EQ(CommOf(77, 31), "nobody");
  EXPECT_EQ(table_->ProcessOfThread(6), 5u);
  EXPECT_EQ(table_->ProcessOfThread(99), std::nullopt);
  EXPECT_EQ(Where(5, 0x1000, 15), "server /bin/server+0x0");
}

TEST_F(ProcessTableTest, CommBeforeItsFirstRecordIsTheFirst) {
  Comm(10, 5, 5, "a");
  Comm(20, 5, 5, "b");
  Build();
  EXPECT_EQ(CommOf(5, 1), "a");
  const ThreadComm comm = *table_->CommAt(5, 12);
  EXPECT_EQ(comm.from, 0u);
  EXPECT_EQ(comm.until, 20u);
}

TEST_F(ProcessTableTest, ProcessWithoutFilesIsCalledByItsComm) {
  Comm(0, 2, 2, "kthreadd");
  Add(10, Fork(3, 2, 10));
  Comm(11, 3, 3, "kworker/0:1");
  Build();
  EXPECT_EQ(Where(3, 0x1000, 10), "kworker/0:1 nothing");
  EXPECT_EQ(Where(0, 0x1000, 10), "swapper nothing");
}

TEST_F(ProcessTableTest, AnonymousMemoryDoesNotNameTheApplication) {
  Add(0, Map(7, 0x1000, 0x1000, "//anon"));
  Add(0, Map(7, 0x4000, 0x1000, "/bin/java (deleted)"));
  Build();
  EXPECT_EQ(Where(7, 0x1000, 0), "java //anon+0x0");
  const Image& image = table_->images()[1];
  EXPECT_EQ(image.path, "/bin/java");
  EXPECT_TRUE(image.deleted);
}

TEST_F(ProcessTableTest, DataMappingsHideCodeButNameNothing) {
  MmapRecord data = Map(7, 0x1000, 0x1000, "/bin/data");
  data.is_data = true;
  MmapRecord readable = Map(7, 0x2000, 0x1000, "/bin/readable");
  readable.has_protection = true;
  readable.protection = PROT_READ;
  MmapRecord code = Map(7, 0x4000, 0x3000, "/bin/code");
  code.has_protection = true;
  code.protection = PROT_READ | PROT_EXEC;
  MmapRecord overlay = Map(7, 0x5000, 0x1000, "//anon");
  overlay.is_data = true;
  Add(0, data);
  Add(0, readable);
  Add(0, code);
  Add(5, overlay);
  Build();
  EXPECT_EQ(Where(7, 0x5000, 4), "code /bin/code+0x1000");
  EXPECT_EQ(Where(7, 0x5000, 5), "code //anon+0x0");
  EXPECT_EQ(Where(7, 0x1000, 5), "code /bin/data+0x0");
  const FoundMapping found = table_->Find(table_->StateAt(7, 5)->epoch, ProcessAddress(0x6010), 5);
  EXPECT_EQ(found.start.value, 0x6000u);
  EXPECT_EQ(found.end.value, 0x7000u);
  EXPECT_EQ(found.from, 5u);
  EXPECT_EQ(found.until, kForever);
}

TEST_F(ProcessTableTest, KernelModulesAndBpf) {
  constexpr uint64_t kBase = 0xffffffff81000000;
  Add(0, Map(kKernelPid, kBase, 0x1000000, "[kernel.kallsyms]_text", kBase + 0x1000));
  Add(0, Map(kKernelPid, 0xffffffffc0000000, 0x4000, "/lib/modules/6.1/kernel/kvm.ko"));
  Add(10, KsymbolRecord{.addr = 0xffffffffc0100000, .length = 0x100, .ksym_type = 1, .name = "bpf_prog_1_x"});
  Add(20, KsymbolRecord{.addr = 0xffffffffc0100000,
                        .length = 0x100,
                        .ksym_type = 1,
                        .unregister = true,
                        .name = "bpf_prog_1_x"});
  Build();
  EXPECT_TRUE(table_->has_kernel_map());
  EXPECT_EQ(table_->kernel_reference_symbol(), "_text");
  EXPECT_EQ(table_->kernel_reference_address(), kBase + 0x1000);
  EXPECT_EQ(WhereKernel(kBase + 5, 0), "vmlinux");
  EXPECT_EQ(WhereKernel(0xffffffffc0000010, 0), "/lib/modules/6.1/kernel/kvm.ko");
  EXPECT_EQ(WhereKernel(0xffffffffc0004000, 0), "nothing");
  EXPECT_EQ(WhereKernel(0xffffffffc0100000, 15), "bpf_prog_1_x");
  EXPECT_EQ(WhereKernel(0xffffffffc0100000, 20), "nothing");
  ASSERT_EQ(table_->images().size(), 3u);
  EXPECT_EQ(table_->images()[0].kind, ImageKind::kKernel);
  EXPECT_EQ(table_->images()[1].kind, ImageKind::kModule);
  EXPECT_EQ(table_->images()[1].module_base.value, 0xffffffffc0000000);
  EXPECT_EQ(table_->images()[2].kind, ImageKind::kBpf);
}

TEST_F(ProcessTableTest, GeneratedCodeLiesAboveMemoryOfItsTime) {
  Exec(1, 7, "jvm");
  Add(2, Map(7, 0x400000, 0x1000, "/bin/jvm"));
  Add(3, Map(7, 0x10000, 0x10000, "//anon"));
  builder_->AddGenerated("/tmp/jit-7.dump",
                         {.time = 10, .pid = 7, .start = 0x10100, .end = 0x10200, .place = 0x50});
  builder_->AddGenerated("/tmp/jit-7.dump",
                         {.time = 20, .pid = 7, .start = 0x10180, .end = 0x10280, .place = 0x900});
  Add(30, Map(7, 0x10000, 0x10000, "//anon"));
  Add(40, Map(7, 0x10000, 0x2000, "/lib/late.so"));
  Build();
  EXPECT_EQ(Where(7, 0x10180, 15), "jvm /tmp/jit-7.dump+0xd0");
  EXPECT_EQ(Where(7, 0x10180, 25), "jvm /tmp/jit-7.dump+0x900");
  EXPECT_EQ(Where(7, 0x10110, 25), "jvm /tmp/jit-7.dump+0x60") << "what was not overwritten stays";
  EXPECT_EQ(Where(7, 0x10180, 35), "jvm /tmp/jit-7.dump+0x900")
      << "the newer mapping of memory does not hide it";
  EXPECT_EQ(Where(7, 0x10180, 45), "jvm /lib/late.so+0x180");
  EXPECT_EQ(Where(7, 0x400010, 25), "jvm /bin/jvm+0x10");
  EXPECT_TRUE(Where(7, 0x10300, 25).starts_with("jvm //anon"));
  // What is remembered of a mapping must not reach over code in it.
  const uint32_t epoch = table_->StateAt(7, 25)->epoch;
  EXPECT_EQ(table_->Find(epoch, ProcessAddress(0x10300), 25).end, ProcessAddress(0x10301));
  EXPECT_EQ(table_->Find(epoch, ProcessAddress(0x400010), 25).end, ProcessAddress(0x401000));
  EXPECT_EQ(table_->Find(epoch, ProcessAddress(0x10180), 15).until, 20u);
}

TEST_F(ProcessTableTest, GuestMapsAreIgnored) {
  MmapRecord guest = Map(900, 0x1000, 0x1000, "[guest.kernel.kallsyms.900]_text");
  guest.mode = CpuMode::kGuestKernel;
  Add(0, guest);
  Build();
  EXPECT_EQ(Where(900, 0x1000, 0), "no process");
  EXPECT_TRUE(table_->images().empty());
}

TEST_F(ProcessTableTest, ImagesAreOnePerPathAndBuildId) {
  const std::array<uint8_t, 3> one = {1, 2, 3}, other = {4, 5, 6};
  MmapRecord a = Map(1, 0x1000, 0x1000, "/lib/x.so"), b = Map(2, 0x2000, 0x1000, "/lib/x.so"),
             c = Map(3, 0x3000, 0x1000, "/lib/x.so"), plain = Map(4, 0x3000, 0x1000, "/lib/x.so");
  a.build_id.bytes = b.build_id.bytes = one;
  c.build_id.bytes = other;
  Add(0, plain);
  Add(0, a);
  Add(0, b);
  Add(0, c);
  Add(0, Map(5, 0x1000, 0x1000, "//anon"));
  Add(0, Map(6, 0x1000, 0x1000, "//anon"));
  Build();
  ASSERT_EQ(table_->images().size(), 4u);
  EXPECT_THAT(table_->images()[0].build_id, ::testing::ElementsAreArray(one))
      << "the one seen without it before";
  EXPECT_THAT(table_->images()[1].build_id, ::testing::ElementsAreArray(other));
  EXPECT_EQ(table_->images()[2].pid, 5u);
  EXPECT_EQ(table_->images()[3].pid, 6u);
}

TEST_F(ProcessTableTest, HostileRangesAreClampedOrIgnored) {
  Add(0, Map(1, ~uint64_t{0} - 10, 100, "/bin/wraps"));
  Add(0, Map(1, 0x1000, 0, "/bin/empty"));
  Add(0, Map(kKernelPid, 0, 0, "[kernel.kallsyms]_text", 0x77));
  Add(0, KsymbolRecord{.addr = 5, .length = 0, .name = "nothing"});
  Build();
  EXPECT_EQ(Where(1, ~uint64_t{0} - 5, 0), "wraps /bin/wraps+0x5");
  EXPECT_EQ(Where(1, 0x1000, 0), "wraps nothing");
  EXPECT_EQ(table_->kernel_reference_address(), 0x77u);
  EXPECT_EQ(WhereKernel(5, 0), "nothing");
}

// The rules of process_table.h, in arrays with one entry per address: slow, and obviously right.
class NaiveTable {
 public:
  static constexpr uint64_t kAddresses = 24;
  using Space = std::array<int, kAddresses>;  // 0: nothing, else the number of the map

  void Map(uint32_t pid, uint64_t time, uint64_t start, uint64_t end, int number) {
    if (processes_[pid].empty()) Start(pid, time, {});
    std::vector<std::pair<uint64_t, Space>>& versions = processes_[pid].back().versions;
    bool overlaps = false;
    for (uint64_t a = start; a < end; ++a) overlaps |= versions.back().second[a] != 0;
    if (overlaps && time > versions.back().first) versions.emplace_back(time, versions.back().second);
    for (uint64_t a = start; a < end; ++a) versions.back().second[a] = number;
  }
  void Fork(uint32_t pid, uint32_t ppid, uint64_t time) {
    Space space = {};
    if (!processes_[ppid].empty()) space = processes_[ppid].back().versions.back().second;
    Start(pid, time, space);
  }
  void Exec(uint32_t pid, uint64_t time) { Start(pid, time, {}); }

  // -1: no such process.
  int Find(uint32_t pid, uint64_t address, uint64_t time) const {
    const auto it = processes_.find(pid);
    if (it == processes_.end() || it->second.empty()) return -1;
    const Epoch* epoch = &it->second.front();
    for (const Epoch& e : it->second)
      if (e.from <= time) epoch = &e;
    size_t at = 0;
    for (size_t i = 0; i < epoch->versions.size(); ++i)
      if (epoch->versions[i].first <= time) at = i;
    for (const size_t version : {at, at + 1, epoch->versions.size() - 1}) {
      if (version >= epoch->versions.size()) continue;
      if (const int found = epoch->versions[version].second[address]; found != 0) return found;
    }
    return 0;
  }

 private:
  struct Epoch {
    uint64_t from = 0;
    std::vector<std::pair<uint64_t, Space>> versions;
  };
  void Start(uint32_t pid, uint64_t time, const Space& space) {
    std::vector<Epoch>& epochs = processes_[pid];
    if (!epochs.empty() && epochs.back().from == time) epochs.pop_back();  // it lasted no time
    epochs.push_back({time, {{0, space}}});
  }
  std::map<uint32_t, std::vector<Epoch>> processes_;
};

class ProcessTableModelTest : public ProcessTableTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  uint32_t Random(uint64_t below) { return static_cast<uint32_t>(random_() % below); }
  void Step(int number);
  void Compare(uint32_t pid, uint64_t address, uint64_t time) const;

  static constexpr int kSteps = 200;
  std::mt19937 random_{GetParam()};
  NaiveTable naive_;
  uint64_t time_ = 0;
  std::vector<std::string> paths_;
};

void ProcessTableModelTest::Step(int number) {
  time_ += Random(3);
  const uint32_t pid = 1 + Random(6), other = 1 + Random(6);
  const uint32_t what = Random(8);
  if (what == 0 && other != pid && time_ > 0) {
    Add(time_, ksamp::Fork(pid, other, time_));
    naive_.Fork(pid, other, time_);
  } else if (what == 1) {
    Exec(time_, pid, "x");
    naive_.Exec(pid, time_);
  } else {
    const uint64_t start = Random(NaiveTable::kAddresses);
    const uint64_t end = start + 1 + Random(NaiveTable::kAddresses - start);
    Add(time_, ksamp::Map(pid, start, end - start, paths_[static_cast<size_t>(number)], start));
    naive_.Map(pid, time_, start, end, number);
  }
}

void ProcessTableModelTest::Compare(uint32_t pid, uint64_t address, uint64_t time) const {
  const int expected = naive_.Find(pid, address, time);
  const std::optional<ProcessState> state = table_->StateAt(pid, time);
  ASSERT_EQ(state.has_value(), expected != -1);
  if (!state) return;
  const FoundMapping found = table_->Find(state->epoch, ProcessAddress(address), time);
  ASSERT_EQ(found.mapping == nullptr, expected == 0);
  if (found.mapping == nullptr) return;
  ASSERT_EQ(table_->images()[found.mapping->image].path, paths_[static_cast<size_t>(expected)]);
  ASSERT_EQ(found.mapping->ToFileOffset(ProcessAddress(address)).value, address);
  // The range and the span it gives hold the same answer.
  ASSERT_TRUE(found.from <= time && time < found.until);
  for (uint64_t a = found.start.value; a < found.end.value; ++a)
    ASSERT_EQ(naive_.Find(pid, a, time), expected);
  const uint64_t until = std::min({time_ + 1, found.until, state->until});
  for (uint64_t t = std::max(found.from, state->from); t < until; ++t)
    ASSERT_EQ(naive_.Find(pid, address, t), expected);
}

TEST_P(ProcessTableModelTest, AgreesWithTheNaiveModel) {
  for (int i = 0; i <= kSteps; ++i) paths_.push_back(StrCat("/i/", i));
  for (int step = 1; step <= kSteps; ++step) Step(step);
  Build();
  for (uint32_t pid = 1; pid <= 7; ++pid) {
    for (uint64_t time = 0; time <= time_ + 1; ++time) {
      for (uint64_t address = 0; address < NaiveTable::kAddresses; ++address) {
        Compare(pid, address, time);
        ASSERT_FALSE(HasFatalFailure()) << "pid " << pid << " address " << address << " time " << time;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ProcessTableModelTest, ::testing::Range(1u, 41u));

}  // namespace
}  // namespace ksamp
