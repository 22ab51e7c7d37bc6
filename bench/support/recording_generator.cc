// SPDX-License-Identifier: Apache-2.0
#include "bench/support/recording_generator.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_encoder.h"
#include "lib/perfdata/writer.h"

namespace ksamp {
namespace {

constexpr uint64_t kKernelText = 0xffffffff81000000, kKernelSize = 0x1000000, kPage = 4096;
constexpr uint64_t kSamplesPerBlock = 2000, kSamplesPerLife = 4000, kLibrariesPerProcess = 30;

struct File {
  std::string path;
  uint64_t size = 0;
};

struct Mapped {
  const File* file = nullptr;
  uint64_t start = 0;
};

struct Process {
  uint32_t pid = 0;
  std::vector<Mapped> maps;
  bool in_kernel = false;
  uint64_t function = 0;  // where it runs at the moment; 0: nowhere yet
};

std::vector<File> FilesIn(const char* directory, size_t count) {
  std::vector<File> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string path = entry.path().string();
    const bool wanted = path.find(".so") != path.npos || path.starts_with("/usr/bin/");
    if (wanted && entry.is_regular_file(error) && !entry.is_symlink(error) &&
        entry.file_size(error) > 16 * kPage)
      files.push_back({path, entry.file_size(error)});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  if (files.size() > count) files.resize(count);
  return files;
}

class Generator {
 public:
  explicit Generator(const GeneratorOptions& options)
      : options_(options),
        random_(options.seed),
        programs_(FilesIn("/usr/bin", 120)),
        libraries_(FilesIn("/usr/lib/x86_64-linux-gnu", 200)) {
    attr_.type = PERF_TYPE_SOFTWARE;
    attr_.size = sizeof(attr_);
    attr_.config = PERF_COUNT_SW_CPU_CLOCK;
    attr_.sample_period = 250'689;
    attr_.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                        PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    attr_.sample_id_all = attr_.mmap = attr_.mmap2 = attr_.comm = attr_.comm_exec = attr_.task = 1;
  }

  absl::Status Write(const std::string& path) {
    if (programs_.empty() || libraries_.empty())
      return absl::NotFoundError("generate recording: no programs in /usr/bin or no libraries");
    KSAMP_ASSIGN_OR_RETURN(UniqueFd fd, CreateOutputFile(path));
    WriterOptions options;
    options.name = path;
    options.events.push_back({attr_, "cpu-clock", {1, 2}});
    KSAMP_ASSIGN_OR_RETURN(PerfDataWriter writer, PerfDataWriter::Create(std::move(fd), std::move(options)));
    KSAMP_ASSIGN_OR_RETURN(
        layout_, SampleLayout::FromAttr({reinterpret_cast<const std::byte*>(&attr_), sizeof(attr_)}));
    KSAMP_RETURN_IF_ERROR(Start());
    for (uint64_t done = 0; done < options_.samples;) {
      const uint64_t count = std::min(kSamplesPerBlock, options_.samples - done);
      KSAMP_RETURN_IF_ERROR(Block(done, count, static_cast<uint32_t>(done / kSamplesPerBlock % 2)));
      done += count;
      KSAMP_RETURN_IF_ERROR(writer.Append(out_.bytes()));
      out_.Clear();
    }
    return writer.Close({});
  }

 private:
  uint32_t Below(uint64_t n) { return static_cast<uint32_t>(random_() % n); }
  // Small numbers far more often than large ones.
  uint64_t Skewed(uint64_t n) {
    const double u = static_cast<double>(random_() >> 11) * 0x1p-53;
    return static_cast<uint64_t>(static_cast<double>(n) * u * u * u * u);
  }

  absl::Status Put(uint32_t pid, uint64_t time, RecordBody body) {
    Record record;
    record.id.pid = record.id.tid = pid;
    record.id.time = time;
    record.id.cpu = 0;
    record.id.id = 1;
    record.body = body;
    return EncodeRecord(record, layout_, out_);
  }
  absl::Status Map(uint32_t pid, uint64_t time, uint64_t start, uint64_t size, uint64_t offset,
                   std::string_view path) {
    MmapRecord map;
    map.mode = pid == ~0u ? CpuMode::kKernel : CpuMode::kUser;
    map.pid = pid;
    map.tid = pid == ~0u ? 0 : pid;
    map.addr = start;
    map.length = size;
    map.file_offset = offset;
    map.has_protection = true;
    map.protection = PROT_READ | PROT_EXEC;
    map.path = path;
    return Put(pid, time, map);
  }

