// SPDX-License-Identifier: Apache-2.0
// JitDumpSymbolizer: places in a jit-PID.dump -> the functions whose code stands there.
//
//   JitDumpSymbolizer dumps(options);
//   ImageSymbols found = dumps.Resolve(image, places);
//
// When an address held which function was settled before: the profile turns (process, time, address) into a
// place in the dump (ksamp/profile.h), and each place belongs to one function for ever. Symbol::start is the
// function's address when it was first generated.
//
// A dump is read once. Any number of threads may call.
#ifndef KSAMP_LIB_SYMBOL_JIT_DUMP_SYMBOLIZER_H_
#define KSAMP_LIB_SYMBOL_JIT_DUMP_SYMBOLIZER_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ksamp/image.h"
#include "ksamp/symbolizer.h"
#include "lib/object/jit_dump.h"

namespace ksamp {

class JitDumpSymbolizer {
 public:
  // `options` must outlive the symbolizer.
  explicit JitDumpSymbolizer(const SymbolizerOptions& options) : options_(options) {}

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> places);

 private:
  void Load();

  const SymbolizerOptions& options_;
  std::once_flag loaded_;
  std::map<std::pair<uint32_t, std::string>, std::vector<JitFunction>> dumps_;  // functions by place
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_JIT_DUMP_SYMBOLIZER_H_
