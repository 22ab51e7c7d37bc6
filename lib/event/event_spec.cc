// SPDX-License-Identifier: Apache-2.0
// The parser of -e. Three steps: split the text at the commas outside braces and slashes; give each piece to
// the first form that knows its name; put the modifiers behind it into the spec.
//
//   list   = item { "," item }
//   item   = event | "{" event { "," event } "}" [ ":" modifiers ]
//   event  = PMU "/" terms "/" [ modifiers ] | NAME [ ":" modifiers ] | SUBSYSTEM ":" NAME [ ":" modifiers ]
//          | OPROFILE_NAME [ ":" count [ ":" unit mask [ ":" kernel [ ":" user ] ] ] ]
//
// Nothing recurses, and the length of the text is bounded.
#include "ksamp/event_spec.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>

#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/event/event_table.h"
#include "lib/event/pmu_terms.h"

namespace ksamp {
namespace {

constexpr size_t kMaxTextSize = 16 << 10;
constexpr size_t kMaxEvents = 4096;  // a glob over tracepoints may name thousands

// A part of the text, and where it starts.
struct Piece {
  std::string_view text;
  size_t at = 0;

  Piece Sub(size_t from, size_t count = std::string_view::npos) const {
    return {text.substr(from, count), at + from};
  }
};

absl::Status ErrorAt(size_t at, std::string_view message) {
  return absl::InvalidArgumentError(StrCat("parse events at character ", at + 1, ": ", message));
}

// The end of the piece that starts at `from`: the next comma outside slashes, or the end.
size_t EndOfEvent(std::string_view text, size_t from) {
  bool in_slashes = false;
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '/') in_slashes = !in_slashes;
    if (text[i] == ',' && !in_slashes) return i;
  }
  return text.size();
}

Piece Trimmed(Piece piece) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!piece.text.empty() && blank(piece.text.front())) piece = piece.Sub(1);
  while (!piece.text.empty() && blank(piece.text.back())) piece.text.remove_suffix(1);
  return piece;
}

// ---- Modifiers ----------------------------------------------------------------------------------------

struct Modifiers {
  std::string letters;  // as typed, an event's own before its group's
  bool user = false, kernel = false, hypervisor = false, guest = false, host = false, idle = false;
  int precise = 0;
  bool precise_max = false, pinned = false, exclusive = false, sample_read = false;
};

// The flag a letter sets; null: no such letter.
bool* FlagOf(char letter, Modifiers& modifiers) {
  switch (letter) {
    case 'u':
      return &modifiers.user;
    case 'k':
      return &modifiers.kernel;
    case 'h':
      return &modifiers.hypervisor;
    case 'G':
      return &modifiers.guest;
    case 'H':
      return &modifiers.host;
    case 'I':
      return &modifiers.idle;
    case 'P':
      return &modifiers.precise_max;
    case 'D':
      return &modifiers.pinned;
    case 'e':
      return &modifiers.exclusive;
    case 'S':
      return &modifiers.sample_read;
    default:
      return nullptr;
  }
}

absl::Status AddModifiers(Piece piece, Modifiers& modifiers) {
  for (size_t i = 0; i < piece.text.size(); ++i) {
    const char letter = piece.text[i];
    if (letter == 'p') {
      if (++modifiers.precise > 3) return ErrorAt(piece.at + i, "precision goes up to ppp");
    } else if (letter == 'W') {
      return ErrorAt(piece.at + i, "weak groups (W) are not supported: a group is opened whole or refused");
    } else if (bool* flag = FlagOf(letter, modifiers)) {
      *flag = true;
    } else {
      return ErrorAt(piece.at + i, StrCat("'", EscapeForTerminal(piece.text.substr(i, 1)),
                                          "' is no modifier; there are u k h G H I p P D e S"));
    }
    if (letter == 'p' || modifiers.letters.find(letter) == std::string::npos) modifiers.letters += letter;
  }
  return absl::OkStatus();
}

bool AreModifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ukhGHIpPDeSW") == std::string_view::npos;
}

