// SPDX-License-Identifier: Apache-2.0
// `ksamp list`: the events that work here. Each is opened as a counter of this process, so the answer is the
// kernel's, not a table's.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "ksamp/event_spec.h"
#include "ksamp/recorder.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/commands.h"
#include "tools/diagnostics.h"
#include "tools/pager.h"

namespace ksamp {
namespace {

// What stands behind an event's name: what it counts, or why it does not work here.
struct Verdict {
  bool works = false;
  std::string text;
};

class ListCommand : public Command {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view summary() const override { return "events that work here"; }
  std::string_view examples() const override {
    return "ksamp list\n"
           "ksamp list 'sched:*'\n"
           "ksamp list --all cache\n";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("PATTERN", pattern_,
                   "only names that hold this text, or match this glob, or are of this kind");
    app.add_flag("--all", all_, "also the events that do not work here, with the reason");
    app.add_flag("--tracepoints", tracepoints_, "name the tracepoints instead of counting them");
  }

  int Run(World& world, const std::vector<std::string>&) override {
    const std::unique_ptr<EventCatalog> catalog = SystemEventCatalog(world.sys_root);
    std::vector<ListedEvent> events = ListEvents(*catalog);
    std::erase_if(events, [&](const ListedEvent& event) { return !IsWanted(event); });
    Pager pager(world, PagerUse::kWhereUseful);
    const bool found = Print(events, *catalog, world, pager.out());
    if (const absl::Status written = pager.Finish(); !written.ok()) return Fail(world, written, kExitNothing);
    return found ? kExitShown : kExitNothing;
  }

 private:
  // False: nothing works, or nothing matches.
  bool Print(const std::vector<ListedEvent>& events, const EventCatalog& catalog, World& world,
             std::ostream& out) const {
    std::string_view kind;
    size_t shown = 0, hidden = 0, tracepoints = 0;
    for (const ListedEvent& event : events) {
      if (event.kind == "tracepoint" && !NamesTracepoints()) {
        ++tracepoints;
        continue;
      }
      const Verdict verdict = Judge(event, catalog, world);
      if (!verdict.works && !all_) {
        ++hidden;
        continue;
      }
      if (event.kind != kind) out << (shown == 0 ? "" : "\n") << event.kind << ":\n";
      kind = event.kind;
      PrintEvent(event, verdict, out);
      ++shown;
    }
    PrintRest(hidden, tracepoints, shown == 0, out);
    return shown + tracepoints > 0;
  }

  bool NamesTracepoints() const { return tracepoints_ || !pattern_.empty(); }

  bool IsWanted(const ListedEvent& event) const {
    return pattern_.empty() || event.kind == pattern_ || MatchesGlob(pattern_, event.name) ||
           event.name.find(pattern_) != std::string::npos;
  }

  // Asks the kernel; tracepoints are only named.
  static Verdict Judge(const ListedEvent& event, const EventCatalog& catalog, World& world) {
    if (event.kind == "tracepoint") return {true, event.description};
    const absl::StatusOr<std::vector<EventGroup>> groups = ParseEvents(event.name, catalog);
    if (!groups.ok()) return {false, MessageOf(groups.status())};
    std::string text = event.description;
    for (const EventGroup& group : *groups) {
      for (const EventSpec& spec : group.events) {
        const EventTrial trial = TryEvent(spec, world.kernel, world.proc_root);
        if (!trial.counting.ok()) return {false, CauseOf(trial.counting, spec.name)};
        if (!trial.sampling.ok()) text = StrCat(event.description, " (counts, cannot be sampled)");
        if (trial.user_space_only) text = StrCat(event.description, " (in user space only: :u)");
      }
    }
    return {true, text};
  }

  // The message without "open NAME: ", which the line begins with anyway.
  static std::string CauseOf(const absl::Status& status, std::string_view name) {
    const std::string message = MessageOf(status), prefix = StrCat("open ", name, ": ");
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  static void PrintEvent(const ListedEvent& event, const Verdict& verdict, std::ostream& out) {
    constexpr size_t kNameWidth = 40;
    std::string line = StrCat("  ", EscapeForTerminal(event.name));
    const std::string text = verdict.works ? verdict.text : StrCat("does not work: ", verdict.text);
    if (!text.empty()) {
      line.append(line.size() < kNameWidth ? kNameWidth - line.size() : 1, ' ');
      line += EscapeForTerminal(text);
    }
    out << line << "\n";
  }

  void PrintRest(size_t hidden, size_t tracepoints, bool nothing_shown, std::ostream& out) const {
    if (!nothing_shown && hidden + tracepoints > 0) out << "\n";
    if (tracepoints > 0)
      out << GroupDigits(tracepoints) << " tracepoints; --tracepoints or a pattern ('sched:*') names them\n";
    if (hidden > 0) out << GroupDigits(hidden) << " more do not work here; --all shows them and why\n";
    if (nothing_shown && hidden + tracepoints == 0)
      out << "no event matches '" << EscapeForTerminal(pattern_) << "'\n";
  }

  std::string pattern_;
  bool all_ = false, tracepoints_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeListCommand() {
  return std::make_unique<ListCommand>();
}

}  // namespace ksamp
