// SPDX-License-Identifier: Apache-2.0
#include "ksamp/recorder.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>
#include <thread>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/os/event_catalog.h"
#include "lib/os/proc_fs.h"
#include "lib/os/sys_fs.h"
#include "lib/os/tracing_data.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "lib/recorder/code_file_collector.h"
#include "lib/recorder/drain.h"
#include "lib/recorder/event_ladder.h"
#include "lib/recorder/kernel_snapshot.h"
#include "lib/recorder/nmi_watchdog.h"
#include "lib/recorder/recording_facts.h"
#include "lib/recorder/recording_output.h"
#include "lib/recorder/session.h"
#include "lib/recorder/synthesizer.h"
#include "lib/recorder/targets.h"
#include "lib/recorder/workload.h"

namespace ksamp {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Rings are sized to hold this long; it also bounds what a killed recorder has not yet put into the file.
constexpr milliseconds kLongestSleep{250};
constexpr milliseconds kCommitEvery{250};  // what a full disk or a killed recorder may cost
constexpr milliseconds kPatienceWithCommand{1000};

nanoseconds ThreadCpuTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

absl::Status CheckTargets(const RecordOptions& options) {
  const bool threads = !options.pids.empty() || !options.tids.empty();
  if (threads && (options.system_wide || !options.cpus.empty()))
    return absl::InvalidArgumentError("record: choose either whole CPUs (-a, -C) or processes (-p, -t)");
  if (!threads && !options.system_wide && options.cpus.empty() && options.command.empty())
    return absl::InvalidArgumentError("record: nothing to record: name a command, -a, -C, -p or -t");
  if (options.frequency && options.period)
    return absl::InvalidArgumentError("record: -F and -c exclude each other");
  if (options.frequency == uint64_t{0} || options.period == uint64_t{0})
    return absl::InvalidArgumentError("record: a rate or period of 0 takes no samples");
  return absl::OkStatus();
}

std::vector<std::string> OwnCommandLine() {
  std::vector<std::string> words;
  const std::string text = ReadFile("/proc/self/cmdline").value_or("");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

class KernelRecorder : public Recorder {
 public:
  KernelRecorder(RecordOptions options, PerfKernel& kernel) : options_(std::move(options)), kernel_(kernel) {}
  ~KernelRecorder() override {
    if (thread_.joinable()) Stop().IgnoreError();
  }

  absl::Status Prepare();

  absl::StatusOr<RecordSummary> Run() override;
  absl::Status Start() override;
  absl::Status Stop() override;
  void RequestStop() override;
  absl::StatusOr<Recording> TakeRecording() override;
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  bool own_command() const {
    return !options_.system_wide && options_.cpus.empty() && options_.pids.empty() && options_.tids.empty();
  }
  bool whole_cpus() const { return options_.system_wide || !options_.cpus.empty(); }

  // Opening, in this order.
  absl::Status PrepareCommand();
  absl::Status ChooseTargets();
  absl::Status OpenSession();
  bool SamplesKernel() const;
  absl::Status CreateFile();
  void AddTracingData(const std::vector<WriterEvent>& events, FeatureMap& preamble);
  absl::Status DescribeBefore();
  AttrOptions CommonAttrOptions() const;

  // Recording.
  absl::Status Begin();
  absl::Status Loop();
  absl::Status Once();
  bool IsOver();
  int SleepMs() const;
  void BuildPollSet();
  void NoticeHangups();
  bool FindLiveEvent(PerfSession::Ring& ring);
  void NoticeOfflineCpus();
  absl::Status CommitIfDue();

  // The end.
  absl::Status Finish(absl::Status loop_status);
  absl::Status EndOfFile(const absl::Status& status);
  void EndCommand();
  void Summarise();
  RecordingDescription Description() const;
  void Note(std::string sentence);

  RecordOptions options_;
  PerfKernel& kernel_;
  std::optional<NmiWatchdogOff> watchdog_;
  std::optional<Workload> workload_;
  std::vector<int> cpus_;
  std::vector<pid_t> tids_;
  std::optional<int32_t> clockid_;
  std::map<std::string, std::string> meta_;
  std::unique_ptr<PerfSession> session_;
  std::optional<CodeFileCollector> code_files_;
  std::unique_ptr<RingDrain> drain_;
  KernelSnapshot snapshot_;
  SampleLayout tracking_layout_;
  std::optional<PerfDataWriter> writer_;
  UniqueFd memory_;  // the recording in memory
  std::vector<std::string> notes_;

  UniqueFd stop_;
  std::atomic<bool> stop_requested_ = false;
  std::vector<pollfd> poll_set_;  // stop, command, then the rings in order
  Clock::time_point begin_, end_, last_commit_;
  nanoseconds cpu_begin_{0};
  bool enabled_ = false;
  bool limit_reached_ = false;  // the duration or the size that was asked for
  uint64_t committed_samples_ = 0;
  std::thread thread_;
  absl::Status thread_status_;
  RecordSummary summary_;
};

// ---- Opening

absl::Status KernelRecorder::Prepare() {
  KSAMP_RETURN_IF_ERROR(CheckTargets(options_));
  stop_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_) return ErrnoStatus(errno, "eventfd");
  if (options_.clockid) {
    KSAMP_ASSIGN_OR_RETURN(clockid_, ParseClockId(*options_.clockid));
  }
  KSAMP_RETURN_IF_ERROR(PrepareCommand());
  if (options_.nmi_watchdog_off) {
    KSAMP_ASSIGN_OR_RETURN(watchdog_, NmiWatchdogOff::Acquire({options_.proc_root, "/run"}));
  }
  KSAMP_RETURN_IF_ERROR(ChooseTargets());
  KSAMP_RETURN_IF_ERROR(OpenSession());
  const bool kernel = SamplesKernel();
  snapshot_ = TakeKernelSnapshot({options_.kernel_symbols && kernel, options_.proc_root, options_.sys_root});
  for (std::string& note : snapshot_.notes) {
    if (kernel) Note(std::move(note));
  }
  KSAMP_RETURN_IF_ERROR(CreateFile());
  return DescribeBefore();
}

bool KernelRecorder::SamplesKernel() const {
  const std::vector<WriterEvent> events = session_->WriterEvents();
  return std::any_of(events.begin(), events.end(),
                     [](const WriterEvent& event) { return event.attr.exclude_kernel == 0; });
}

absl::Status KernelRecorder::PrepareCommand() {
  if (options_.command.empty()) return absl::OkStatus();
  absl::StatusOr<Workload> workload = Workload::Prepare(options_.command);
  if (!workload.ok()) return CommandFailure(workload.status());
  workload_ = *std::move(workload);
  return absl::OkStatus();
}

absl::Status KernelRecorder::ChooseTargets() {
  KSAMP_ASSIGN_OR_RETURN(cpus_, TargetCpus("record", options_.cpus, options_.sys_root));
  if (own_command()) {
    tids_ = {workload_->pid()};
    return absl::OkStatus();
  }
  KSAMP_ASSIGN_OR_RETURN(tids_, TargetThreads("record", options_.pids, options_.tids, options_.proc_root));
  return absl::OkStatus();
}

AttrOptions KernelRecorder::CommonAttrOptions() const {
  AttrOptions options;
  options.inherit = own_command() || !options_.pids.empty();
  options.enable_on_exec = own_command();
  options.clockid = clockid_;
  return options;
}

absl::Status KernelRecorder::OpenSession() {
  const std::unique_ptr<EventCatalog> catalog = SysfsEventCatalog(options_.sys_root);
  LadderContext context;
  context.kernel = &kernel_;
  context.catalog = catalog.get();
  context.around = ReadOpenCircumstances(options_.proc_root);
  context.around.whole_cpus = whole_cpus();
  context.pid = tids_.empty() ? -1 : tids_.front();
  context.cpu = cpus_.front();
  context.options = CommonAttrOptions();
  context.options.callchain = options_.callchain;
  if (options_.delay) context.options.enable_on_exec = false;  // Start() enables, later.
  context.period = options_.period;
  context.frequency = options_.frequency;
  context.cpu_hz = CpuFrequencyHz(options_.proc_root, options_.sys_root, cpus_.front());
  context.amd = ReadMachineFacts(options_.proc_root, options_.sys_root).cpu_id.rfind("AuthenticAMD", 0) == 0;
  KSAMP_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(options_.events, context));
  for (const std::string& note : plan.notes) Note(note);
  meta_ = plan.meta;
  for (const auto& group : plan.groups) {
    for (const PlannedEvent& event : group) summary_.events.push_back(DescribeSampling(event));
  }
  SessionOptions session;
  session.cpus = cpus_;
  session.tids = tids_;
  session.tracking = CommonAttrOptions();
  session.ring_bytes = options_.ring_bytes;
  session.around = context.around;
  session.proc_root = options_.proc_root;
  KSAMP_ASSIGN_OR_RETURN(session_, PerfSession::Open(kernel_, std::move(plan), std::move(session)));
  for (const std::string& note : session_->notes()) Note(note);
  return absl::OkStatus();
}

