// SPDX-License-Identifier: Apache-2.0
// `ksamp recover`: a recording whose recorder was killed -> one that perf reads.
#include <CLI/CLI.hpp>

#include "ksamp/perf_data.h"
#include "ksamp/recover.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/commands.h"
#include "tools/diagnostics.h"
#include "tools/recording_input.h"

namespace ksamp {
namespace {

class RecoverCommand : public Command {
 public:
  std::string_view name() const override { return "recover"; }
  std::string_view summary() const override {
    return "finish a recording whose recorder was killed, for perf to read";
  }
  std::string_view examples() const override {
    return "ksamp recover perf.data && perf report -i perf.data.recovered\n"
           "ksamp recover ksamp.data -o whole.data";
  }
  void AddOptions(CLI::App& app) override {
    app.add_option("file", input_, "The recording [ksamp.data, else perf.data]");
    app.add_option("-i,--input", input_, "The same");
    app.add_option("-o,--output", output_, "The new file [FILE.recovered]");
  }
  int Run(World& world, const std::vector<std::string>& command_words) override;

 private:
  std::string input_, output_;
};

int RecoverCommand::Run(World& world, const std::vector<std::string>&) {
  const absl::StatusOr<std::string> input = FindRecording(world, input_);
  if (!input.ok()) return Fail(world, input.status(), kExitNothing);
  const absl::StatusOr<Recording> recording = Recording::Open(*input);
  if (!recording.ok()) return Fail(world, recording.status(), kExitNothing);
  const bool damaged = WarnOfDamage(world, *recording);
  if (output_.empty()) output_ = *input == "-" ? "ksamp.data.recovered" : *input + ".recovered";
  const RecoverOptions options{.sys_root = world.sys_root};
  const absl::StatusOr<Recovery> recovery = RecoverRecording(*recording, output_, options);
  if (!recovery.ok()) return Fail(world, recovery.status(), kExitNothing);
  for (const std::string& note : recovery->notes) Say(world, StrCat("note: ", note));
  Say(world,
      StrCat(output_, ": ", GroupDigits(recovery->records), " records kept, ", GroupDigits(recovery->samples),
             " of them samples; ",
             recovery->bytes_dropped == 0 ? std::string("nothing dropped")
                                          : StrCat(GroupDigits(recovery->bytes_dropped), " bytes dropped")));
  return damaged ? kExitDamaged : kExitShown;
}

}  // namespace

std::unique_ptr<Command> MakeRecoverCommand() {
  return std::make_unique<RecoverCommand>();
}

}  // namespace ksamp
