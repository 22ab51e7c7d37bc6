// SPDX-License-Identifier: Apache-2.0
// ReportView: a profile summed up into the rows of one report; every form prints one of these.
//
//   ReportView view(profile, options, RowUnit::kSymbol, Layout::kColumns);
//   for (uint32_t row : SortedRows(view, options)) ... view.Get(row, 0) ... view.SymbolName(row)
//
// A row is one (identity, image, symbol); what stands side by side (events, CPUs, …) is a class, one cell of
// the row. Work is per counted address once, by numbers; names are made when asked for, once each.
#ifndef KSAMP_LIB_REPORT_VIEW_H_
#define KSAMP_LIB_REPORT_VIEW_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ksamp/profile.h"
#include "ksamp/report.h"
#include "lib/report/names.h"
#include "lib/report/percent.h"

namespace ksamp {

enum class RowUnit { kImage, kSymbol, kAddress };  // kAddress: symbols with their addresses
enum class Layout {
  kColumns,  // one class per value of the axis; of the rest of the key application and comm are kept
  kByApp,    // the same without comms
  kByImage,  // the same without applications and comms
  kRecords,  // one class; the whole key is part of the row (CSV, JSON)
};

struct ReportClass {
  std::string name;  // "cpu-clock:250689", "cpu:3": the image summary's column, XML's class
  uint32_t event = 0;
  uint32_t cpu = kNone32, pid = kNone32, tid = kNone32;  // those of the axis
};

struct ReportRow {
  uint32_t identity = 0;  // index into identities()
  uint32_t image = kNone32;
  uint32_t symbol = kNone32;  // index into Profile::symbols
  UnresolvedReason reason = UnresolvedReason::kNone;
  uint64_t vma = 0;  // of the symbol, as nm and objdump print it for the image's file; 0 without a symbol
};

struct AddressCell {
  uint32_t row = 0, class_index = 0;
  uint32_t location = 0;  // index into Profile::locations
  uint64_t address = 0;   // as printed: ELF address, or file offset where there is no symbol
  Counts counts;
};

class ReportView {
 public:
  ReportView(const Profile& profile, const ReportOptions& options, RowUnit unit, Layout layout);

  const Profile& profile() const { return profile_; }
  const ReportOptions& options() const { return options_; }
  ClassAxis axis() const { return axis_; }
  const std::vector<ReportClass>& classes() const { return classes_; }
  const std::vector<ProfileKey>& identities() const { return identities_; }
  const std::vector<ReportRow>& rows() const { return rows_; }
  const ProfileKey& IdentityOf(uint32_t row) const { return identities_[rows_[row].identity]; }

  const Counts& Get(uint32_t row, size_t class_index) const {
    return cells_[row * classes_.size() + class_index];
  }
  std::span<const Counts> CellsOf(uint32_t row) const {
    return {cells_.data() + row * classes_.size(), classes_.size()};
  }
  // What shares are made of: the number of samples, or the period in frequency mode.
  uint64_t Value(const Counts& counts, uint32_t event) const {
    return profile_.events[event].frequency_mode ? counts.period : counts.samples;
  }
  uint64_t ValueOf(uint32_t row, size_t class_index) const {
    return Value(Get(row, class_index), EventOf(row, class_index));
  }
  uint32_t EventOf(uint32_t row, size_t class_index) const {
    return layout_ == Layout::kRecords ? IdentityOf(row).event : classes_[class_index].event;
  }
  // Sum over all rows, before thresholds: the base of percentages.
  const Counts& Base(uint32_t row, size_t class_index) const {
    return bases_[layout_ == Layout::kRecords ? IdentityOf(row).event : class_index];
  }
  const Counts& ClassBase(size_t class_index) const { return bases_[class_index]; }
  double ShareOf(uint32_t row, size_t class_index) const {
    const uint32_t event = EventOf(row, class_index);
    return Share(Value(Get(row, class_index), event), Value(Base(row, class_index), event));
  }
  bool ReachesThreshold(uint32_t row) const;

  // The cells of one row's addresses, ascending by (address, class). Only with RowUnit::kAddress.
  std::span<const AddressCell> AddressesOf(uint32_t row) const;

  std::string ImageName(uint32_t row) const;
  std::string AppName(uint32_t row) const;  // the image's where the image is its own application
  // Demangled, made once; valid as long as the view.
  const std::string& SymbolName(uint32_t row) const;
  uint64_t Vma(uint32_t row) const { return rows_[row].vma; }
  // Where the row's symbol begins, and where an address is.
  SourcePlace PlaceOf(uint32_t row) const;
  SourcePlace PlaceOf(const AddressCell& cell) const;

  bool AppIsImage(uint32_t row) const;
  bool has_comms() const { return has_comms_; }

 private:
  void MakeClasses();
  void MakeIdentities(Layout layout);
  void CountEntries(RowUnit unit);
  void GroupAddresses();
  void FindAppPaths();
  bool InModule(const ProfileLocation& location) const;
  uint64_t PrintedAddress(const ProfileLocation& location) const;
  uint64_t SymbolVma(const ProfileLocation& location) const;

  const Profile& profile_;
  const ReportOptions& options_;
  Layout layout_;
  ClassAxis axis_ = ClassAxis::kNone;
  bool has_comms_ = false;
  std::vector<ReportClass> classes_;
  std::vector<uint32_t> class_of_key_, identity_of_key_;
  std::vector<ProfileKey> identities_;
  std::vector<ReportRow> rows_;
  std::vector<Counts> cells_;  // row-major
  std::vector<Counts> bases_;  // by class; Layout::kRecords: by event
  std::vector<AddressCell> addresses_;
  std::vector<size_t> first_address_;  // by row, and one past the end
  std::vector<std::string> short_images_, long_images_;
  std::vector<std::string> apps_;  // as printed, by index of Profile::names
  mutable std::vector<std::string> symbol_names_, unresolved_names_;  // made when first asked for
};

// InvalidArgument: the profile cannot stand in columns (two axes at once, too many classes).
absl::Status CheckColumns(const Profile& profile, const ReportOptions& options);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_VIEW_H_
