// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/kernel_snapshot.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ksamp/record.h"
#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_encoder.h"
#include "lib/perfdata/format.h"

namespace ksamp {
namespace {

// 14 MB of symbols shrink to 3 MB in some 30 ms; higher levels win little and cost much.
constexpr int kLevel = 1;
constexpr size_t kMaxKallsymsBytes = size_t{256} << 20;
constexpr size_t kMaxModulesBytes = size_t{4} << 20;

// Where the kernel's text lies: reference and start are `_text` (else `_stext`, as perf takes them), the end
// is
// `_etext`. What lies behind it is data, modules on arm64, and `.init.text`, which is gone after boot. Newer
// perf ends at `_edata`, so that addresses of data find the kernel too; it serves where there is no `_etext`.
struct KernelText {
  uint64_t text = 0, stext = 0, edata = 0, etext = 0;
  bool any_address = false;

  void See(const KallsymsLine& line) {
    any_address = any_address || line.address != 0;
    if (!line.module.empty()) return;
    if (line.name == "_text") text = line.address;
    if (line.name == "_stext") stext = line.address;
    if (line.name == "_edata") edata = line.address;
    if (line.name == "_etext") etext = line.address;
  }
  uint64_t start() const { return text != 0 ? text : stext; }
  uint64_t end() const { return etext > start() ? etext : edata; }
  std::string_view reference() const { return text != 0 ? "_text" : "_stext"; }
};

KernelText FindKernelText(std::string_view kallsyms) {
  KernelText found;
  while (!kallsyms.empty()) {
    const std::string_view line = kallsyms.substr(0, kallsyms.find('\n'));
    kallsyms.remove_prefix(std::min(kallsyms.size(), line.size() + 1));
    KallsymsLine symbol;
    if (ParseKallsymsLine(line, &symbol)) found.See(symbol);
  }
  return found;
}

std::string FirstLine(std::string text) {
  if (const size_t newline = text.find('\n'); newline != std::string::npos) text.resize(newline);
  return text;
}

std::string ReadOr(const std::string& path, std::string otherwise) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxModulesBytes);
  return text.ok() ? *std::move(text) : std::move(otherwise);
}

// Modules are named with underscores; their files may have dashes.
std::string ModuleNameOf(std::string_view path) {
  const std::string_view base = Basename(path);
  std::string name(base.substr(0, base.find(".ko")));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Module name -> path of its .ko below `folder`, from modules.dep: depmod decided which one counts where
// there are several (updates/ before kernel/), and it is one file instead of a walk over thousands.
absl::flat_hash_map<std::string, std::string> ReadModulePaths(const std::string& folder) {
  absl::flat_hash_map<std::string, std::string> paths;
  const std::string text = ReadOr(folder + "/modules.dep", "");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view path = line.substr(0, line.find(':'));
    if (path.size() == line.size() || path.empty()) continue;
    paths.emplace(ModuleNameOf(path), path.front() == '/' ? std::string(path) : StrCat(folder, "/", path));
  }
  return paths;
}

StoredBuildId ReadBuildIdNote(const std::string& path) {
  const std::string text = ReadOr(path, "");
  return FindBuildIdNote(AsBytes(text));
}

// One image per module with a known address. From Linux 6.4 on the size in /proc/modules sums up regions that
// lie apart, so a module is cut where the next one begins.
std::vector<KernelImage> ModuleImages(std::vector<LoadedModule> modules,
                                      const KernelSnapshotOptions& options) {
  std::erase_if(modules, [](const LoadedModule& module) { return module.address == 0 || module.size == 0; });
  if (modules.empty()) return {};
  std::sort(modules.begin(), modules.end(),
            [](const LoadedModule& a, const LoadedModule& b) { return a.address < b.address; });
  const std::string release = FirstLine(ReadOr(options.proc_root + "/sys/kernel/osrelease", ""));
  const auto paths = ReadModulePaths(StrCat(options.modules_root, "/", release));
  std::vector<KernelImage> images;
  for (size_t i = 0; i < modules.size(); ++i) {
    KernelImage image;
    auto path = paths.find(modules[i].name);
    image.path = path != paths.end() ? path->second : StrCat("[", modules[i].name, "]");
    image.address = modules[i].address;
    image.length = std::min(modules[i].size, UINT64_MAX - image.address);
    if (i + 1 < modules.size()) image.length = std::min(image.length, modules[i + 1].address - image.address);
    image.build_id =
        ReadBuildIdNote(StrCat(options.sys_root, "/module/", modules[i].name, "/notes/.note.gnu.build-id"));
    if (image.length > 0) images.push_back(std::move(image));
  }
  return images;
}

// sysfs does not say which sections hold code; the names do.
bool IsCodeSection(std::string_view name) {
  return name.find(".text") != std::string_view::npos || name == ".plt" || name == ".init.plt" ||
         name == ".fixup" || name == ".altinstr_replacement";
}