// u, k, h say what counts and exclude the rest; so do G and H.
void ApplyModifiers(const Modifiers& modifiers, EventSpec& spec) {
  if (modifiers.user || modifiers.kernel || modifiers.hypervisor) {
    spec.exclude_user = !modifiers.user;
    spec.exclude_kernel = !modifiers.kernel;
    spec.exclude_hv = !modifiers.hypervisor;
  }
  if (modifiers.guest || modifiers.host) {
    spec.exclude_guest = !modifiers.guest;
    spec.exclude_host = !modifiers.host;
  }
  spec.exclude_idle = modifiers.idle;
  spec.precise_ip = static_cast<uint8_t>(modifiers.precise);
  spec.precise_max = modifiers.precise_max;
  spec.pinned = modifiers.pinned;
  spec.exclusive = modifiers.exclusive;
  spec.sample_read = modifiers.sample_read;
}

// "r003c": hexadecimal.
bool ParseRawEvent(std::string_view name, uint64_t* config) {
  if (name.size() < 2 || name[0] != 'r') return false;
  const std::optional<uint64_t> value = ParseEventNumber(StrCat("0x", name.substr(1)));
  if (value) *config = *value;
  return value.has_value();
}

// ---- One event ----------------------------------------------------------------------------------------

// What one name became: several specs for a glob, for a PMU with several instances, or (`per_core_pmu`) the
// same event on each kind of core.
struct ParsedEvent {
  std::vector<EventSpec> specs;
  bool per_core_pmu = false;
};

class EventParser {
 public:
  explicit EventParser(const EventCatalog& catalog) : catalog_(catalog) {
    for (const Pmu& pmu : catalog.pmus()) {
      if (pmu.core) core_pmus_.push_back(&pmu);
    }
  }

  // `group_modifiers`: what stands behind the closing brace.
  absl::StatusOr<ParsedEvent> Parse(Piece piece, Piece group_modifiers) const {
    piece = Trimmed(piece);
    if (piece.text.empty()) return ErrorAt(piece.at, "an event is missing");
    KSAMP_RETURN_IF_ERROR(RefuseProbes(piece));
    if (piece.text.find('/') != std::string_view::npos) return ParsePmuEvent(piece, group_modifiers);
    const size_t colon = piece.text.find(':');
    const Piece name = piece.Sub(0, colon);
    const Piece rest = colon == std::string_view::npos ? piece.Sub(piece.text.size()) : piece.Sub(colon + 1);
    if (FindOprofileEvent(name.text) != nullptr) return ParseOprofileEvent(name, rest, group_modifiers);
    ParsedEvent event = ByName(name.text);
    if (!event.specs.empty()) {
      KSAMP_RETURN_IF_ERROR(Finish(rest, group_modifiers, event));
      return event;
    }
    if (rest.text.empty()) return UnknownName(name);
    return ParseTracepoint(name, rest, group_modifiers);
  }

 private:
  bool hybrid() const { return core_pmus_.size() > 1; }

  static absl::Status RefuseProbes(Piece piece) {
    for (const std::string_view kind : {"kprobe:", "kretprobe:", "uprobe:", "uretprobe:"}) {
      if (piece.text.substr(0, kind.size()) == kind)
        return ErrorAt(piece.at, StrCat("probes (", kind,
                                        ") cannot be recorded yet; a probe defined in tracefs "
                                        "can, by its name there (kprobes:NAME)"));
    }
    if (piece.text.substr(0, 4) == "mem:") return ErrorAt(piece.at, "breakpoints (mem:) are not supported");
    return absl::OkStatus();
  }

  // Puts modifiers into every spec and behind its name.
  static absl::Status Finish(Piece own, Piece group, ParsedEvent& event) {
    Modifiers modifiers;
    KSAMP_RETURN_IF_ERROR(AddModifiers(own, modifiers));
    KSAMP_RETURN_IF_ERROR(AddModifiers(group, modifiers));
    for (EventSpec& spec : event.specs) {
      ApplyModifiers(modifiers, spec);
      if (modifiers.letters.empty()) continue;
      const bool ends_in_slash = spec.name.back() == '/';
      StrAppend(&spec.name, ends_in_slash ? "" : ":", modifiers.letters);
    }
    return absl::OkStatus();
  }

