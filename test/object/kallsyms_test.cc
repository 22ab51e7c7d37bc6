// SPDX-License-Identifier: Apache-2.0
#include "lib/object/kallsyms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/base/file_io.h"
#include "test/support/built_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::SourceDir;

constexpr std::string_view kModulesText =
    "loop 32768 0 - Live 0xffffffffc067b000\n"
    "9p 81920 2 fscache,netfs, Live 0xffffffffc0666000 (OE)\n";

constexpr std::string_view kKernel =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000070 T secondary_startup_64\n"
    "ffffffff81000160 t verify_cpu\n"
    "ffffffff81000260 W weak_one\n"
    "ffffffff81000260 t better_one\n"
    "ffffffff81001d30 T __x86_return_thunk\n"
    "ffffffff81001d32 T _etext\n"
    "ffffffff81200000 D __start_rodata\n"
    "ffffffff82279000 T _sinittext\n"
    "ffffffff82279010 T early\n"
    "ffffffff822e7c04 T _einittext\n"
    "ffffffff822ec000 D early_top_pgt\n"
    "ffffffffc067b100 t lo_open\t[loop]\n"
    "ffffffffc067b000 t lo_ioctl\t[loop]\n"
    "ffffffffc0666040 T p9_mount\t[9p]\n"
    "ffffffffc0670000 d p9_ops\t[9p]\n"
    "ffffffffc0900000 t bpf_prog_6deef7357e7b4530_sd_devices\t[bpf]\n";

std::string At(const Kallsyms& table, uint64_t address) {
  const auto match = table.Find(address);
  if (!match) return "-";
  return std::string(match->name) + (match->module.empty() ? "" : " [" + std::string(match->module) + "]");
}

TEST(KallsymsTest, FindsTheSymbolThatOwnsTheAddress) {
  const Kallsyms table = Kallsyms::Parse(kKernel, ParseModuleRanges(kModulesText));
  const struct {
    uint64_t address;
    const char* owner;
  } cases[] = {
      {0, "-"},
      {0xffffffff80ffffff, "-"},
      {0xffffffff81000000, "startup_64"},  // _stext and _text are worse names for it
      {0xffffffff8100015f, "secondary_startup_64"},
      {0xffffffff81000261, "better_one"},  // weak is worse
      {0xffffffff81001d31, "__x86_return_thunk"},
      {0xffffffff81001d32, "-"},  // _etext owns nothing
      {0xffffffff81200004, "-"},  // nor does data
      {0xffffffff82279000, "_sinittext"},
      {0xffffffff822e7c03, "early"},
      {0xffffffff822e7c04, "-"},
      {0xffffffffc067b000, "lo_ioctl [loop]"},  // modules come unsorted
      {0xffffffffc067b100, "lo_open [loop]"},
      {0xffffffffc0682fff, "lo_open [loop]"},
      {0xffffffffc0683000, "-"},  // the module ends here
      {0xffffffffc066ffff, "p9_mount [9p]"},
      {0xffffffffc0670008, "-"},
      {0xffffffffc0900010, "bpf_prog_6deef7357e7b4530_sd_devices [bpf]"},
      {0xffffffffc0901000, "-"},  // nothing follows: no further than its page
  };
  for (const auto& c : cases) EXPECT_EQ(At(table, c.address), c.owner) << std::hex << c.address;
}

TEST(KallsymsTest, GivesStartAndSize) {
  const Kallsyms table = Kallsyms::Parse(kKernel);
  const auto match = table.Find(0xffffffff81000075);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->start, 0xffffffff81000070u);
  EXPECT_EQ(match->size, 0xf0u);
}

TEST(KallsymsTest, ZerosAreHiddenSymbolsNotSymbols) {
  const Kallsyms table = Kallsyms::Parse("0000000000000000 T _text\n0000000000000000 t f\n");
  EXPECT_TRUE(table.hidden());
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.Find(0), std::nullopt);
  EXPECT_FALSE(Kallsyms::Parse(kKernel).hidden());
  EXPECT_FALSE(Kallsyms::Parse("").hidden());
  EXPECT_TRUE(Kallsyms::Parse("").empty());
}

