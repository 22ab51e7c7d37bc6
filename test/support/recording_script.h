// SPDX-License-Identifier: Apache-2.0
// RecordingScript: a recording and the files it ran, from a text that people can read.
//
//   ASSERT_OK_AND_ASSIGN(RecordingScript script, RecordingScript::Parse(text, tree.Path("root")));
//   script.builder().WriteTo(tree.Path("x.data"));
//
// One line is one thing; `#` begins a comment; numbers are hexadecimal with 0x, names may hold \xNN:
//
//   machine Example CPU                what /proc/cpuinfo calls it; kernel 6.1.0, 2 CPUs, 2096 MHz with it
//   event NAME period=N|freq=HZ [type=N config=N] [stacks]      without one: cpu-clock, every 1 000 000 ns
//   file PATH [id=HEX] [SYMBOL@ADDRESS+SIZE ...]       an ELF file below `root`: offsets are addresses
//        [row=ADDRESS:FILE:LINE ...]                   with debug info of unit /src: each line up to the next
//        address [inline=NAME@ADDRESS+SIZE:LINE:FILE:LINE ...] called at that line of row 1's file; where it
//        is declared
//   text PATH WORDS...                 a file that is no ELF
//   kallsyms ADDRESS TYPE NAME [MODULE], modules NAME SIZE ADDRESS, sections MODULE SECTION ADDRESS
//   meta KEY=VALUE                     of the recorder; \n in it is a line break
//   kernel ADDRESS SIZE, module ADDRESS SIZE PATH      mappings of the kernel
//   comm PID[/TID] NAME, exec PID NAME, fork PID PPID, mmap PID ADDRESS SIZE OFFSET PATH [id=HEX]
//   sample PID[/TID] CPU MILLISECONDS user|kernel|guest|hv IP [xCOUNT] [event=INDEX] [period=N] [chain=LIST]
//                                      LIST: addresses outwards from IP; the word `user` where it left the
//                                      kernel
//   lost COUNT, throttle, killed, truncated BYTES, bytes HEX, piped, compressed, foreign
//
// Records without a time of their own get that of the sample before them.
#ifndef KSAMP_TEST_SUPPORT_RECORDING_SCRIPT_H_
#define KSAMP_TEST_SUPPORT_RECORDING_SCRIPT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "test/support/perf_data_builder.h"

namespace ksamp::testing {

class RecordingScript {
 public:
  // InvalidArgument: "line 7: …". Files are written below `root`.
  static absl::StatusOr<RecordingScript> Parse(std::string_view text, const std::string& root);

  PerfDataBuilder& builder() { return builder_; }

 private:
  class Parser;
  PerfDataBuilder builder_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_RECORDING_SCRIPT_H_
