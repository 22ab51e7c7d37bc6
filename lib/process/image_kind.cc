// SPDX-License-Identifier: Apache-2.0
#include "lib/process/image_kind.h"

#include <algorithm>
#include <array>

#include "lib/base/file_io.h"

namespace ksamp {
namespace {

// Memory that has a name but no file anyone could open for symbols. mm/mmap.c, ipc/shm.c, mm/memfd.c,
// fs/anon_inodes.c, fs/aio.c, mm/hugetlb.c (MAP_HUGETLB), prctl(PR_SET_VMA_ANON_NAME).
constexpr std::array<std::string_view, 15> kAnonymousPrefixes = {
    "//anon",      "[heap",        "[stack",    "[anon",          "[uprobes]",
    "[vsyscall]",  "[vectors]",    "/dev/zero", "/memfd:",        "/SYSV",
    "anon_inode:", "/anon_inode:", "/[aio]",    "/anon_hugepage", "/dev/hugepages/"};

constexpr std::string_view kDeleted = " (deleted)";

}  // namespace

ImageName ClassifyUserPath(std::string_view path) {
  ImageName name{.path = path};
  if (path.ends_with(kDeleted)) {
    name.deleted = true;
    name.path.remove_suffix(kDeleted.size());
  }
  const bool anonymous = name.path.empty() ||
                         std::any_of(kAnonymousPrefixes.begin(), kAnonymousPrefixes.end(),
                                     [&](std::string_view prefix) { return name.path.starts_with(prefix); });
  if (name.path == "[vdso]" || name.path == "[vdso32]") {
    name.kind = ImageKind::kVdso;
  } else if (anonymous) {
    name.kind = ImageKind::kAnonymous;
  }
  return name;
}

ImageName ClassifyKernelPath(std::string_view path) {
  // "[kernel.kallsyms]_text", "[kernel.vmlinux]_stext" of older perf; simpleperf writes the bare name.
  if (path.starts_with("[kernel")) {
    const size_t bracket = path.find(']');
    return {.kind = ImageKind::kKernel,
            .path = "vmlinux",
            .reference_symbol = bracket == path.npos ? std::string_view() : path.substr(bracket + 1)};
  }
  // x86's entry trampolines: kernel text mapped a second time.
  if (path.starts_with("__entry_") || path.empty()) return {.kind = ImageKind::kKernel, .path = "vmlinux"};
  return {.kind = ImageKind::kModule, .path = path};
}

bool IsJitDumpPath(std::string_view path) {
  std::string_view name = Basename(path);
  if (!path.starts_with('/') || !name.starts_with("jit-") || !name.ends_with(".dump")) return false;
  name = name.substr(4, name.size() - 9);
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace ksamp
