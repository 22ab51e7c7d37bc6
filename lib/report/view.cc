// SPDX-License-Identifier: Apache-2.0
#include "lib/report/view.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/base/str_cat.h"
#include "lib/report/names.h"

namespace ksamp {
namespace {

// More columns than this nobody reads, and cells are rows times classes.
constexpr size_t kMaxClasses = 512;
// Codes of symbol-less rows stand above all symbol indices.
constexpr uint64_t kReasonBit = uint64_t{1} << 32;

using AxisValue = std::tuple<uint32_t, uint32_t, uint32_t>;  // numbers in the order the columns stand

AxisValue ValueOnAxis(const ProfileKey& key, ClassAxis axis) {
  switch (axis) {
    case ClassAxis::kEvent:
      return {key.event, 0, 0};
    case ClassAxis::kCpu:
      return {key.cpu, 0, 0};
    case ClassAxis::kThread:
      return {key.pid, key.tid, 0};
    case ClassAxis::kProcess:
      return {key.pid, 0, 0};
    default:
      return {0, 0, 0};
  }
}

std::vector<uint32_t> CountedEvents(const Profile& profile) {
  std::vector<bool> counted(profile.events.size());
  for (const ProfileEntry& entry : profile.entries) counted[profile.keys[entry.key].event] = true;
  std::vector<uint32_t> events;
  for (uint32_t i = 0; i < counted.size(); ++i)
    if (counted[i]) events.push_back(i);
  return events;
}

ClassAxis EffectiveAxis(const Profile& profile, ClassAxis asked) {
  return asked == ClassAxis::kNone && CountedEvents(profile).size() > 1 ? ClassAxis::kEvent : asked;
}

ReportClass MakeClass(const Profile& profile, const ProfileKey& key, ClassAxis axis) {
  ReportClass result;
  result.event = key.event;
  const ProfileEvent& event = profile.events[key.event];
  switch (axis) {
    case ClassAxis::kCpu:
      result.cpu = key.cpu;
      result.name = StrCat("cpu:", key.cpu);
      break;
    case ClassAxis::kThread:
      result.pid = key.pid;
      result.tid = key.tid;
      result.name = StrCat("tid:", key.tid);
      break;
    case ClassAxis::kProcess:
      result.pid = key.pid;
      result.name = StrCat("tgid:", key.pid);
      break;
    default:
      result.name = event.frequency_mode ? event.name : StrCat(event.name, ":", event.period_or_frequency);
  }
  return result;
}

// The part of `key` that is kept in a row.
ProfileKey IdentityOfKey(ProfileKey key, Layout layout) {
  key.idle_task = false;
  if (layout == Layout::kRecords) return key;
  key.event = 0;
  key.pid = key.tid = key.cpu = kNone32;
  if (layout != Layout::kColumns) key.comm = kNone32;
  if (layout == Layout::kByImage) key.app = kNone32;
  return key;
}

auto Tie(const ProfileKey& key) {
  return std::tie(key.event, key.app, key.comm, key.pid, key.tid, key.cpu);
}

}  // namespace

absl::Status CheckColumns(const Profile& profile, const ReportOptions& options) {
  const std::vector<uint32_t> events = CountedEvents(profile);
  const ClassAxis axis = EffectiveAxis(profile, options.classes);
  if (axis != ClassAxis::kEvent && axis != ClassAxis::kNone && events.size() > 1) {
    std::string names;
    for (uint32_t event : events) StrAppend(&names, names.empty() ? "" : ", ", profile.events[event].name);
    return absl::InvalidArgumentError(
        StrCat("attempted to show two axes of columns at once, events (", names,
               ") and what is separated: choose one with event:NAME, or use --csv"));
  }
  std::map<AxisValue, bool> values;
  for (const ProfileKey& key : profile.keys) values[ValueOnAxis(key, axis)] = true;
  if (values.size() > kMaxClasses)
    return absl::InvalidArgumentError(StrCat(values.size(),
                                             " groups of columns side by side are too many (at most ",
                                             kMaxClasses, "): select some of them, or use --csv"));
  return absl::OkStatus();
}

ReportView::ReportView(const Profile& profile, const ReportOptions& options, RowUnit unit, Layout layout)
    : profile_(profile), options_(options), layout_(layout) {
  for (const Image& image : profile.images) {
    short_images_.push_back(ShortImageName(image));
    long_images_.push_back(LongImageName(image));
  }
  MakeClasses();
  MakeIdentities(layout);
  symbol_names_.resize(profile.symbols.size());
  CountEntries(unit);
  if (unit == RowUnit::kAddress) GroupAddresses();
  apps_ = profile.names;
  if (options.long_filenames) FindAppPaths();
}

// An application is known by its basename; the image of that name below it is its executable.
void ReportView::FindAppPaths() {
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    const uint32_t app = IdentityOf(row).app;
    if (app < apps_.size() && AppIsImage(row)) apps_[app] = long_images_[rows_[row].image];
  }
}

