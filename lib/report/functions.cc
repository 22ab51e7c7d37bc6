// SPDX-License-Identifier: Apache-2.0
#include "lib/report/functions.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/report/names.h"

namespace ksamp {
namespace {

const Image& ImageOf(const Profile& profile, uint32_t image) {
  static const Image* const kNoImage = new Image{.kind = ImageKind::kUnknown, .path = {}, .build_id = {}};
  return image < profile.images.size() ? profile.images[image] : *kNoImage;
}

FunctionKind KindOf(const Profile& profile, const ProfileLocation& location) {
  if (location.symbol == kNone32) return FunctionKind::kUnnamed;
  switch (ImageOf(profile, location.image).kind) {
    case ImageKind::kKernel:
    case ImageKind::kModule:
    case ImageKind::kBpf:
      return FunctionKind::kKernel;
    case ImageKind::kAnonymous:
      return FunctionKind::kGenerated;
    default:
      return FunctionKind::kUser;
  }
}

// A module's symbols start at runtime addresses; its file has the same distances at other ones.
uint64_t VmaOf(const Profile& profile, const ProfileLocation& location) {
  if (location.symbol == kNone32) return 0;
  const uint64_t start = profile.symbols[location.symbol].start;
  const bool module = ImageOf(profile, location.image).kind == ImageKind::kModule;
  return module ? start + (location.elf.value - location.address) : start;
}

}  // namespace

FunctionTable::FunctionTable(const Profile& profile, const ReportOptions& options)
    : profile_(profile), options_(options) {
  for (const Image& image : profile.images)
    images_.push_back(options.long_filenames ? LongImageName(image) : ShortImageName(image));
  images_.emplace_back("[unknown]");
  constexpr uint64_t kReasonBit = uint64_t{1} << 32;  // above all indices of symbols
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint32_t> numbers;
  function_of_.reserve(profile.locations.size());
  for (const ProfileLocation& location : profile.locations) {
    const bool named = location.symbol != kNone32;
    const uint64_t code = named ? location.symbol : kReasonBit | static_cast<uint64_t>(location.reason);
    const auto [it, added] =
        numbers.try_emplace({location.image, code}, static_cast<uint32_t>(functions_.size()));
    if (added)
      functions_.push_back({.image = location.image,
                            .symbol = location.symbol,
                            .reason = named ? UnresolvedReason::kNone : location.reason,
                            .vma = VmaOf(profile, location),
                            .kind = KindOf(profile, location)});
    function_of_.push_back(it->second);
  }
  names_.resize(functions_.size());
}

uint32_t FunctionTable::AddLabel(std::string name) {
  functions_.push_back({.kind = FunctionKind::kLabel});
  names_.push_back(std::move(name));
  return static_cast<uint32_t>(functions_.size() - 1);
}

const std::string& FunctionTable::Name(uint32_t function) const {
  std::string& name = names_[function];
  if (!name.empty()) return name;
  const Function& f = functions_[function];
  if (f.kind == FunctionKind::kLabel) return name;
  if (f.symbol != kNone32) {
    const std::string& raw = profile_.symbols[f.symbol].name;
    name = options_.demangle ? options_.demangle(raw) : raw;
  } else {
    name = UnresolvedName(ImageOf(profile_, f.image), f.reason);
  }
  return name;
}

const std::string& FunctionTable::ImageName(uint32_t function) const {
  static const std::string* const kNone = new std::string;
  if (functions_[function].kind == FunctionKind::kLabel) return *kNone;
  const uint32_t image = functions_[function].image;
  return images_[image < profile_.images.size() ? image : profile_.images.size()];
}

bool FunctionTable::IsNamed(uint32_t function, const std::string& name) const {
  const uint32_t symbol = functions_[function].symbol;
  return (symbol != kNone32 && profile_.symbols[symbol].name == name) || Name(function) == name;
}

}  // namespace ksamp
