// SPDX-License-Identifier: Apache-2.0
#include "lib/process/image_kind.h"

#include <gtest/gtest.h>

namespace ksamp {
namespace {

struct UserCase {
  const char* path;
  ImageKind kind;
  const char* expected;
  bool deleted;
};

TEST(ImageKindTest, UserPaths) {
  const UserCase cases[] = {
      {"/usr/bin/bash", ImageKind::kFile, "/usr/bin/bash", false},
      {"/usr/bin/bash (deleted)", ImageKind::kFile, "/usr/bin/bash", true},
      {"/opt/a (deleted) b", ImageKind::kFile, "/opt/a (deleted) b", false},
      {"relative.so", ImageKind::kFile, "relative.so", false},
      {"[vdso]", ImageKind::kVdso, "[vdso]", false},
      {"//anon", ImageKind::kAnonymous, "//anon", false},
      {"", ImageKind::kAnonymous, "", false},
      {"[heap]", ImageKind::kAnonymous, "[heap]", false},
      {"[stack]", ImageKind::kAnonymous, "[stack]", false},
      {"[stack:123]", ImageKind::kAnonymous, "[stack:123]", false},
      {"[anon:dalvik-jit]", ImageKind::kAnonymous, "[anon:dalvik-jit]", false},
      {"[uprobes]", ImageKind::kAnonymous, "[uprobes]", false},
      {"/dev/zero (deleted)", ImageKind::kAnonymous, "/dev/zero", true},
      {"/memfd:doublemapper (deleted)", ImageKind::kAnonymous, "/memfd:doublemapper", true},
      {"/SYSV00000000 (deleted)", ImageKind::kAnonymous, "/SYSV00000000", true},
      {"anon_inode:[perf_event]", ImageKind::kAnonymous, "anon_inode:[perf_event]", false},
      {"/[aio] (deleted)", ImageKind::kAnonymous, "/[aio]", true},
      {"/anon_hugepage (deleted)", ImageKind::kAnonymous, "/anon_hugepage", true},
      {"/dev/hugepages/vm", ImageKind::kAnonymous, "/dev/hugepages/vm", false},
  };
  for (const UserCase& c : cases) {
    SCOPED_TRACE(c.path);
    const ImageName name = ClassifyUserPath(c.path);
    EXPECT_EQ(name.kind, c.kind);
    EXPECT_EQ(name.path, c.expected);
    EXPECT_EQ(name.deleted, c.deleted);
  }
}

TEST(ImageKindTest, KernelPaths) {
  const struct {
    const char* path;
    ImageKind kind;
    const char* expected;
    const char* symbol;
  } cases[] = {
      {"[kernel.kallsyms]_text", ImageKind::kKernel, "vmlinux", "_text"},
      {"[kernel.kallsyms]_stext", ImageKind::kKernel, "vmlinux", "_stext"},
      {"[kernel.kallsyms]", ImageKind::kKernel, "vmlinux", ""},
      {"[kernel", ImageKind::kKernel, "vmlinux", ""},
      {"__entry_SYSCALL_64_trampoline", ImageKind::kKernel, "vmlinux", ""},
      {"[kvm]", ImageKind::kModule, "[kvm]", ""},
      {"/lib/modules/6.1.0/kernel/arch/x86/kvm/kvm.ko", ImageKind::kModule,
       "/lib/modules/6.1.0/kernel/arch/x86/kvm/kvm.ko", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.path);
    const ImageName name = ClassifyKernelPath(c.path);
    EXPECT_EQ(name.kind, c.kind);
    EXPECT_EQ(name.path, c.expected);
    EXPECT_EQ(name.reference_symbol, c.symbol);
  }
}

TEST(ImageKindTest, PathsThatShowAJitdump) {
  for (const char* path : {"/tmp/jit-7.dump", "/root/.debug/jit/x/jit-12345.dump"})
    EXPECT_TRUE(IsJitDumpPath(path));
  for (const char* path :
       {"jit-7.dump", "/tmp/jit-.dump", "/tmp/jit-7x.dump", "/tmp/jit-7.dump2", "/tmp/xjit-7.dump", ""})
    EXPECT_FALSE(IsJitDumpPath(path)) << path;
}

}  // namespace
}  // namespace ksamp