absl::Status KernelRecorder::CreateFile() {
  absl::StatusOr<RecordingOutput> output =
      options_.in_memory ? OpenRecordingInMemory() : OpenRecordingFile(options_.output);
  KSAMP_RETURN_IF_ERROR(output.status());
  summary_.output = output->name;
  if (options_.in_memory) {
    memory_.Reset(dup(output->fd.get()));
    if (!memory_) return ErrnoStatus(errno, "dup the recording in memory");
  }
  std::optional<ClockMoment> clock;
  WriterOptions writer;
  writer.name = output->name;
  writer.events = session_->WriterEvents();
  if (clockid_) clock = ReadClockMoment(*clockid_);
  writer.preamble = DescribeOrigin(
      {ReadMachineFacts(options_.proc_root, options_.sys_root), OwnCommandLine(), std::move(clock)});
  writer.preamble.merge(snapshot_.features);
  AddTracingData(writer.events, writer.preamble);
  // Tells readers which event only carries mappings and names.
  meta_["event.tracking"] = std::to_string(writer.events.size() - 1);
  writer.preamble[perfdata::kKsampMeta] = perfdata::EncodeMeta(meta_);
  writer.pipe = output->pipe;
  writer.zstd_level = options_.zstd_level;
  const perf_event_attr& tracking = writer.events.back().attr;
  KSAMP_ASSIGN_OR_RETURN(tracking_layout_, SampleLayout::FromAttr(std::as_bytes(std::span(&tracking, 1))));
  KSAMP_ASSIGN_OR_RETURN(writer_, PerfDataWriter::Create(std::move(output->fd), std::move(writer)));
  KSAMP_ASSIGN_OR_RETURN(ProcFs proc, ProcFs::Open(options_.proc_root));
  code_files_.emplace(std::move(proc), tracking_layout_);
  drain_ = std::make_unique<RingDrain>(
      *session_, [this](std::span<const std::byte> bytes) { return writer_->Append(bytes); },
      options_.exclude_self ? getpid() : 0,
      [this](std::span<const std::byte> record) { code_files_->Notice(record); });
  return absl::OkStatus();
}