TEST(KallsymsTest, MappingSymbolsDoNotEndAFunction) {
  const Kallsyms table = Kallsyms::Parse(
      "ffffd1b14b7c6000 t $x\t[loop]\n"
      "ffffd1b14b7c6000 t loop_attr\t[loop]\n"
      "ffffd1b14b7c6040 t $d\t[loop]\n"
      "ffffd1b14b7c6080 t next\t[loop]\n");
  EXPECT_EQ(At(table, 0xffffd1b14b7c6000), "loop_attr [loop]");
  EXPECT_EQ(At(table, 0xffffd1b14b7c6050), "loop_attr [loop]");
  EXPECT_EQ(At(table, 0xffffd1b14b7c6080), "next [loop]");
}

TEST(KallsymsTest, DamagedLinesAreLeftOut) {
  const Kallsyms table = Kallsyms::Parse(
      "zzz T no_address\n"
      "\n"
      "1000\n"
      "1000 T\n"
      "1000 T \n"
      "1000 \n T type_is_a_line_break\n"
      "10000000000000000 T seventeen_digits\n"
      "2000 T good\n"
      "3000 T last_without_newline");
  EXPECT_EQ(At(table, 0x1000), "-");
  EXPECT_EQ(At(table, 0x2fff), "good");
  EXPECT_EQ(At(table, 0x3000), "last_without_newline");
}

TEST(KallsymsTest, AddressOfANameIsOfThatNameOnly) {
  const Kallsyms table = Kallsyms::Parse(kKernel);
  EXPECT_EQ(table.AddressOf("_text"), 0xffffffff81000000u);
  EXPECT_EQ(table.AddressOf("early"), 0xffffffff82279010u);
  EXPECT_EQ(table.AddressOf("early_top_pgt"), 0xffffffff822ec000u);
  EXPECT_EQ(table.AddressOf("earl"), std::nullopt);
  EXPECT_EQ(table.AddressOf(""), std::nullopt);
  EXPECT_EQ(table.AddressOf("lo_open"), std::nullopt);
  EXPECT_EQ(table.AddressOf("lo_open", "loop"), 0xffffffffc067b100u);
  EXPECT_TRUE(table.HasModule("9p"));
  EXPECT_FALSE(table.HasModule("ext4"));
}

TEST(KallsymsTest, ModuleLines) {
  const auto modules = ParseModuleRanges(kModulesText);
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].name, "loop");
  EXPECT_EQ(modules[0].start, 0xffffffffc067b000u);
  EXPECT_EQ(modules[0].end, 0xffffffffc0683000u);
  EXPECT_EQ(modules[1].name, "9p");
  EXPECT_EQ(ParseModuleRanges("broken\nx y 0 - Live 0x1\nz 1 0 - Live 0xffffffffffffffff\n").size(), 0u);
}

TEST(KallsymsTest, ModuleNamesAreOneHoweverSpelt) {
  EXPECT_TRUE(SameModuleName("nf_tables", "nf-tables"));
  EXPECT_FALSE(SameModuleName("nf_tables", "nf_tables_ipv4"));
}

// Tables of real kernels, reduced (test/data/README.md).
struct KernelSample {
  explicit KernelSample(const std::string& name)
      : text(ReadFile(SourceDir() + "/test/data/kernel/" + name + ".kallsyms").value_or("")),
        modules(ReadFile(SourceDir() + "/test/data/kernel/" + name + ".modules").value_or("")) {}
  std::string text, modules;
};

struct OwnerCase {
  uint64_t address;
  const char* owner;
};

