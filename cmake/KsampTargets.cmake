# SPDX-License-Identifier: Apache-2.0
# One function per kind of target. A room's CMakeLists.txt reads as its place in the house: sources, lower rooms, packages.

# Flags of our own code live on one target; nothing sets CMAKE_CXX_FLAGS.
add_library(ksamp_flags INTERFACE)
target_compile_features(ksamp_flags INTERFACE cxx_std_20)
target_include_directories(ksamp_flags INTERFACE ${PROJECT_SOURCE_DIR} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
# Designated initialisers leave fields at their defaults on purpose; GCC takes that for a mistake.
target_compile_options(ksamp_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror=unused-result
                                             -Wno-missing-field-initializers)
option(KSAMP_WERROR "Warnings are errors" OFF)
if(KSAMP_WERROR)
  target_compile_options(ksamp_flags INTERFACE -Werror)
endif()

# ksamp_add_room(NAME event SRCS a.cc b.cc DEPS base PACKAGES absl::status)
# A room is a static library ksamp_<name>; its objects also go into the installed library.
function(ksamp_add_room)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;PACKAGES" ${ARGN})
  add_library(ksamp_${ARG_NAME} STATIC ${ARG_SRCS})
  set_target_properties(ksamp_${ARG_NAME} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(ksamp_${ARG_NAME} PRIVATE ksamp_flags)
  target_link_libraries(ksamp_${ARG_NAME} PUBLIC absl::status absl::statusor)
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(ksamp_${ARG_NAME} PUBLIC ksamp_${dep})
  endforeach()
  target_link_libraries(ksamp_${ARG_NAME} PUBLIC ${ARG_PACKAGES})
  set_property(GLOBAL APPEND PROPERTY KSAMP_ROOMS ksamp_${ARG_NAME})
  set_property(GLOBAL APPEND PROPERTY KSAMP_ROOM_PACKAGES ${ARG_PACKAGES})
endfunction()

# What needs nothing from the machine (labels unit, golden, fuzz): the part that scripts/test repeats under sanitizers.
add_custom_target(ksamp_pure_tests)

# ksamp_add_test(NAME event_record_decoder SRCS record_decoder_test.cc DEPS event support LABELS unit)
# One executable per room keeps links few; every TEST in it is its own ctest.
function(ksamp_add_test)
  cmake_parse_arguments(ARG "SERIAL" "NAME;TIMEOUT" "SRCS;DEPS;PACKAGES;LABELS" ${ARGN})
  add_executable(${ARG_NAME}_test ${ARG_SRCS})
  target_link_libraries(${ARG_NAME}_test PRIVATE ksamp_flags)
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${ARG_NAME}_test PRIVATE ksamp_${dep})
  endforeach()
  target_link_libraries(${ARG_NAME}_test PRIVATE ${ARG_PACKAGES} GTest::gmock GTest::gtest_main)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)  # A hang ends; nothing is judged by speed.
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if("unit" IN_LIST ARG_LABELS OR "golden" IN_LIST ARG_LABELS)
    add_dependencies(ksamp_pure_tests ${ARG_NAME}_test)
  endif()
  if(ARG_SERIAL)
    set(serial RUN_SERIAL ON)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${ARG_NAME}_test TEST_PREFIX "${ARG_NAME}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ${serial})
endfunction()

# ksamp_add_tool_test(NAME known_ratio LABEL live): known_ratio_test.cc, a test that runs the built tool and
# compiles fixtures (test/support/built_tree.h). Such tests skip where the machine lacks something; ctest shows them as skipped.
# They run one at a time: two recordings of the whole machine would see each other.
function(ksamp_add_tool_test)
  cmake_parse_arguments(ARG "" "NAME;LABEL;TIMEOUT" "DEPS;PACKAGES" ${ARGN})
  ksamp_add_test(NAME ${ARG_LABEL}_${ARG_NAME} SRCS ${ARG_NAME}_test.cc DEPS support ${ARG_DEPS} PACKAGES ${ARG_PACKAGES}
                 LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} SERIAL)
  add_dependencies(${ARG_LABEL}_${ARG_NAME}_test ksamp_cli)
endfunction()

# ksamp_add_benchmark(NAME record_decode SRCS record_decode_bench.cc DEPS event)
function(ksamp_add_benchmark)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;PACKAGES" ${ARGN})
  add_executable(${ARG_NAME}_bench ${ARG_SRCS})
  target_link_libraries(${ARG_NAME}_bench PRIVATE ksamp_flags benchmark::benchmark benchmark::benchmark_main ${ARG_PACKAGES})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${ARG_NAME}_bench PRIVATE ksamp_${dep})
  endforeach()
  add_test(NAME bench_smoke.${ARG_NAME} COMMAND ${ARG_NAME}_bench --benchmark_min_time=0.01)
  set_tests_properties(bench_smoke.${ARG_NAME} PROPERTIES LABELS bench_smoke TIMEOUT 300)
endfunction()

# ksamp_add_fuzzer(NAME kallsyms SRC kallsyms_fuzzer.cc DEPS object)
# Under clang with KSAMP_BUILD_FUZZERS: a libFuzzer binary. Always: a driver that replays test/fuzz/corpus/<name>, as a ctest.
function(ksamp_add_fuzzer)
  cmake_parse_arguments(ARG "" "NAME;SRC" "DEPS;PACKAGES" ${ARGN})
  if(KSAMP_BUILD_FUZZERS)
    add_executable(${ARG_NAME}_fuzzer ${ARG_SRC})
    target_compile_options(${ARG_NAME}_fuzzer PRIVATE -fsanitize=fuzzer)
    target_link_options(${ARG_NAME}_fuzzer PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${ARG_NAME}_fuzzer PRIVATE ksamp_flags ${ARG_PACKAGES})
    foreach(dep IN LISTS ARG_DEPS)
      target_link_libraries(${ARG_NAME}_fuzzer PRIVATE ksamp_${dep})
    endforeach()
  endif()
  add_executable(${ARG_NAME}_fuzz_replay ${ARG_SRC} ${PROJECT_SOURCE_DIR}/test/fuzz/replay_main.cc)
  target_link_libraries(${ARG_NAME}_fuzz_replay PRIVATE ksamp_flags ${ARG_PACKAGES})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${ARG_NAME}_fuzz_replay PRIVATE ksamp_${dep})
  endforeach()
  add_dependencies(ksamp_pure_tests ${ARG_NAME}_fuzz_replay)
  add_test(NAME fuzz_replay.${ARG_NAME}
           COMMAND ${ARG_NAME}_fuzz_replay ${PROJECT_SOURCE_DIR}/test/fuzz/corpus/${ARG_NAME})
  set_tests_properties(fuzz_replay.${ARG_NAME} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