// What the raw bytes of tracepoints mean. perf refuses a recording of tracepoints without it.
void KernelRecorder::AddTracingData(const std::vector<WriterEvent>& events, FeatureMap& preamble) {
  std::vector<uint64_t> ids;
  for (const WriterEvent& event : events)
    if (event.attr.type == PERF_TYPE_TRACEPOINT) ids.push_back(event.attr.config);
  if (ids.empty()) return;
  absl::StatusOr<TracingData> data = ReadTracingData(FindTracefs(options_.sys_root), ids);
  if (data.ok()) {
    preamble[perfdata::kTracingData] = std::move(data->bytes);
  } else {
    Note(StrCat("the formats of the tracepoints cannot be stored, so their fields stay bytes: ",
                MessageOf(data.status()), "."));
  }
}

// The kernel and the processes that are there already. Tracking is on before /proc is read.
absl::Status KernelRecorder::DescribeBefore() {
  const RecordSink sink = [this](std::span<const std::byte> bytes) {
    code_files_->Notice(bytes);
    return writer_->Append(bytes);
  };
  KSAMP_RETURN_IF_ERROR(snapshot_.Append(tracking_layout_, sink));
  if (!own_command()) {
    KSAMP_RETURN_IF_ERROR(session_->EnableTracking());
    KSAMP_ASSIGN_OR_RETURN(const ProcFs proc, ProcFs::Open(options_.proc_root));
    BuildIdCache build_ids(&proc);
    KSAMP_ASSIGN_OR_RETURN(SynthesisTotals totals, SynthesizeProcesses(proc, {options_.pids, options_.tids},
                                                                       tracking_layout_, build_ids, sink));
    if (!totals.note.empty()) Note(std::move(totals.note));
  }
  const perf_event_header done = {perfdata::kFinishedInit, 0, sizeof(perf_event_header)};
  KSAMP_RETURN_IF_ERROR(writer_->Append(std::as_bytes(std::span(&done, 1))));
  return writer_->Commit();
}

