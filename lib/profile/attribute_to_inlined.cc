// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ksamp/profile.h"

namespace ksamp {
namespace {

// A function of some image.
using FunctionKey = std::pair<uint32_t, uint32_t>;  // image, index into Profile::source.functions

class InlinedAttribution {
 public:
  explicit InlinedAttribution(Profile& profile) : profile_(profile) {}

  void Run() {
    for (const ProfileLocation& location : profile_.locations) NoteOwnSymbol(location);
    for (ProfileLocation& location : profile_.locations) {
      if (location.frames < 2) continue;  // nothing was inlined there
      const uint32_t function = profile_.source.frames[location.first_frame].function;
      if (function == SourceFrame::kNone) continue;
      location.symbol = SymbolOf({location.image, function});
      location.reason = UnresolvedReason::kNone;
    }
  }

 private:
  // The symbol of a function's own code is that function's. Not so of a clone (foo.constprop.0), which is
  // another name.
  void NoteOwnSymbol(const ProfileLocation& location) {
    if (location.frames == 0 || location.symbol == kNone32) return;
    const uint32_t function = profile_.source.frames[location.first_frame + location.frames - 1].function;
    if (function == SourceFrame::kNone) return;
    if (profile_.source.functions[function].name != profile_.symbols[location.symbol].name) return;
    symbols_.try_emplace({location.image, function}, location.symbol);
  }

  uint32_t SymbolOf(const FunctionKey& key) {
    const auto [it, added] = symbols_.try_emplace(key, static_cast<uint32_t>(profile_.symbols.size()));
    if (added) {
      const SourceFunction& function = profile_.source.functions[key.second];
      ProfileSymbol symbol{.name = function.name, .image = key.first};
      if (function.file != SourceFrame::kNone) symbol.file = profile_.source.files[function.file];
      symbol.line = function.line;
      profile_.symbols.push_back(std::move(symbol));
    }
    return it->second;
  }

  Profile& profile_;
  absl::flat_hash_map<FunctionKey, uint32_t> symbols_;
};

}  // namespace

void AttributeToInlined(Profile& profile) {
  InlinedAttribution(profile).Run();
}

}  // namespace ksamp