void ReportView::MakeClasses() {
  axis_ = EffectiveAxis(profile_, options_.classes);
  class_of_key_.assign(profile_.keys.size(), 0);
  if (layout_ == Layout::kRecords) {
    classes_.emplace_back();
    return;
  }
  std::vector<bool> used(profile_.keys.size());
  for (const ProfileEntry& entry : profile_.entries) used[entry.key] = true;
  std::map<AxisValue, uint32_t> found;
  for (uint32_t i = 0; i < profile_.keys.size(); ++i)
    if (used[i]) found.emplace(ValueOnAxis(profile_.keys[i], axis_), i);
  for (auto& [value, index] : found) {
    classes_.push_back(MakeClass(profile_, profile_.keys[index], axis_));
    index = static_cast<uint32_t>(classes_.size() - 1);
  }
  for (uint32_t i = 0; i < profile_.keys.size(); ++i)
    if (used[i]) class_of_key_[i] = found[ValueOnAxis(profile_.keys[i], axis_)];
  if (classes_.empty() && !profile_.events.empty())
    classes_.push_back(MakeClass(profile_, ProfileKey{}, ClassAxis::kNone));
}

void ReportView::MakeIdentities(Layout layout) {
  const auto less = [](const ProfileKey& a, const ProfileKey& b) { return Tie(a) < Tie(b); };
  std::map<ProfileKey, uint32_t, decltype(less)> found(less);
  for (const ProfileKey& key : profile_.keys) {
    const ProfileKey identity = IdentityOfKey(key, layout);
    const auto [at, added] = found.emplace(identity, static_cast<uint32_t>(identities_.size()));
    if (added) identities_.push_back(identity);
    identity_of_key_.push_back(at->second);
    has_comms_ = has_comms_ || key.comm != kNone32;
  }
}

void ReportView::CountEntries(RowUnit unit) {
  bases_.resize(layout_ == Layout::kRecords ? profile_.events.size() : classes_.size());
  using Code = std::pair<uint64_t, uint64_t>;
  absl::flat_hash_map<Code, uint32_t> found;
  Code last_code;
  uint32_t last_row = kNone32;
  if (unit == RowUnit::kAddress) addresses_.reserve(profile_.entries.size());
  for (const ProfileEntry& entry : profile_.entries) {
    const ProfileLocation& location = profile_.locations[entry.location];
    ReportRow row{.identity = identity_of_key_[entry.key], .image = location.image};
    uint64_t code = 0;
    if (unit != RowUnit::kImage) {
      row.symbol = location.symbol;
      row.reason = location.symbol == kNone32 ? location.reason : UnresolvedReason::kNone;
      row.vma = SymbolVma(location);
      code = row.symbol != kNone32 ? row.symbol : kReasonBit | static_cast<uint64_t>(row.reason);
    }
    // Entries come by address, so most belong to the row of the one before.
    const Code whole_code{uint64_t{row.identity} << 32 | row.image, code};
    if (last_row == kNone32 || whole_code != last_code) {
      const auto [at, added] = found.try_emplace(whole_code, static_cast<uint32_t>(rows_.size()));
      if (added) {
        rows_.push_back(row);
        cells_.resize(cells_.size() + classes_.size());
      }
      last_code = whole_code;
      last_row = at->second;
    }
    const uint32_t class_index = class_of_key_[entry.key];
    cells_[last_row * classes_.size() + class_index] += entry.counts;
    bases_[layout_ == Layout::kRecords ? profile_.keys[entry.key].event : class_index] += entry.counts;
    if (unit == RowUnit::kAddress)
      addresses_.push_back({last_row, class_index, entry.location, PrintedAddress(location), entry.counts});
  }
}