void KernelRecorder::Note(std::string sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end())
    notes_.push_back(std::move(sentence));
}

// ---- Recording

absl::Status KernelRecorder::Begin() {
  BuildPollSet();
  cpu_begin_ = ThreadCpuTime();
  begin_ = last_commit_ = Clock::now();
  if (!options_.delay && !own_command()) {
    KSAMP_RETURN_IF_ERROR(session_->Enable());
    enabled_ = true;
  }
  if (workload_ && !stop_requested_) {  // else nothing of it runs
    if (absl::Status status = workload_->Start(); !status.ok()) return CommandFailure(std::move(status));
  }
  if (!options_.delay) enabled_ = true;  // The command's exec did it.
  return absl::OkStatus();
}

void KernelRecorder::BuildPollSet() {
  poll_set_ = {{stop_.get(), POLLIN, 0}, {workload_ ? workload_->poll_fd() : -1, POLLIN, 0}};
  for (const PerfSession::Ring& ring : session_->rings()) poll_set_.push_back({ring.fds.front(), POLLIN, 0});
}

int KernelRecorder::SleepMs() const {
  Clock::duration longest = kLongestSleep;
  const Clock::time_point now = Clock::now();
  if (options_.duration) longest = std::min<Clock::duration>(longest, begin_ + *options_.duration - now);
  if (options_.delay && !enabled_)
    longest = std::min<Clock::duration>(longest, begin_ + *options_.delay - now);
  if (workload_ && workload_->poll_fd() < 0) longest = std::min<Clock::duration>(longest, milliseconds(20));
  const auto ms = std::chrono::ceil<milliseconds>(longest).count();
  return static_cast<int>(std::max<decltype(ms)>(ms, 0));
}

absl::Status KernelRecorder::Loop() {
  while (!IsOver()) KSAMP_RETURN_IF_ERROR(Once());
  return absl::OkStatus();
}

absl::Status KernelRecorder::Once() {
  KSAMP_RETURN_IF_ERROR(kernel_.Poll(poll_set_, SleepMs()).status());
  NoticeHangups();
  if (options_.delay && !enabled_ && Clock::now() - begin_ >= *options_.delay) {
    KSAMP_RETURN_IF_ERROR(session_->Enable());
    enabled_ = true;
  }
  KSAMP_RETURN_IF_ERROR(drain_->Round().status());
  return CommitIfDue();
}

absl::Status KernelRecorder::CommitIfDue() {
  const Clock::time_point now = Clock::now();
  if (now - last_commit_ < kCommitEvery) return absl::OkStatus();
  last_commit_ = now;
  KSAMP_RETURN_IF_ERROR(writer_->Commit());
  committed_samples_ = drain_->counts().samples;
  code_files_->Open();
  if (whole_cpus()) NoticeOfflineCpus();
  return absl::OkStatus();
}

bool KernelRecorder::IsOver() {
  if (stop_requested_) return true;
  const bool time_is_up = options_.duration && Clock::now() - begin_ >= *options_.duration;
  const bool size_is_reached = options_.max_size > 0 && writer_->data_bytes() >= options_.max_size;
  limit_reached_ = time_is_up || size_is_reached;
  if (limit_reached_) return true;
  if (workload_) return workload_->TryWait().has_value();
  const std::vector<PerfSession::Ring>& rings = session_->rings();
  return std::none_of(rings.begin(), rings.end(), [](const PerfSession::Ring& ring) { return ring.alive; });
}