  static EventSpec SpecOf(const Pmu& pmu) {
    EventSpec spec;
    spec.type = pmu.type;
    spec.pmu = pmu.name;
    spec.cpus = pmu.cpus;
    spec.exclude_guest = pmu.core;  // what counts for a package knows no guests, and refuses to be asked
    return spec;
  }

  // Generic, cache, raw and aliased events; empty where the name is none of them.
  ParsedEvent ByName(std::string_view name) const {
    if (const GenericEvent* generic = FindGenericEvent(name);
        generic != nullptr && generic->type == PERF_TYPE_SOFTWARE) {
      EventSpec spec;
      spec.name = std::string(name);
      spec.type = generic->type;
      spec.config = generic->config;
      return {{spec}};
    }
    if (ParsedEvent event = HardwareEvent(name); !event.specs.empty()) return event;
    return AliasedEvent(name);
  }

  // An event of the CPU's execution: one spec, or one for each kind of core.
  ParsedEvent HardwareEvent(std::string_view name) const {
    uint64_t raw = 0;
    const bool is_raw = ParseRawEvent(name, &raw);
    ParsedEvent event;
    if (!hybrid()) {
      EventSpec spec;
      spec.name = std::string(name);
      if (ApplyGenericEvent(Pmu{}, name, false, spec)) return {{spec}};
      if (!is_raw) return event;
      spec.type = PERF_TYPE_RAW;
      spec.config = raw;
      return {{spec}};
    }
    for (const Pmu* pmu : core_pmus_) {
      EventSpec spec = SpecOf(*pmu);
      spec.name = StrCat(pmu->name, "/", name, "/");
      spec.config = raw;
      if (is_raw || ApplyGenericEvent(*pmu, name, true, spec)) event.specs.push_back(std::move(spec));
    }
    event.per_core_pmu = true;
    return event;
  }

  // A name from the events folder of a PMU, without its PMU.
  ParsedEvent AliasedEvent(std::string_view name) const {
    ParsedEvent event;
    size_t cores = 0;
    for (const Pmu& pmu : catalog_.pmus()) {
      for (const Pmu::Alias& alias : pmu.aliases) {
        if (alias.name != name) continue;
        EventSpec spec = SpecOf(pmu);
        if (ApplyPmuTerms(pmu, name, hybrid(), spec)) continue;
        spec.name = hybrid() && pmu.core ? StrCat(pmu.name, "/", name, "/") : std::string(name);
        event.specs.push_back(std::move(spec));
        cores += pmu.core ? 1 : 0;
      }
    }
    event.per_core_pmu = cores == event.specs.size() && cores > 1;
    return event;
  }

  // "imc" names uncore_imc_0, uncore_imc_1, … as well; a glob names what it matches.
  static bool NamesPmu(std::string_view wanted, std::string_view pmu) {
    if (pmu == wanted || (wanted.find_first_of("*?[") != std::string_view::npos && MatchesGlob(wanted, pmu)))
      return true;
    constexpr std::string_view kUncore = "uncore_";
    const size_t underscore = pmu.find_last_not_of("0123456789");
    if (underscore != std::string_view::npos && underscore + 1 < pmu.size() && pmu[underscore] == '_')
      pmu = pmu.substr(0, underscore);
    if (pmu.substr(0, kUncore.size()) == kUncore && wanted == pmu.substr(kUncore.size())) return true;
    return pmu == wanted;
  }

  absl::StatusOr<ParsedEvent> ParsePmuEvent(Piece piece, Piece group_modifiers) const {
    const size_t open = piece.text.find('/'), close = piece.text.find('/', open + 1);
    if (close == std::string_view::npos) return ErrorAt(piece.at + open, "'/' is never closed");
    const Piece name = piece.Sub(0, open), terms = piece.Sub(open + 1, close - open - 1);
    Piece modifiers = piece.Sub(close + 1);
    if (!modifiers.text.empty() && modifiers.text[0] == ':') modifiers = modifiers.Sub(1);
    ParsedEvent event;
    for (const Pmu& pmu : catalog_.pmus()) {
      if (!NamesPmu(name.text, pmu.name)) continue;
      EventSpec spec = SpecOf(pmu);
      spec.name = StrCat(pmu.name, "/", terms.text, "/");
      if (terms.text.empty()) return ErrorAt(terms.at, StrCat("PMU ", pmu.name, " needs at least one term"));
      if (const std::optional<TermError> error = ApplyPmuTerms(pmu, terms.text, hybrid(), spec))
        return ErrorAt(terms.at + error->at, error->message);
      event.specs.push_back(std::move(spec));
    }
    if (event.specs.empty()) return UnknownPmu(name);
    KSAMP_RETURN_IF_ERROR(Finish(modifiers, group_modifiers, event));
    return event;
  }

