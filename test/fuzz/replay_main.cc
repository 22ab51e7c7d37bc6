// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer's entry point over its corpus without libFuzzer, so that every build replays what fuzzing
// ever found.
//
//   kallsyms_fuzz_replay test/fuzz/corpus/kallsyms
//
// Each input lies in a heap block of exactly its length: one byte read too far is an error under ASan, and
// often without it. Of small files every prefix is run too, which is every way such an input can be cut off.
// An empty corpus is a failure, not a pass.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kAllPrefixesUpTo = 4096;  // longer files: 64 prefixes, evenly spread
constexpr size_t kPrefixesOfLongFile = 64;

void RunExact(const std::string& bytes, size_t length) {
  auto copy = std::make_unique<uint8_t[]>(length);
  if (length > 0) std::memcpy(copy.get(), bytes.data(), length);
  LLVMFuzzerTestOneInput(copy.get(), length);
}

bool Replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) {
    std::cerr << "read " << path << ": failed\n";
    return false;
  }
  const size_t step = bytes.size() <= kAllPrefixesUpTo ? 1 : bytes.size() / kPrefixesOfLongFile;
  for (size_t length = 0; length < bytes.size(); length += step) RunExact(bytes, length);
  RunExact(bytes, bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " CORPUS_FOLDER\n";
    return 64;
  }
  size_t replayed = 0;
  bool ok = true;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(argv[1], error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_regular_file()) continue;
    ok = Replay(it->path()) && ok;
    ++replayed;
  }
  if (error) std::cerr << "read corpus " << argv[1] << ": " << error.message() << "\n";
  if (replayed == 0) std::cerr << "corpus " << argv[1] << ": no input in it\n";
  std::cout << replayed << " inputs of " << argv[1] << " replayed\n";
  return ok && !error && replayed > 0 ? 0 : 1;
}