  absl::Status Start() {
    KSAMP_RETURN_IF_ERROR(Map(~0u, 0, kKernelText, kKernelSize, kKernelText, "[kernel.kallsyms]_text"));
    processes_.resize(options_.processes);
    for (Process& process : processes_) KSAMP_RETURN_IF_ERROR(Exec(process, 0, false));
    return absl::OkStatus();
  }

  absl::Status Exec(Process& process, uint64_t time, bool forked) {
    const uint32_t parent = process.pid;
    process.pid = 1000 + next_pid_++;
    const uint32_t pid = process.pid;
    const File& program = programs_[Skewed(programs_.size())];
    if (forked)
      KSAMP_RETURN_IF_ERROR(Put(
          parent, time, ForkRecord{.pid = pid, .ppid = parent, .tid = pid, .ptid = parent, .time = time}));
    const std::string_view comm = Basename(program.path).substr(0, 15);
    KSAMP_RETURN_IF_ERROR(Put(pid, time, CommRecord{.pid = pid, .tid = pid, .exec = forked, .comm = comm}));
    process.function = 0;
    process.maps = {{&program, 0x550000000000 + uint64_t{Below(1u << 20)} * kPage}};
    uint64_t at = 0x7f0000000000 + uint64_t{Below(1u << 20)} * kPage;
    for (uint64_t i = 0; i < kLibrariesPerProcess; ++i) {
      process.maps.push_back({&libraries_[(Skewed(libraries_.size()) + i) % libraries_.size()], at});
      at += (process.maps.back().file->size / kPage + 16) * kPage;
    }
    for (const Mapped& map : process.maps) {
      const uint64_t size = (map.file->size + kPage - 1) / kPage * kPage;
      KSAMP_RETURN_IF_ERROR(Map(pid, time, map.start, size, 0, map.file->path));
    }
    return absl::OkStatus();
  }

  absl::Status Block(uint64_t first, uint64_t count, uint32_t cpu) {
    Process* process = &processes_[Skewed(processes_.size())];
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t time = 1'000'000'000 + (first + i) * 125'345;
      if (i % 20 == 0) process = &processes_[Skewed(processes_.size())];
      if ((first + i) % kSamplesPerLife == kSamplesPerLife - 1)
        KSAMP_RETURN_IF_ERROR(Exec(*process, time, true));
      PutSample(*process, time, cpu);
    }
    return absl::OkStatus();
  }

  // Real samples come in clusters: a thread is hit in the same few functions again and again, at their few
  // slow instructions. These numbers give one distinct (process, address) in 7 samples, as a compilation has.
  void PutSample(Process& process, uint64_t time, uint32_t cpu) {
    constexpr uint64_t kStay = 8, kFunctionSize = 256, kSlowInstructions = 16;
    if (process.function == 0 || Below(kStay) == 0) {
      const Mapped& map = process.maps[Skewed(process.maps.size())];
      process.in_kernel = Below(3) == 0;
      const uint64_t start = process.in_kernel ? kKernelText : map.start;
      const uint64_t size = process.in_kernel ? kKernelSize : map.file->size;
      process.function = start + Skewed(size / kFunctionSize) * kFunctionSize;
    }
    const bool kernel = process.in_kernel;
    const uint64_t ip = process.function + Skewed(kSlowInstructions) * 4;
    const uint16_t misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    out_.Put(perf_event_header{.type = PERF_RECORD_SAMPLE, .misc = misc, .size = 56});
    out_.Put<uint64_t>(cpu + 1);
    out_.Put<uint64_t>(ip);
    out_.Put<uint32_t>(process.pid);
    out_.Put<uint32_t>(process.pid);
    out_.Put<uint64_t>(time);
    out_.Put<uint64_t>(cpu);
    out_.Put<uint64_t>(attr_.sample_period);
  }

  const GeneratorOptions options_;
  std::mt19937_64 random_;
  const std::vector<File> programs_, libraries_;
  perf_event_attr attr_ = {};
  SampleLayout layout_;
  std::vector<Process> processes_;
  uint32_t next_pid_ = 0;
  ByteWriter out_;
};

}  // namespace

absl::Status GenerateRecording(const std::string& path, const GeneratorOptions& options) {
  return Generator(options).Write(path);
}

}  // namespace ksamp