  absl::Status UnknownPmu(Piece name) const {
    std::vector<std::string> known;
    for (const Pmu& pmu : catalog_.pmus()) known.push_back(pmu.name);
    return ErrorAt(name.at, StrCat("this machine has no PMU '", EscapeForTerminal(name.text), "'",
                                   DidYouMean(name.text, known)));
  }

  // NAME[:count[:unit mask[:kernel[:user]]]]
  absl::StatusOr<ParsedEvent> ParseOprofileEvent(Piece name, Piece rest, Piece group_modifiers) const {
    const OprofileEvent& oprofile = *FindOprofileEvent(name.text);
    ParsedEvent event = HardwareEvent(oprofile.generic);
    for (EventSpec& spec : event.specs) {
      spec.name = std::string(name.text);
      if (!rest.text.empty()) StrAppend(&spec.name, ":", rest.text);
      if (hybrid()) spec.name = StrCat(spec.pmu, "/", spec.name, "/");
    }
    if (AreModifiers(rest.text)) {  // CPU_CLK_UNHALTED:k, half of each world
      for (EventSpec& spec : event.specs)
        spec.name = hybrid() ? StrCat(spec.pmu, "/", name.text, "/") : std::string(name.text);
      KSAMP_RETURN_IF_ERROR(Finish(rest, group_modifiers, event));
      return event;
    }
    KSAMP_RETURN_IF_ERROR(Finish(rest.Sub(rest.text.size()), group_modifiers, event));
    KSAMP_RETURN_IF_ERROR(ApplyOprofileNumbers(oprofile, rest, event));
    return event;
  }

  static absl::Status ApplyOprofileNumbers(const OprofileEvent& oprofile, Piece rest, ParsedEvent& event) {
    enum { kCount, kUnitMask, kKernel, kUser, kNumbers };
    constexpr const char* kNames[] = {"count", "unit mask", "kernel", "user"};
    std::array<std::optional<uint64_t>, kNumbers> numbers;
    for (size_t i = 0; !rest.text.empty(); ++i) {
      if (i == kNumbers) return ErrorAt(rest.at, "too many numbers; NAME:count:unitmask:kernel:user");
      const Piece number = rest.Sub(0, rest.text.find(':'));
      rest = rest.Sub(std::min(rest.text.size(), number.text.size() + 1));
      numbers[i] = ParseEventNumber(number.text);
      if (!numbers[i])
        return ErrorAt(number.at, StrCat(kNames[i], " '", EscapeForTerminal(number.text), "' is no number"));
      if (i == kCount && *numbers[i] == 0) return ErrorAt(number.at, "count must not be 0");
      if (i == kUnitMask && *numbers[i] != 0 && *numbers[i] != oprofile.default_unit_mask)
        return ErrorAt(number.at, StrCat("unit mask ", Hex(*numbers[i]), " of ", oprofile.name,
                                         " has no generic counterpart; give the raw event (rUUEE)"));
      if (i >= kKernel && *numbers[i] > 1) return ErrorAt(number.at, StrCat(kNames[i], " is 0 or 1"));
    }
    const bool kernel = numbers[kKernel].value_or(1) != 0, user = numbers[kUser].value_or(1) != 0;
    if (!kernel && !user) return ErrorAt(rest.at, "neither kernel nor user: nothing would be counted");
    for (EventSpec& spec : event.specs) {
      spec.period = numbers[kCount];
      spec.exclude_kernel = spec.exclude_kernel || !kernel;
      spec.exclude_user = spec.exclude_user || !user;
    }
    return absl::OkStatus();
  }

