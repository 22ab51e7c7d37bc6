# SPDX-License-Identifier: Apache-2.0
# The library people link: one target `ksamp` of all rooms' objects, shared or static by BUILD_SHARED_LIBS.
# Tests and benchmarks link the rooms they are about; hidden symbols cost them nothing.
#
# In: KSAMP_LIBRARY_OBJECTS, KSAMP_LIBRARY_PACKAGES (targets the objects need beyond absl::status and absl::statusor).
# These two files look for everything from here, so that test/install can make the other kind of library of the same objects.
set(KSAMP_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)
configure_file(${KSAMP_ROOT}/include/ksamp/version.h.in ${PROJECT_BINARY_DIR}/include/ksamp/version.h @ONLY)

add_library(ksamp ${KSAMP_LIBRARY_OBJECTS})
add_library(ksamp::ksamp ALIAS ksamp)
set_target_properties(ksamp PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})  # before 1.0 every minor version may break the ABI
target_compile_features(ksamp INTERFACE cxx_std_20)
target_include_directories(ksamp INTERFACE
  $<BUILD_INTERFACE:${KSAMP_ROOT}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(ksamp PUBLIC absl::status absl::statusor PRIVATE ${KSAMP_LIBRARY_PACKAGES})
# Hidden visibility does not reach instantiations of std:: and absl:: templates; the linker's list does.
target_link_options(ksamp PRIVATE
  $<$<STREQUAL:$<TARGET_PROPERTY:ksamp,TYPE>,SHARED_LIBRARY>:LINKER:--version-script=${KSAMP_ROOT}/cmake/ksamp.map>)
set_property(TARGET ksamp APPEND PROPERTY LINK_DEPENDS ${KSAMP_ROOT}/cmake/ksamp.map)
