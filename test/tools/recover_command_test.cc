// SPDX-License-Identifier: Apache-2.0
// The recover command in-process, on recordings made to order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ksamp/perf_data.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"
#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::TestWorld;
using ::testing::HasSubstr;

struct RecoverCommandTest : ::testing::Test {
  RecoverCommandTest() {
    for (uint64_t time : {1, 2}) builder.Sample({.pid = 10, .tid = 10, .time = time, .ip = 0x20});
  }
  PerfDataBuilder builder;
  TempTree tree;
  TestWorld world;
};

TEST_F(RecoverCommandTest, AKilledRecordingGoesBesideTheOldOne) {
  const std::string path = builder.Killed().WriteTo(tree.Path("x.data"));
  EXPECT_EQ(RunKsamp({"recover", path}, world.world), kExitShown);
  EXPECT_THAT(world.err(),
              HasSubstr("x.data.recovered: 2 records kept, 2 of them samples; nothing dropped\n"));
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(path + ".recovered"));
  EXPECT_FALSE(recording.was_killed());
  EXPECT_EQ(recording.counts().samples, 2u);
}

TEST_F(RecoverCommandTest, WhatWasDroppedIsSaidAndTheExitCodeTells) {
  builder.Killed();
  const std::string path = builder.Truncated(builder.Bytes().size() - 8).WriteTo(tree.Path("x.data"));
  EXPECT_EQ(RunKsamp({"recover", path, "-o", tree.Path("y.data")}, world.world), kExitDamaged);
  EXPECT_THAT(world.err(), HasSubstr("y.data: 1 records kept, 1 of them samples; 48 bytes dropped\n"));
}

TEST_F(RecoverCommandTest, NeverOverItself) {
  const std::string path = builder.WriteTo(tree.Path("x.data"));
  EXPECT_EQ(RunKsamp({"recover", path, "-o", path}, world.world), kExitNothing);
  EXPECT_THAT(world.err(), HasSubstr("the output is the same file"));
}

}  // namespace
}  // namespace ksamp
