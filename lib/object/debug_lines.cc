// SPDX-License-Identifier: Apache-2.0
#include "lib/object/debug_lines.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/object/debug_file_finder.h"
#include "lib/object/dwarf_file.h"
#include "lib/object/dwarf_inline_walk.h"
#include "lib/object/dwarf_line_program.h"
#include "lib/object/dwarf_names.h"
#include "lib/object/dwarf_split.h"
#include "lib/object/dwarf_unit_index.h"

namespace ksamp {
namespace {

// Honest debug info is read about three times for an answer: lines, entries, and abbreviations or names.
constexpr uint64_t kWorkTimes = 16;
uint64_t WorkFor(const DwarfFile& file) {
  constexpr uint64_t kAtLeast = uint64_t{64} << 20;
  return kWorkTimes * file.sections().size() + kAtLeast;
}

// The wanted addresses of one unit, and what was found for them.
struct UnitBatch {
  uint32_t unit = 0;
  size_t begin = 0, end = 0;  // of Asked::addresses
  std::vector<SourceFunction> functions;
  std::vector<std::string> files;
  std::vector<SourceFrame> frames;     // numbers are those of the two above
  std::vector<uint32_t> frame_counts;  // per address
};

// Wanted addresses ordered by unit.
struct Asked {
  std::vector<uint64_t> addresses;
  std::vector<size_t> index;  // of each in the question
  std::vector<UnitBatch> batches;
};

Asked ByUnit(const DwarfUnitIndex& index, std::span<const uint64_t> addresses) {
  std::vector<std::pair<uint32_t, size_t>> found;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (const auto unit = index.Find(addresses[i])) found.emplace_back(*unit, i);
  }
  std::sort(found.begin(), found.end());
  Asked asked;
  for (const auto& [unit, i] : found) {
    if (asked.batches.empty() || asked.batches.back().unit != unit) {
      asked.batches.emplace_back();
      asked.batches.back().unit = unit;
      asked.batches.back().begin = asked.addresses.size();
    }
    asked.addresses.push_back(addresses[i]);
    asked.index.push_back(i);
    asked.batches.back().end = asked.addresses.size();
  }
  return asked;
}

// Numbers for keys, counted up.
template <typename Key>
class Numbering {
 public:
  // The key's number, and whether it is new.
  std::pair<uint32_t, bool> Of(const Key& key) {
    const auto [it, added] = numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size()));
    return {it->second, added};
  }

 private:
  absl::flat_hash_map<Key, uint32_t> numbers_;
};

// Frames of one unit's addresses.
class FrameMaker {
 public:
  FrameMaker(const DwarfUnitReader& reader, const DwarfLineProgram& program, DwarfNames* names,
             UnitBatch* batch)
      : reader_(reader), program_(program), names_(*names), batch_(*batch) {}

  // Those of the next address.
  void Add(const DwarfPlace& place, const InlinedCalls& calls, uint32_t innermost) {
    const size_t before = batch_.frames.size();
    SourceFrame frame;
    if (place.known) {
      frame.file = NumberedFile(place.file);
      frame.line = place.line;
    }
    for (uint32_t at = innermost; at != InlinedCalls::kNone; at = calls.calls[at].outer) {
      const InlinedCalls::Call& call = calls.calls[at];
      frame.function = FunctionOf(call.entry);
      batch_.frames.push_back(frame);
      frame = SourceFrame{.file = NumberedFile(call.file), .line = call.line};
    }
    if (batch_.frames.size() == before && place.known) batch_.frames.push_back(frame);
    batch_.frame_counts.push_back(static_cast<uint32_t>(batch_.frames.size() - before));
  }

 private:
  uint32_t NumberedFile(uint64_t number) {
    const auto [index, added] = numbers_.Of(number);
    if (added) file_of_number_.push_back(FileOf(program_.PathOf(number)));
    return file_of_number_[index];
  }
  uint32_t FileOf(const std::string& path) {
    if (path.empty()) return SourceFrame::kNone;
    const auto [index, added] = files_.Of(path);
    if (added) batch_.files.push_back(path);
    return index;
  }
  uint32_t FunctionOf(uint64_t entry) {
    const auto [index, added] = functions_.Of(entry);
    if (added) {
      DwarfFunction found = names_.Describe(reader_, program_, entry);
      batch_.functions.push_back({std::move(found.name), FileOf(found.path), found.line});
    }
    return batch_.functions[index].name.empty() ? SourceFrame::kNone : index;
  }

