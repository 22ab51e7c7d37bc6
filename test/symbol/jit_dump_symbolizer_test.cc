// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/jit_dump_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/base/str_cat.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Image Dump(uint32_t pid, const std::string& path) {
  Image image;
  image.kind = ImageKind::kJitDump;
  image.path = path;
  image.pid = pid;
  return image;
}

TEST(JitDumpSymbolizerTest, APlaceBelongsToOneFunctionWhereverItsCodeWent) {
  SymbolizerOptions options;
  options.jit_dumps = {{7, "/tmp/jit-7.dump",
                        "jitdump 0x1 0x1 \n0x10 0x1000 0x20 0x200 second\n0x5 0x1000 0x20 0x100 first\n"
                        "0x20 0x9000 0x20 0x100 first\n"},
                       {8, "/tmp/jit-7.dump", "jitdump 0x1 0x1 \n0x10 0x1000 0x20 0x100 of_another\n"}};
  JitDumpSymbolizer dumps(options);
  const std::vector<uint64_t> places = {0xff, 0x100, 0x11f, 0x120, 0x208};
  const ImageSymbols found = dumps.Resolve(Dump(7, "/tmp/jit-7.dump"), places);
  std::vector<std::string> names;
  for (const ResolvedAddress& address : found.addresses)
    names.push_back(address.symbol ? found.symbols[*address.symbol].name : std::string(Text(address.reason)));
  EXPECT_THAT(names, ElementsAre("no symbol covers the address", "first", "first",
                                 "no symbol covers the address", "second"));
  EXPECT_EQ(found.addresses[2].elf, ElfAddress(0x101f));
  EXPECT_EQ(found.symbols.size(), 2u);
  EXPECT_EQ(found.symbols[0].start, 0x1000u);
  EXPECT_EQ(found.symbols[0].size, 0x20u);
  EXPECT_FALSE(dumps.Resolve(Dump(9, "/tmp/jit-7.dump"), places).addresses[1].symbol);
}

struct ReadJitDumpTest : ::testing::Test {
  ReadJitDumpTest() {
    options.proc_root = tree.Path("proc");
    tree.Write("proc/sys/kernel/hostname", "box\n");
    tree.Write("proc/sys/kernel/osrelease", "6.1.0\n");
    options.kernel.hostname = "box";
    options.kernel.os_release = "6.1.0";
    tree.Write("proc/77/status", StrCat("Uid:\t", geteuid(), "\t", geteuid(), "\nNSpid:\t77\t5\n"));
    tree.Write("proc/77/maps", "00010000-00011000 r-xp 00000000 00:00 9 /home/jit-5.dump\n");
    ByteWriter dump;
    for (const uint32_t field : {0x4a695444u, 1u, 40u, 62u, 0u, 5u}) dump.Put(field);
    dump.PutZeros(16);
    tree.Write("proc/77/root/home/jit-5.dump", AsText(dump.bytes()));
    mapped.path = "/home/jit-5.dump";
    mapped.pid = 77;
    mapped.start = ProcessAddress(0x10000);
    mapped.end = ProcessAddress(0x11000);
  }
  TempTree tree;
  SymbolizerOptions options;
  Image mapped;
};

TEST_F(ReadJitDumpTest, FromTheFileSystemOfTheProcess) {
  ASSERT_OK_AND_ASSIGN(const JitDumpText text, ReadJitDump(mapped, options));
  EXPECT_EQ(text.pid, 77u);
  EXPECT_EQ(text.path, "/home/jit-5.dump");
  EXPECT_EQ(text.functions, "jitdump 0x0 0x1 \n");
}

TEST_F(ReadJitDumpTest, NotOfAnotherMachineNorWhatIsNone) {
  tree.Write("proc/77/root/home/jit-5.dump", "something else");
  EXPECT_THAT(ReadJitDump(mapped, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/home/jit-5.dump: read jitdump")));
  options.live_machine = false;
  EXPECT_THAT(ReadJitDump(mapped, options).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("process 77 is not of this machine")));
}

}  // namespace
}  // namespace ksamp
