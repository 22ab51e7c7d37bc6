// SPDX-License-Identifier: Apache-2.0
// Image: something code was executed from: an ELF file, the kernel, a module, generated code.
//
// The records of a recording name images by path; equal (kind, path, build-id) are one image. Anonymous
// memory is one image per (pid, range), since nothing else tells it apart.
#ifndef KSAMP_IMAGE_H_
#define KSAMP_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ksamp/address.h"

namespace ksamp {

enum class ImageKind : uint8_t {
  kFile,       // an ELF file, by path
  kKernel,     // the kernel proper; path "vmlinux"
  kModule,     // a kernel module: the path of its .ko, or "[name]"
  kVdso,       // [vdso]
  kAnonymous,  // executable memory without a file: //anon, [heap], [stack], memfd, SYSV…
  kJitDump,    // generated code that a jit-PID.dump describes; addressed by the code's place in that file
  kBpf,        // BPF programs and the kernel's out-of-line trampolines (KSYMBOL records)
  kUnknown,    // no mapping covers the address
};

struct Image {
  ImageKind kind = ImageKind::kFile;
  std::string path;  // as in the record, " (deleted)" taken off
  bool deleted = false;
  std::vector<uint8_t> build_id;    // as recorded; empty: not known
  uint32_t pid = 0;                 // one process that had it mapped (to open it through /proc/PID) …
  ProcessAddress start{0}, end{0};  // … and where; for anonymous memory: the range
  ProcessAddress module_base{0};    // kModule: where /proc/modules says it starts
};

}  // namespace ksamp

#endif  // KSAMP_IMAGE_H_
