// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/str_cat.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ProfileSpecificationTest, FillsOptionsAndFilters) {
  ProfileOptions options;
  SymbolFilters filters;
  const absl::Status status = ParseProfileSpecification(
      {"image:/usr/bin/a,b\\,c*", "image-exclude:d", "lib-image:libc*", "event:cycles", "cpu:0,12", "tid:7",
       "tgid:8,9", "bash", "/usr/bin/odd:name"},
      options, filters);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(filters.apps, ElementsAre("/usr/bin/a", "b,c*", "bash", "/usr/bin/odd:name"));
  EXPECT_THAT(filters.exclude_images, ElementsAre("d"));
  EXPECT_THAT(filters.images, ElementsAre("libc*"));
  EXPECT_THAT(options.events, ElementsAre("cycles"));
  EXPECT_THAT(options.cpus, ElementsAre(0, 12));
  EXPECT_THAT(options.tids, ElementsAre(7));
  EXPECT_THAT(options.pids, ElementsAre(8, 9));
  EXPECT_THAT(options.comms, IsEmpty());
}

TEST(ProfileSpecificationTest, RefusesWhatItCannotMean) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } cases[] = {
      {{"image:a", "image:a"}, "image:a: tag specified more than once"},
      {{"cpu:"}, "cpu: empty value"},
      {{"image:a,,b"}, "image: empty element"},
      {{"cpu:x"}, "cpu: \"x\" is no number"},
      {{"tid:-1"}, "tid: \"-1\" is no number"},
      {{"tgid:99999999999"}, "tgid: \"99999999999\" is no number"},
      {{"session:current"}, "session: a recording has no such thing"},
      {{""}, "empty word"},
  };
  for (const auto& c : cases) {
    ProfileOptions options;
    SymbolFilters filters;
    const absl::Status status = ParseProfileSpecification(c.words, options, filters);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.message;
    EXPECT_THAT(MessageOf(status), HasSubstr(c.message));
  }
}

TEST(ProfileSpecificationTest, OneTagWithTwoValuesIsFine) {
  ProfileOptions options;
  SymbolFilters filters;
  EXPECT_TRUE(ParseProfileSpecification({"cpu:0", "cpu:1"}, options, filters).ok());
  EXPECT_THAT(options.cpus, ElementsAre(0, 1));
}

}  // namespace
}  // namespace ksamp