// Sorts the cells of addresses by (row, address, class) and sums up those that are one: distributed by row
// first, since within a row they mostly are in order already.
void ReportView::GroupAddresses() {
  std::vector<size_t> next(rows_.size() + 1);
  for (const AddressCell& cell : addresses_) ++next[cell.row + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  first_address_ = next;
  std::vector<AddressCell> sorted(addresses_.size());
  for (const AddressCell& cell : addresses_) sorted[next[cell.row]++] = cell;
  const auto place = [](const AddressCell& c) { return std::pair(c.address, c.class_index); };
  size_t written = 0;
  for (size_t row = 0; row < rows_.size(); ++row) {
    const size_t begin = first_address_[row], end = first_address_[row + 1];
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(end);
    const auto less = [&](const AddressCell& a, const AddressCell& b) { return place(a) < place(b); };
    if (!std::is_sorted(first, last, less)) std::sort(first, last, less);
    first_address_[row] = written;
    for (size_t i = begin; i < end; ++i) {
      if (i > begin && place(sorted[i]) == place(sorted[written - 1])) {
        sorted[written - 1].counts += sorted[i].counts;
      } else {
        sorted[written++] = sorted[i];
      }
    }
  }
  sorted.resize(written);
  first_address_[rows_.size()] = written;
  addresses_ = std::move(sorted);
}

bool ReportView::InModule(const ProfileLocation& location) const {
  return location.image < profile_.images.size() &&
         profile_.images[location.image].kind == ImageKind::kModule;
}

uint64_t ReportView::PrintedAddress(const ProfileLocation& location) const {
  switch (location.reason) {
    case UnresolvedReason::kNone:
    case UnresolvedReason::kBetweenSymbols:
    case UnresolvedReason::kNotExported:
      return location.elf.value;
    default:
      return InModule(location) ? location.elf.value : location.address;
  }
}

// A module's symbols start at runtime addresses; its file has the same distances at other ones.
uint64_t ReportView::SymbolVma(const ProfileLocation& location) const {
  if (location.symbol == kNone32) return 0;
  const ProfileSymbol& symbol = profile_.symbols[location.symbol];
  const uint64_t start = symbol.start;
  if (start == 0 && symbol.size == 0) return 0;  // inlined everywhere: it has no code of its own
  return InModule(location) ? start + (location.elf.value - location.address) : start;
}

SourcePlace ReportView::PlaceOf(uint32_t row) const {
  const uint32_t symbol = rows_[row].symbol;
  if (symbol == kNone32) return {};
  return {profile_.symbols[symbol].file, profile_.symbols[symbol].line};
}

SourcePlace ReportView::PlaceOf(const AddressCell& cell) const {
  const ProfileLocation& location = profile_.locations[cell.location];
  if (location.frames == 0) return {};
  const SourceFrame& frame = profile_.source.frames[location.first_frame];
  if (frame.file == SourceFrame::kNone) return {};
  return {profile_.source.files[frame.file], frame.line};
}

bool ReportView::ReachesThreshold(uint32_t row) const {
  if (options_.threshold <= 0) return true;
  for (size_t c = 0; c < classes_.size(); ++c)
    if (ShareOf(row, c) >= options_.threshold) return true;
  return false;
}

std::span<const AddressCell> ReportView::AddressesOf(uint32_t row) const {
  return std::span(addresses_).subspan(first_address_[row], first_address_[row + 1] - first_address_[row]);
}

std::string ReportView::ImageName(uint32_t row) const {
  const uint32_t image = rows_[row].image;
  if (image >= profile_.images.size()) return "[unknown]";
  return options_.long_filenames ? long_images_[image] : short_images_[image];
}

std::string ReportView::AppName(uint32_t row) const {
  const uint32_t app = IdentityOf(row).app;
  return app < apps_.size() ? apps_[app] : ImageName(row);
}

bool ReportView::AppIsImage(uint32_t row) const {
  const uint32_t app = IdentityOf(row).app, image = rows_[row].image;
  if (app >= profile_.names.size()) return true;
  return image < profile_.images.size() && profile_.names[app] == short_images_[image];
}

const std::string& ReportView::SymbolName(uint32_t row) const {
  const ReportRow& r = rows_[row];
  if (r.symbol != kNone32) {
    std::string& name = symbol_names_[r.symbol];
    if (name.empty()) {
      const std::string& raw = profile_.symbols[r.symbol].name;
      name = options_.demangle ? options_.demangle(raw) : raw;
    }
    return name;
  }
  if (unresolved_names_.empty()) unresolved_names_.resize(rows_.size());
  std::string& name = unresolved_names_[row];
  if (name.empty()) {
    Image unknown;
    unknown.kind = ImageKind::kUnknown;
    name = UnresolvedName(r.image < profile_.images.size() ? profile_.images[r.image] : unknown, r.reason);
  }
  return name;
}

}  // namespace ksamp
