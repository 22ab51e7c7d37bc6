// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/file_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lib/base/byte_reader.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::byte> TextFile(const std::string& text) {
  const std::span<const std::byte> bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

void PutAt(std::vector<std::byte>& file, size_t at, uint64_t value) {
  std::memcpy(file.data() + at, &value, sizeof(value));
}

TEST(FileHead, WhatIsNoRecordingIsRefusedWithTheReason) {
  struct Case {
    std::string file;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{{"", "the file is empty"},
                                         {"PERFILE2", "it has 8 bytes"},
                                         {"#!/bin/sh\nexit 0\n", "does not start with PERFILE2"},
                                         {"PERFFILE01234567", "version 1"}})
    EXPECT_THAT(ReadFileHead(TextFile(c.file), "x"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
}

TEST(FileHead, UnusableHeadersAreDataLoss) {
  struct Case {
    size_t at;
    uint64_t value;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{{8, 71, "header size 71 at 8"},
                                         {16, 0, "attr size 0 at 16"},
                                         {16, 79, "attr size 79 at 16"},
                                         {24, uint64_t{1} << 40, "lie outside the file"},
                                         {24, ~uint64_t{0}, "lie outside the file"},
                                         {32, 0, "describes no event"}}) {
    std::vector<std::byte> file = PerfDataBuilder().Bytes();
    PutAt(file, c.at, c.value);
    EXPECT_THAT(ReadFileHead(file, "x"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(c.message)));
  }
}

TEST(FileHead, AttrsIdsDataAndFeatures) {
  PerfDataBuilder b;
  b.AddEvent("a", {7, 8}).AddEvent("b", {9});
  b.Comm(1, 1, "x");
  const std::vector<std::byte> file = b.Bytes();
  ASSERT_OK_AND_ASSIGN(FileHead head, ReadFileHead(file, "x"));
  ASSERT_EQ(head.attrs.size(), 2u);
  EXPECT_THAT(head.attrs[0].ids, ElementsAre(7, 8));
  EXPECT_THAT(head.attrs[1].ids, ElementsAre(9));
  EXPECT_GT(head.data.size, 0u);
  EXPECT_EQ(head.data.offset % 8, 0u);
  EXPECT_EQ(head.features.count(kHostname), 1u);
  EXPECT_FALSE(head.killed);
  EXPECT_THAT(head.damage, IsEmpty());
}

TEST(FileHead, AForeignHeadReadsTheSame) {
  PerfDataBuilder b;
  b.AddEvent("a", {7, 8});
  const std::vector<std::byte> host_file = b.Bytes();
  const std::vector<std::byte> foreign_file = b.ForeignByteOrder().Bytes();
  ASSERT_OK_AND_ASSIGN(FileHead host, ReadFileHead(host_file, "x"));
  ASSERT_OK_AND_ASSIGN(FileHead foreign, ReadFileHead(foreign_file, "x"));
  EXPECT_TRUE(foreign.foreign);
  EXPECT_EQ(foreign.attrs[0].attr, host.attrs[0].attr);
  EXPECT_EQ(foreign.attrs[0].ids, host.attrs[0].ids);
  EXPECT_EQ(foreign.features.size(), host.features.size());
}

TEST(FileHead, KilledMeansRecordsToTheEndOfTheFile) {
  for (const bool announced : {false, true}) {
    PerfDataBuilder b;
    for (int i = 0; i < 20; ++i) b.Comm(1, 1, "x");
    const std::vector<std::byte> file = b.Killed(announced).Bytes();
    ASSERT_OK_AND_ASSIGN(FileHead head, ReadFileHead(file, "x"));
    EXPECT_TRUE(head.killed);
    EXPECT_EQ(head.data.offset + head.data.size, file.size());
    EXPECT_THAT(head.features, IsEmpty());
    EXPECT_THAT(head.damage, IsEmpty());
  }
}

TEST(FileHead, NoRecordsButAFeatureTableIsTheEnd) {
  const std::vector<std::byte> file = PerfDataBuilder().Bytes();
  ASSERT_OK_AND_ASSIGN(FileHead head, ReadFileHead(file, "x"));
  EXPECT_FALSE(head.killed);
  EXPECT_EQ(head.data.size, 0u);
  EXPECT_EQ(head.features.count(kHostname), 1u);
}

TEST(FileHead, OurBlockIsFoundWithoutAFeatureTable) {
  PerfDataBuilder b;
  b.Preamble(kKsampMeta, TextFile("event.wish=cycles\n"))
      .Preamble(kKsampModules, TextFile("odd"))
      .Killed(false);
  const std::vector<std::byte> file = b.Bytes();
  ASSERT_OK_AND_ASSIGN(FileHead head, ReadFileHead(file, "x"));
  EXPECT_EQ(AsText(head.features[kKsampMeta]), "event.wish=cycles\n");
  EXPECT_EQ(AsText(head.features[kKsampModules]), "odd");
}

TEST(FileHead, SectionsOutsideTheFileAreDamageNotFailure) {
  PerfDataBuilder b;
  b.Comm(1, 1, "x");
  std::vector<std::byte> file = b.Bytes();
  const size_t whole = file.size();
  file.resize(whole - 8);
  ASSERT_OK_AND_ASSIGN(FileHead head, ReadFileHead(file, "x"));
  ASSERT_EQ(head.damage.size(), 1u);
  EXPECT_THAT(head.damage[0].what, HasSubstr("feature 12 lies outside the file"));
  EXPECT_EQ(head.features.count(kHostname), 1u);
}

TEST(FileHead, HeadersWithoutABitmapAreRead) {
  PerfDataBuilder b;
  b.AddEvent("a", {7}).Comm(1, 1, "x").OldHeader();
  const std::vector<std::byte> file = b.Bytes();
  ASSERT_OK_AND_ASSIGN(FileHead head, ReadFileHead(file, "x"));
  EXPECT_THAT(head.attrs[0].ids, ElementsAre(7));
  EXPECT_FALSE(head.killed);
  EXPECT_THAT(head.features, IsEmpty());
}

}  // namespace
}  // namespace ksamp::perfdata