// "module section 0xaddress\n" for each module's code.
std::string ReadModuleSections(const std::vector<LoadedModule>& modules, const std::string& sys_root) {
  std::string out;
  for (const LoadedModule& module : modules) {
    std::vector<std::string> names;
    std::error_code gone;
    const std::string folder = StrCat(sys_root, "/module/", module.name, "/sections");
    for (auto it = std::filesystem::directory_iterator(folder, gone); !gone && it != std::filesystem::end(it);
         it.increment(gone)) {
      std::string name = it->path().filename().string();
      if (IsCodeSection(name)) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string address = FirstLine(ReadOr(StrCat(folder, "/", name), ""));
      // A hidden address is printed as zeros.
      if (address.find_first_not_of("0x") == std::string::npos) continue;
      StrAppend(&out, module.name, " ", name, " ", address.starts_with("0x") ? "" : "0x", address, "\n");
    }
  }
  return out;
}

void AddCompressed(unsigned feature, std::string_view text, KernelSnapshot& out) {
  if (text.empty()) return;
  if (auto bytes = CompressZstd(AsBytes(text), kLevel); bytes.ok())
    out.features[feature] = *std::move(bytes);
  else
    out.notes.push_back(MessageOf(bytes.status()));
}

// Why the kernel shows zeros, and what shows the addresses.
std::string HiddenNote(const KernelSnapshotOptions& options) {
  const std::string restrict = FirstLine(ReadOr(options.proc_root + "/sys/kernel/kptr_restrict", "unknown"));
  const std::string hides = StrCat("the kernel hides its addresses from user ", geteuid());
  if (restrict == "0") {  // kernel/kallsyms.c: who may not profile the kernel may not see it
    return StrCat(hides,
                  " (kernel.perf_event_paranoid is above 1): kernel samples stay without names; root, "
                  "or CAP_SYSLOG, sees them");
  }
  return StrCat(hides, " (kernel.kptr_restrict = ", restrict,
                "): kernel samples stay without names; root with kernel.kptr_restrict = ",
                restrict == "2" ? "1" : "0 or 1", ", or CAP_SYSLOG, sees them");
}

void AddKernel(const KernelSnapshotOptions& options, KernelSnapshot& out) {
  const std::string path = options.proc_root + "/kallsyms";
  absl::StatusOr<std::string> kallsyms = ReadFile(path, kMaxKallsymsBytes);
  if (!kallsyms.ok()) {
    out.notes.push_back(StrCat("the kernel's symbols cannot be read (", MessageOf(kallsyms.status()),
                               "): kernel samples stay without names"));
    return;
  }
  const KernelText text = FindKernelText(*kallsyms);
  if (!text.any_address) {
    out.notes.push_back(HiddenNote(options));
    return;
  }
  if (text.start() != 0 && text.end() > text.start()) {
    KernelImage image;
    image.path = StrCat("[kernel.kallsyms]", text.reference());
    image.address = image.file_offset = text.start();
    image.length = text.end() - text.start();
    image.build_id = ReadBuildIdNote(options.sys_root + "/kernel/notes");
    out.images.push_back(std::move(image));
  } else {
    out.notes.push_back(StrCat(path, " has no _text and _etext: the kernel's range is not known"));
  }
  if (options.symbols) AddCompressed(perfdata::kKsampKernelSymbols, *kallsyms, out);
}

}  // namespace

KernelSnapshot TakeKernelSnapshot(const KernelSnapshotOptions& options) {
  KernelSnapshot out;
  AddKernel(options, out);
  const std::string modules = ReadOr(options.proc_root + "/modules", "");
  out.modules = ParseModules(modules);
  for (KernelImage& image : ModuleImages(out.modules, options)) out.images.push_back(std::move(image));
  if (options.symbols) {
    AddCompressed(perfdata::kKsampModules, modules, out);
    AddCompressed(perfdata::kKsampModuleSections, ReadModuleSections(out.modules, options.sys_root), out);
  }
  return out;
}

std::vector<KernelImage> NewModules(const KernelSnapshot& before, const KernelSnapshotOptions& options) {
  std::vector<LoadedModule> now = ParseModules(ReadOr(options.proc_root + "/modules", ""));
  if (now == before.modules) return {};
  std::vector<KernelImage> images = ModuleImages(std::move(now), options);
  std::erase_if(images, [&](const KernelImage& image) {
    return std::any_of(before.images.begin(), before.images.end(), [&](const KernelImage& old) {
      return old.address == image.address && old.path == image.path;
    });
  });
  return images;
}

absl::Status AppendKernelImages(const std::vector<KernelImage>& images, const SampleLayout& layout,
                                const RecordSink& sink, uint64_t time) {
  ByteWriter out;
  for (const KernelImage& image : images) {
    MmapRecord record;
    record.mode = CpuMode::kKernel;
    record.has_protection = true;
    record.pid = UINT32_MAX;
    record.addr = image.address;
    record.length = image.length;
    record.file_offset = image.file_offset;
    record.build_id.bytes = image.build_id.view();
    record.protection = PROT_EXEC;
    record.path = image.path;
    Record whole;
    whole.id.time = time;
    whole.body = record;
    KSAMP_RETURN_IF_ERROR(EncodeRecord(whole, layout, out));
  }
  return out.size() == 0 ? absl::OkStatus() : sink(out.bytes());
}

absl::Status KernelSnapshot::Append(const SampleLayout& layout, const RecordSink& sink) const {
  return AppendKernelImages(images, layout, sink);
}

}  // namespace ksamp