  const DwarfUnitReader& reader_;
  const DwarfLineProgram& program_;
  DwarfNames& names_;
  UnitBatch& batch_;
  Numbering<uint64_t> numbers_, functions_;
  std::vector<uint32_t> file_of_number_;
  Numbering<std::string> files_;
};

// What one thread keeps from unit to unit.
class UnitWorker {
 public:
  UnitWorker(const DwarfFile& file, const DwarfSplitFiles& split, uint64_t work)
      : file_(file), split_(split), work_(work), abbrevs_(&work_) {}

  void Answer(std::span<const uint64_t> addresses, bool inlined, UnitBatch* batch) {
    const DwarfUnit& unit = file_.units()[batch->unit];
    const DwarfUnitReader reader(file_, unit, abbrevs_.Get(file_, unit));
    if (!reader.ok() || work_.spent()) return;
    std::vector<DwarfPlace> places(addresses.size());
    const DwarfLineProgram program(reader, reader.root().line_table.value_or(~uint64_t{0}));
    program.Run(addresses, &work_, places);
    InlinedCalls none;
    none.innermost.assign(addresses.size(), InlinedCalls::kNone);
    if (!inlined) return MakeFrames(reader, program, none, places, batch);
    if (!reader.root().split_name.empty() && AnswerBySplit(reader, program, addresses, places, batch)) return;
    MakeFrames(reader, program, FindInlinedCalls(reader, addresses, &work_), places, batch);
  }

  bool spent() const { return work_.spent(); }
  size_t missing_split_units() const { return missing_; }
  const std::string& first_missing() const { return first_missing_; }

 private:
  // The entries are in another file; addresses and lines stay here.
  bool AnswerBySplit(const DwarfUnitReader& skeleton, const DwarfLineProgram& program,
                     std::span<const uint64_t> addresses, std::span<const DwarfPlace> places,
                     UnitBatch* batch) {
    const std::optional<DwarfSplitUnit> split = split_.Find(skeleton);
    if (!split) {
      if (missing_++ == 0) first_missing_ = skeleton.root().split_name;
      return false;
    }
    work_.Allow(kWorkTimes * split->file.sections().info.size());
    const DwarfUnitReader reader(split->file, split->unit(), abbrevs_.Get(split->file, split->unit()),
                                 &skeleton);
    MakeFrames(reader, program, FindInlinedCalls(reader, addresses, &work_), places, batch);
    abbrevs_.Forget();
    return true;
  }

  void MakeFrames(const DwarfUnitReader& reader, const DwarfLineProgram& program, const InlinedCalls& calls,
                  std::span<const DwarfPlace> places, UnitBatch* batch) {
    DwarfNames names(&abbrevs_, &work_);
    FrameMaker frames(reader, program, &names, batch);
    for (size_t i = 0; i < places.size(); ++i) frames.Add(places[i], calls, calls.innermost[i]);
  }

  const DwarfFile& file_;
  const DwarfSplitFiles& split_;
  DwarfWork work_;
  DwarfAbbrevCache abbrevs_;
  size_t missing_ = 0;
  std::string first_missing_;
};

// Puts the units' answers together in the order of the question, each function and file once.
class Assembly {
 public:
  explicit Assembly(SourceFrames* out) : out_(*out) {}

  void Add(const UnitBatch& batch, std::span<const SourceFrame> frames) {
    for (SourceFrame frame : frames) {
      frame.function = FunctionOf(batch, frame.function);
      frame.file = FileOf(batch, frame.file);
      out_.frames.push_back(frame);
    }
  }

 private:
  uint32_t FileOf(const UnitBatch& batch, uint32_t file) {
    if (file == SourceFrame::kNone) return file;
    const auto [index, added] = files_.Of(batch.files[file]);
    if (added) out_.files.push_back(batch.files[file]);
    return index;
  }
  uint32_t FunctionOf(const UnitBatch& batch, uint32_t number) {
    if (number == SourceFrame::kNone) return number;
    SourceFunction function = batch.functions[number];
    function.file = FileOf(batch, function.file);
    const auto [index, added] = functions_.Of({function.name, function.file, function.line});
    if (added) out_.functions.push_back(std::move(function));
    return index;
  }