TEST(KallsymsTest, ARealKernelOfX86) {
  const KernelSample sample("x86_64");
  const Kallsyms table = Kallsyms::Parse(sample.text, ParseModuleRanges(sample.modules));
  EXPECT_EQ(table.AddressOf("_text"), 0xffffffffba200000u);
  const OwnerCase cases[] = {
      {0xffffffffba1fffff, "-"},           // before the kernel; the lines at 0 are per-CPU offsets
      {0xffffffffba200000, "startup_64"},  // of three names
      {0xffffffffba2fb980, "do_idle"},
      {0xffffffffba2fbc2f, "do_idle"},
      {0xffffffffba2fbc30, "play_idle_precise"},
      {0xffffffffbac52dd0, "schedule"},
      {0xffffffffbb001d31, "__x86_return_thunk"},
      {0xffffffffbb001d32, "-"},  // _etext
      {0xffffffffbb200000, "-"},  // __start_rodata
      {0xffffffffbc2e7c03, "use_tpause_delay"},
      {0xffffffffbc2e7c04, "-"},  // _einittext
      {0xffffffffc04a2000, "virtblk_done [virtio_blk]"},
      {0xffffffffc04a3a00, "virtblk_prep_rq.isra.0 [virtio_blk]"},
      {0xffffffffc067e580, "lo_ioctl [loop]"},
      {0xffffffffc067ed9f, "lo_ioctl [loop]"},
      {0xffffffffc067eda0, "lo_compat_ioctl [loop]"},
      {0xffffffffc067f024, "-"},  // _note_10: data
      {0xffffffffc0683000, "-"},  // behind the module
  };
  for (const OwnerCase& c : cases) EXPECT_EQ(At(table, c.address), c.owner) << std::hex << c.address;
  EXPECT_TRUE(table.HasModule("9pnet-virtio"));
  EXPECT_FALSE(table.HasModule("kvm_intel"));
  EXPECT_EQ(table.Find(0xffffffffba2fb981)->size, 0x2b0u);
}

TEST(KallsymsTest, ARealKernelOfAarch64) {
  const KernelSample sample("aarch64");
  const Kallsyms table = Kallsyms::Parse(sample.text, ParseModuleRanges(sample.modules));
  EXPECT_EQ(table.AddressOf("_etext"), 0xffffd1b19bb00000u);
  const OwnerCase cases[] = {
      {0xffffd1b19aef8a40, "do_idle"},
      {0xffffd1b19aef8d4f, "do_idle"},
      {0xffffd1b19aef8d50, "play_idle_precise"},
      {0xffffd1b19bae0990, "schedule"},
      {0xffffd1b19bb00000, "-"},                              // _etext is data here
      {0xffffd1b19c4d5f98, "-"},                              // _einittext
      {0xffffd1b14b7c6000, "max_loop_param_set_int [loop]"},  // beside a mapping symbol
      {0xffffd1b14b7c98a0, "lo_ioctl [loop]"},
      {0xffffd1b14b62ed10, "virtblk_done [virtio_blk]"},
      {0xffffd1b14b7cf000, "-"},  // behind the module; the kernel comes after it
  };
  for (const OwnerCase& c : cases) EXPECT_EQ(At(table, c.address), c.owner) << std::hex << c.address;
  EXPECT_EQ(table.Find(0xffffd1b19aef8a44)->size, 0x310u);
}

TEST(KallsymsTest, NoRealSymbolReachesBeyondItsModule) {
  for (const char* name : {"x86_64", "aarch64"}) {
    const KernelSample sample(name);
    const std::vector<ModuleRange> modules = ParseModuleRanges(sample.modules);
    const Kallsyms table = Kallsyms::Parse(sample.text, modules);
    ASSERT_EQ(modules.size(), name == std::string_view("x86_64") ? 18u : 16u) << name;
    for (const ModuleRange& module : modules) {
      for (uint64_t address = module.start; address < module.end; address += 256) {
        const auto match = table.Find(address);
        if (!match) continue;
        EXPECT_EQ(match->module, module.name) << name << " " << std::hex << address;
        EXPECT_LE(match->start + match->size, module.end) << match->name;
      }
    }
  }
}

}  // namespace
}  // namespace ksamp
