// SPDX-License-Identifier: Apache-2.0
// A pretended fuzzer that proves what replay_main promises: it fails unless it saw the file of the corpus
// whole and every prefix of it, shortest first.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr char kWhole[] = "abc";  // the text of the one seed
size_t calls = 0;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size != calls || std::memcmp(data, kWhole, size) != 0) {
    std::fprintf(stderr, "call %zu got %zu bytes\n", calls, size);
    std::exit(2);
  }
  ++calls;
  if (size == 3) std::atexit([] { std::fprintf(stderr, "%zu calls\n", calls); });
  return 0;
}