// A hung-up event stays readable for ever, so it must leave the poll set; another one of the same ring takes
// its place.
void KernelRecorder::NoticeHangups() {
  for (size_t i = 0; i < session_->rings().size(); ++i) {
    pollfd& polled = poll_set_[i + 2];
    PerfSession::Ring& ring = session_->rings()[i];
    if ((polled.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0 || !ring.alive) continue;
    ring.alive = FindLiveEvent(ring);
    polled.fd = ring.alive ? ring.fds.front() : -1;
    polled.revents = 0;
    if (!ring.alive && whole_cpus()) Note(StrCat("CPU ", ring.cpu, " went offline while recording."));
  }
}

bool KernelRecorder::FindLiveEvent(PerfSession::Ring& ring) {
  while (!ring.fds.empty()) {
    pollfd candidate = {ring.fds.front(), POLLIN, 0};
    if (kernel_.Poll({&candidate, 1}, 0).ok() && (candidate.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0)
      return true;
    ring.fds.front() = ring.fds.back();
    ring.fds.pop_back();
  }
  return false;
}

// Old kernels let the events of a CPU fall silent without hanging up.
void KernelRecorder::NoticeOfflineCpus() {
  const absl::StatusOr<std::vector<int>> online = OnlineCpus(options_.sys_root);
  if (!online.ok()) return;
  for (const PerfSession::Ring& ring : session_->rings()) {
    if (!std::binary_search(online->begin(), online->end(), ring.cpu))
      Note(StrCat("CPU ", ring.cpu, " went offline while recording."));
  }
}

// ---- The end

absl::Status KernelRecorder::Finish(absl::Status status) {
  end_ = Clock::now();
  const absl::Status disabled = session_->Disable();
  if (status.ok()) status = drain_->Round().status();
  EndCommand();
  summary_.recorder_cpu = ThreadCpuTime() - cpu_begin_;
  Summarise();
  status = EndOfFile(status);
  summary_.file_bytes = writer_->file_bytes();
  summary_.recorder_cpu = ThreadCpuTime() - cpu_begin_;
  summary_.notes = notes_;
  if (status.ok()) return disabled;
  return status;
}

// Features on a whole file. A full disk or a reader that went away ends the recording, and is no failure:
// what was committed is there.
absl::Status KernelRecorder::EndOfFile(const absl::Status& loop_status) {
  absl::Status status = loop_status;
  if (status.ok()) {
    status = AppendKernelImages(
        NewModules(snapshot_, {options_.kernel_symbols, options_.proc_root, options_.sys_root}),
        tracking_layout_, [this](std::span<const std::byte> bytes) { return writer_->Append(bytes); }, 0);
  }
  if (status.ok()) {
    const std::vector<perfdata::PackedCodeFile> files = code_files_->Take();
    for (const std::string& note : code_files_->notes()) Note(note);
    FeatureMap features = DescribeRecording(Description());
    if (!files.empty()) features[perfdata::kKsampGeneratedCode] = perfdata::EncodeCodeFiles(files);
    status = writer_->Close(features);
  }
  const int error = StatusErrno(status);
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  if (!full && error != EPIPE) return status;
  summary_.lost[full ? "recorder: disk full" : "recorder: reader gone"] =
      summary_.samples - committed_samples_;
  summary_.samples = committed_samples_;
  if (full) {
    summary_.write_failure = MessageOf(status);
    // Where even that does not fit, the file is as after a kill.
    writer_->CloseAtLastCommit(DescribeRecording(Description())).IgnoreError();
  } else {
    Note("the recording ended early: its reader went away.");
  }
  return absl::OkStatus();
}

// A command that still runs is asked to end: the recording was what it was started for.
void KernelRecorder::EndCommand() {
  if (!workload_) return;
  const Clock::time_point deadline = Clock::now() + kPatienceWithCommand;
  summary_.command_status = workload_->TryWait();
  if (!summary_.command_status) {
    summary_.command_ended_at_limit = limit_reached_;
    workload_->Signal(SIGTERM);
  }
  while (!summary_.command_status && Clock::now() < deadline) {
    pollfd ended = {workload_->poll_fd(), POLLIN, 0};
    if (poll(&ended, 1, 20) < 0 && errno != EINTR) break;
    summary_.command_status = workload_->TryWait();
  }
}

void KernelRecorder::Summarise() {
  const DrainCounts& counts = drain_->counts();
  summary_.samples = counts.samples;
  summary_.elapsed = end_ - begin_;
  if (options_.delay && enabled_)
    summary_.elapsed -= std::min<nanoseconds>(summary_.elapsed, *options_.delay);
  summary_.cpus = static_cast<uint32_t>(session_->cpus().size());
  summary_.throttles = counts.throttles;
  // LOST tells of earlier losses when the next record fits; the counters also know the last ones.
  uint64_t lost = 0;
  for (const uint64_t of_event : session_->ReadLost()) lost += of_event;
  lost = std::max(lost, counts.lost_records);
  if (lost > 0) summary_.lost["ring full"] = lost;
  if (counts.lost_samples > 0) summary_.lost["kernel dropped"] = counts.lost_samples;
  summary_.stopped_by_signal = stop_requested_;
}

RecordingDescription KernelRecorder::Description() const {
  RecordingDescription description;
  const DrainCounts& counts = drain_->counts();
  description.first_sample_time = counts.first_time;
  description.last_sample_time = counts.last_time;
  description.meta = meta_;
  description.meta["duration_ns"] = std::to_string(summary_.elapsed.count());
  description.meta["recorder_cpu_ns"] = std::to_string(summary_.recorder_cpu.count());
  description.meta["cpus"] = std::to_string(summary_.cpus);
  std::string& notes = description.meta["notes"];
  for (const std::string& note : notes_) StrAppend(&notes, notes.empty() ? "" : "\n", note);
  description.counters = counts.by_place;
  description.counters["samples"] = summary_.samples;
  if (counts.own_samples > 0) description.counters["excluded.self"] = counts.own_samples;
  if (const auto lost = summary_.lost.find("ring full"); lost != summary_.lost.end())
    description.counters["lost.ring"] = lost->second;
  return description;
}

absl::StatusOr<RecordSummary> KernelRecorder::Run() {
  KSAMP_RETURN_IF_ERROR(Begin());
  KSAMP_RETURN_IF_ERROR(Finish(Loop()));
  return summary_;
}

absl::Status KernelRecorder::Start() {
  if (thread_.joinable()) return absl::FailedPreconditionError("start recording: it runs already");
  KSAMP_RETURN_IF_ERROR(Begin());
  thread_ = std::thread([this] {
    cpu_begin_ = ThreadCpuTime();
    thread_status_ = Finish(Loop());
  });
  return absl::OkStatus();
}

absl::Status KernelRecorder::Stop() {
  if (!thread_.joinable()) return absl::FailedPreconditionError("stop recording: it does not run");
  RequestStop();
  thread_.join();
  return thread_status_;
}

void KernelRecorder::RequestStop() {
  stop_requested_ = true;
  const uint64_t one = 1;
  // Only fails where the counter is full, and then the loop is awake anyway.
  [[maybe_unused]] const ssize_t ignored = write(stop_.get(), &one, sizeof(one));
}

absl::StatusOr<Recording> KernelRecorder::TakeRecording() {
  if (!memory_ || thread_.joinable())
    return absl::FailedPreconditionError("take recording: it is not in memory, or was not stopped");
  if (lseek(memory_.get(), 0, SEEK_SET) < 0) return ErrnoStatus(errno, "rewind the recording in memory");
  return Recording::FromDescriptor(memory_.Release(), summary_.output);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Open(RecordOptions options, PerfKernel* kernel) {
  auto recorder =
      std::make_unique<KernelRecorder>(std::move(options), kernel == nullptr ? LinuxPerfKernel() : *kernel);
  KSAMP_RETURN_IF_ERROR(recorder->Prepare());
  return recorder;
}

}  // namespace ksamp