  // `rest` is NAME[:modifiers].
  absl::StatusOr<ParsedEvent> ParseTracepoint(Piece subsystem, Piece rest, Piece group_modifiers) const {
    const size_t colon = rest.text.find(':');
    const Piece name = rest.Sub(0, colon);
    const Piece modifiers =
        colon == std::string_view::npos ? rest.Sub(rest.text.size()) : rest.Sub(colon + 1);
    for (const Piece& part : {subsystem, name}) {
      // The name becomes a path: letters and glob characters only.
      const size_t odd = part.text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*?[]!^");
      if (odd != std::string_view::npos || part.text.empty())
        return UnknownName({subsystem.text, subsystem.at});
    }
    ParsedEvent event;
    for (const std::string& full : Matching(StrCat(subsystem.text, ":", name.text))) {
      const size_t split = full.find(':');
      const absl::StatusOr<uint64_t> id =
          catalog_.TracepointId(full.substr(0, split), full.substr(split + 1));
      if (!id.ok()) return NoTracepoint(subsystem, full, id.status());
      EventSpec spec;
      spec.name = full;
      spec.type = PERF_TYPE_TRACEPOINT;
      spec.config = *id;
      event.specs.push_back(std::move(spec));
    }
    if (event.specs.empty()) {
      // Nothing at all to match: the catalog knows why.
      const absl::Status cause = catalog_.TracepointId(subsystem.text, name.text).status();
      if (catalog_.Tracepoints().empty() && !absl::IsNotFound(cause))
        return NoTracepoint(subsystem, StrCat(subsystem.text, ":", name.text), cause);
      return ErrorAt(subsystem.at, StrCat("no tracepoint matches '", subsystem.text, ":", name.text, "'"));
    }
    KSAMP_RETURN_IF_ERROR(Finish(modifiers, group_modifiers, event));
    return event;
  }

  std::vector<std::string> Matching(const std::string& pattern) const {
    if (pattern.find_first_of("*?[") == std::string::npos) return {pattern};
    std::vector<std::string> all = catalog_.Tracepoints();
    std::erase_if(all, [&](const std::string& name) { return !MatchesGlob(pattern, name); });
    return all;
  }

  absl::Status NoTracepoint(Piece piece, const std::string& name, const absl::Status& cause) const {
    const std::string_view subsystem = piece.text;
    const bool could_be_event = catalog_.Tracepoints().empty();
    std::string hint = DidYouMean(name, catalog_.Tracepoints());
    if (hint.empty() && could_be_event) hint = DidYouMean(subsystem, KnownNames());
    return absl::Status(cause.code(),
                        StrCat("parse events at character ", piece.at + 1, ": ", MessageOf(cause), hint));
  }

  absl::Status UnknownName(Piece name) const {
    return ErrorAt(name.at, StrCat("there is no event '", EscapeForTerminal(name.text), "'",
                                   DidYouMean(name.text, KnownNames())));
  }

  static std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
    const std::optional<std::string> nearest = NearestWord(word, known);
    return nearest ? StrCat("; did you mean '", *nearest, "'?") : "";
  }

  std::vector<std::string> KnownNames() const {
    std::vector<std::string> names = CacheEventNames();
    for (const GenericEvent& event : GenericEvents()) {
      names.emplace_back(event.name);
      if (!event.alias.empty()) names.emplace_back(event.alias);
    }
    for (const OprofileEvent& event : OprofileEvents()) names.emplace_back(event.name);
    for (const Pmu& pmu : catalog_.pmus()) {
      for (const Pmu::Alias& alias : pmu.aliases) names.push_back(alias.name);
    }
    return names;
  }

  const EventCatalog& catalog_;
  std::vector<const Pmu*> core_pmus_;
};

// ---- Lists and groups ---------------------------------------------------------------------------------

// The kinds of core a group is made for: those of its first event that has several. Empty: just one group.
std::vector<std::string> CorePmusOf(const std::vector<ParsedEvent>& members) {
  std::vector<std::string> pmus;
  for (const ParsedEvent& member : members) {
    if (!member.per_core_pmu || !pmus.empty()) continue;
    for (const EventSpec& spec : member.specs) pmus.push_back(spec.pmu);
  }
  return pmus;
}