  SourceFrames& out_;
  Numbering<std::tuple<std::string, uint32_t, uint32_t>> functions_;
  Numbering<std::string> files_;
};

}  // namespace

struct DebugLines::Content {
  Content(DwarfFile main, const std::string& path) : file(std::move(main)), split(path) {}
  DwarfFile file;
  DwarfUnitIndex index;
  DwarfSplitFiles split;
  std::optional<ElfImage> alternate_elf;
  std::optional<DwarfFile> alternate;
  std::vector<std::string> notes;
};

DebugLines::DebugLines(std::unique_ptr<Content> content) : content_(std::move(content)) {}
DebugLines::DebugLines(DebugLines&&) noexcept = default;
DebugLines& DebugLines::operator=(DebugLines&&) noexcept = default;
DebugLines::~DebugLines() = default;

absl::StatusOr<DebugLines> DebugLines::Open(const ElfImage& elf, const std::string& path,
                                            const Options& options) {
  KSAMP_ASSIGN_OR_RETURN(DwarfFile file, DwarfFile::Load(elf));
  auto content = std::make_unique<Content>(std::move(file), path);
  if (elf.FindSection(".gnu_debugaltlink") != nullptr) {
    DebugFile alternate = FindAlternateFile(elf, path, options.debug_dirs);
    content->alternate_elf = std::move(alternate.elf);
    absl::StatusOr<DwarfFile> shared =
        content->alternate_elf ? DwarfFile::Load(*content->alternate_elf) : absl::NotFoundError("not found");
    if (shared.ok()) {
      content->alternate = *std::move(shared);
      content->file.set_alternate(&*content->alternate);
    } else {
      content->notes.push_back(
          "the debug info that dwz moved to another file (.gnu_debugaltlink) is not there: "
          "names of functions may be missing");
    }
  }
  DwarfWork work(WorkFor(content->file));
  content->index = DwarfUnitIndex::Build(content->file, &work);
  return DebugLines(std::move(content));
}

namespace {

// What the workers could not do.
void AddNotes(const std::deque<UnitWorker>& workers, std::vector<std::string>* notes) {
  size_t missing = 0;
  std::string first;
  bool spent = false;
  for (const UnitWorker& worker : workers) {
    missing += worker.missing_split_units();
    if (first.empty()) first = worker.first_missing();
    spent = spent || worker.spent();
  }
  if (missing != 0) {
    notes->push_back(StrCat("split debug info is missing, of ", missing, missing == 1 ? " unit" : " units",
                            " (", first, "): calls inlined there are not known"));
  }
  if (spent) notes->push_back("the debug info asks for more work than its size accounts for; given up");
}

// The units' answers in the order of the question.
void Assemble(const Asked& asked, size_t count, SourceFrames* found) {
  struct Answer {
    const UnitBatch* batch = nullptr;
    std::span<const SourceFrame> frames;
  };
  std::vector<Answer> answers(count);
  for (const UnitBatch& batch : asked.batches) {
    size_t first = 0;
    for (size_t i = 0; i < batch.frame_counts.size(); ++i) {
      answers[asked.index[batch.begin + i]] = {&batch,
                                               std::span(batch.frames).subspan(first, batch.frame_counts[i])};
      first += batch.frame_counts[i];
    }
  }
  Assembly assembly(found);
  for (const Answer& answer : answers) {
    found->first.push_back(static_cast<uint32_t>(found->frames.size()));
    if (answer.batch != nullptr) assembly.Add(*answer.batch, answer.frames);
  }
  found->first.push_back(static_cast<uint32_t>(found->frames.size()));
}

}  // namespace

SourceFrames DebugLines::Find(std::span<const uint64_t> addresses, const Query& query) const {
  Asked asked = ByUnit(content_->index, addresses);
  const unsigned threads = std::max(1u, query.threads);
  std::deque<UnitWorker> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.emplace_back(content_->file, content_->split, WorkFor(content_->file));
  ParallelFor(asked.batches.size(), threads, [&](size_t i, unsigned worker) {
    UnitBatch& batch = asked.batches[i];
    const auto wanted =
        std::span(std::as_const(asked.addresses)).subspan(batch.begin, batch.end - batch.begin);
    workers[worker].Answer(wanted, query.inlined, &batch);
  });
  SourceFrames found;
  found.notes = content_->notes;
  Assemble(asked, addresses.size(), &found);
  AddNotes(workers, &found.notes);
  return found;
}

}  // namespace ksamp
