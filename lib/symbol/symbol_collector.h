// SPDX-License-Identifier: Apache-2.0
// SymbolCollector fills an ImageSymbols: each symbol once, each address with its symbol or its reason.
//
//   SymbolCollector collect(addresses.size());
//   collect.Found(i, match.id, match.name, match.start, match.size);
//   collect.NotFound(j, UnresolvedReason::kBetweenSymbols);
//   return std::move(collect).Take();
//
// One thread, one call of Symbolizer::Resolve.
#ifndef KSAMP_LIB_SYMBOL_SYMBOL_COLLECTOR_H_
#define KSAMP_LIB_SYMBOL_SYMBOL_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ksamp/symbolizer.h"

namespace ksamp {

class SymbolCollector {
 public:
  explicit SymbolCollector(size_t addresses) { result_.addresses.resize(addresses); }

  // `id` tells the symbols of one table apart; different tables need different ids.
  void Found(size_t index, uint64_t id, std::string_view name, uint64_t start, uint64_t size) {
    const auto [it, inserted] = ids_.try_emplace(id, static_cast<uint32_t>(result_.symbols.size()));
    if (inserted) result_.symbols.push_back({std::string(name), start, size});
    result_.addresses[index].symbol = it->second;
    result_.addresses[index].reason = UnresolvedReason::kNone;
  }
  void NotFound(size_t index, UnresolvedReason reason) { result_.addresses[index].reason = reason; }
  void NoneFound(UnresolvedReason reason) {
    for (ResolvedAddress& address : result_.addresses) address.reason = reason;
  }
  void SetElf(size_t index, ElfAddress elf) { result_.addresses[index].elf = elf; }
  void SetFile(std::string file) { result_.file = std::move(file); }
  void Note(std::string note) { result_.notes.push_back(std::move(note)); }
  ImageSymbols Take() && { return std::move(result_); }

 private:
  ImageSymbols result_;
  absl::flat_hash_map<uint64_t, uint32_t> ids_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_SYMBOL_COLLECTOR_H_