// Counters of different kinds of core cannot share a group: each kind gets a group of its own.
std::vector<EventGroup> MakeGroups(const std::vector<ParsedEvent>& members) {
  std::vector<std::string> pmus = CorePmusOf(members);
  if (pmus.empty()) pmus.emplace_back();
  std::vector<EventGroup> groups;
  for (const std::string& pmu : pmus) {
    EventGroup& group = groups.emplace_back();
    for (const ParsedEvent& member : members) {
      for (const EventSpec& spec : member.specs) {
        if (!member.per_core_pmu || spec.pmu == pmu) group.events.push_back(spec);
      }
    }
    // S: the leader samples and carries the others' counts; they take no samples themselves.
    if (group.events.empty() || !group.events.front().sample_read) continue;
    for (size_t i = 1; i < group.events.size(); ++i) group.events[i].period = 0;
  }
  return groups;
}

class ListParser {
 public:
  ListParser(std::string_view text, const EventCatalog& catalog) : text_(text), parser_(catalog) {}

  absl::StatusOr<std::vector<EventGroup>> Parse() && {
    for (size_t at = 0; at <= text_.size();) {
      const Piece rest = Trimmed({text_.substr(at), at});
      const bool is_group = !rest.text.empty() && rest.text[0] == '{';
      absl::StatusOr<size_t> end = is_group ? ParseGroup(rest.at) : ParseSingle(at);
      if (!end.ok()) return end.status();
      if (events_ > kMaxEvents) return ErrorAt(at, StrCat("more than ", kMaxEvents, " events"));
      at = *end + 1;
    }
    return std::move(groups_);
  }

 private:
  // Both return where the item ends: at a comma or at the end of the text.
  absl::StatusOr<size_t> ParseSingle(size_t at) {
    const size_t end = EndOfEvent(text_, at);
    const Piece piece{text_.substr(at, end - at), at};
    KSAMP_ASSIGN_OR_RETURN(ParsedEvent event, parser_.Parse(piece, Piece{{}, end}));
    events_ += event.specs.size();
    for (EventSpec& spec : event.specs) groups_.push_back({{std::move(spec)}});
    return end;
  }

  absl::StatusOr<size_t> ParseGroup(size_t open) {
    const size_t close = text_.find('}', open);
    if (close == std::string_view::npos) return ErrorAt(open, "'{' is never closed");
    const std::string_view inside = text_.substr(0, close);
    if (const size_t nested = inside.find('{', open + 1); nested != std::string_view::npos)
      return ErrorAt(nested, "a group inside a group");
    const size_t end = std::min(text_.find(',', close), text_.size());
    Piece modifiers = Trimmed({text_.substr(close + 1, end - close - 1), close + 1});
    if (!modifiers.text.empty() && modifiers.text[0] != ':')
      return ErrorAt(modifiers.at, "a group ends with '}' or '}:modifiers'");
    if (!modifiers.text.empty()) modifiers = modifiers.Sub(1);
    std::vector<ParsedEvent> members;
    for (size_t at = open + 1; at <= close;) {
      const size_t member_end = EndOfEvent(inside, at);
      const Piece piece{inside.substr(at, member_end - at), at};
      KSAMP_ASSIGN_OR_RETURN(ParsedEvent member, parser_.Parse(piece, modifiers));
      events_ += member.specs.size();
      members.push_back(std::move(member));
      at = member_end + 1;
    }
    for (EventGroup& group : MakeGroups(members)) groups_.push_back(std::move(group));
    return end;
  }

  std::string_view text_;
  EventParser parser_;
  size_t events_ = 0;
  std::vector<EventGroup> groups_;
};

}  // namespace

absl::StatusOr<std::vector<EventGroup>> ParseEvents(std::string_view text, const EventCatalog& catalog) {
  if (text.size() > kMaxTextSize)
    return absl::InvalidArgumentError(
        StrCat("parse events: ", text.size(), " characters, at most ", kMaxTextSize));
  return ListParser(text, catalog).Parse();
}

}  // namespace ksamp
