// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/file_io.h"
#include "lib/base/text.h"

namespace ksamp {
namespace {

bool MatchesPath(const std::vector<std::string>& globs, std::string_view path) {
  return std::any_of(globs.begin(), globs.end(), [path](const std::string& glob) {
    return MatchesGlob(glob, path) || MatchesGlob(glob, Basename(path));
  });
}

// An application is known by its basename, so of a path the last part decides.
bool MatchesApp(const std::vector<std::string>& globs, std::string_view app) {
  return std::any_of(globs.begin(), globs.end(), [app](const std::string& glob) {
    return MatchesGlob(glob, app) || MatchesGlob(Basename(glob), app);
  });
}

// Decides entry by entry; what depends on the image or the symbol alone is decided once for each.
class Decisions {
 public:
  Decisions(const Profile& profile, const SymbolFilters& filters) : profile_(profile), filters_(filters) {
    for (const Image& image : profile.images) {
      in_images_.push_back(filters.images.empty() || MatchesPath(filters.images, image.path));
      is_named_.push_back(MatchesPath(filters.apps, image.path));
      is_excluded_.push_back(MatchesPath(filters.exclude_images, image.path));
    }
    if (filters.include_symbols.empty() && filters.exclude_symbols.empty()) {
      symbol_kept_.assign(profile.symbols.size(), true);  // Nothing to compare with: no need to demangle.
      return;
    }
    for (const ProfileSymbol& symbol : profile.symbols) {
      const std::string demangled = Demangle(symbol.name);
      const auto listed = [&](const std::vector<std::string>& names) {
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string& name) { return name == symbol.name || name == demangled; });
      };
      symbol_kept_.push_back((filters.include_symbols.empty() || listed(filters.include_symbols)) &&
                             !listed(filters.exclude_symbols));
    }
  }

  // The filter that takes samples of this key and leaf; null: none does.
  const char* CauseFor(uint32_t key_number, uint32_t leaf) const {
    const ProfileKey& key = profile_.keys[key_number];
    const ProfileLocation& location = profile_.locations[leaf];
    const bool has_app = key.app != kNone32, has_image = location.image != kNone32;
    const std::string_view app = has_app ? std::string_view(profile_.names[key.app]) : std::string_view();

    if (!filters_.images.empty() && !(has_image && in_images_[location.image])) return "image";
    if (!filters_.apps.empty() && !(has_image && is_named_[location.image]) &&
        !(has_app && MatchesApp(filters_.apps, app)))
      return "image";
    if (has_image && is_excluded_[location.image]) return "image";
    if (has_app && MatchesApp(filters_.exclude_images, app)) return "image";
    if (filters_.exclude_dependent && has_app &&
        !(has_image && Basename(profile_.images[location.image].path) == app))
      return "dependent image";
    if (location.symbol == kNone32) return filters_.include_symbols.empty() ? nullptr : "symbol";
    return symbol_kept_[location.symbol] ? nullptr : "symbol";
  }

 private:
  const Profile& profile_;
  const SymbolFilters& filters_;
  std::vector<bool> in_images_, is_named_, is_excluded_;  // by image
  std::vector<bool> symbol_kept_;                         // by symbol
};

}  // namespace

void ApplySymbolFilters(Profile& profile, const SymbolFilters& filters) {
  const Decisions decisions(profile, filters);
  std::erase_if(profile.entries, [&](const ProfileEntry& entry) {
    const char* cause = decisions.CauseFor(entry.key, entry.location);
    if (cause == nullptr) return false;
    Conservation& sum = profile.conservation[profile.keys[entry.key].event];
    sum.counted -= entry.counts.samples;
    sum.filtered[cause] += entry.counts.samples;
    return true;
  });
  std::erase_if(profile.stacks, [&](const StackEntry& entry) {
    return decisions.CauseFor(entry.key, profile.stack_nodes[entry.node].location) != nullptr;
  });
}

}  // namespace ksamp
