// SPDX-License-Identifier: Apache-2.0
// What the path in an MMAP record says: a file, the kernel, a module, or memory without a file.
//
// The kernel names mappings by d_path() and arch_vma_name(): "//anon", "[vdso]", "/memfd:x (deleted)",
// "/SYSV0000 (deleted)", "anon_inode:[perf_event]". perf names the kernel's own map "[kernel.kallsyms]_text".
// One table for all of it. Pure.
#ifndef KSAMP_LIB_PROCESS_IMAGE_KIND_H_
#define KSAMP_LIB_PROCESS_IMAGE_KIND_H_

#include <string_view>

#include "ksamp/image.h"

namespace ksamp {

struct ImageName {
  ImageKind kind = ImageKind::kFile;
  std::string_view path = {};              // the record's without " (deleted)"; "vmlinux" for the kernel
  bool deleted = false;                    // " (deleted)" was there
  std::string_view reference_symbol = {};  // kernel only: "_text", "_stext"; else empty
};

// A process's mapping.
ImageName ClassifyUserPath(std::string_view path);
// A mapping of kernel space (pid -1): the kernel, its trampolines, or a module.
ImageName ClassifyKernelPath(std::string_view path);

// "/root/.debug/jit/x/jit-77.dump": the name by which a mapping shows that a process writes a jitdump.
bool IsJitDumpPath(std::string_view path);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROCESS_IMAGE_KIND_H_
