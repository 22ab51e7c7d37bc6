# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: library, headers, CMake package, pkg-config file, tool, man pages, completions.
# test/install builds programs against the result.
include(CMakePackageConfigHelpers)

set(ksamp_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ksamp)
install(TARGETS ksamp EXPORT ksampTargets)
install(EXPORT ksampTargets NAMESPACE ksamp:: DESTINATION ${ksamp_package_dir})
install(DIRECTORY ${KSAMP_ROOT}/include/ksamp ${PROJECT_BINARY_DIR}/include/ksamp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# What a program needs besides libksamp. Status and StatusOr are part of the interface, and abseil promises no ABI, so a
# program must use the abseil we used. The rest is ours alone: a shared library brings it along, a static one leaves it
# to the program's link. pkg-config's names: absl::strings is absl_strings, PkgConfig::ZSTD is ${ZSTD_MODULE_NAME}.
set(KSAMP_ABSL_VERSION "${absl_VERSION}")
set(pc_packages "")
set(KSAMP_PKG_CONFIG_MODULES "")
foreach(package IN LISTS KSAMP_LIBRARY_PACKAGES)
  if(package MATCHES "^absl::(.+)$")
    list(APPEND pc_packages absl_${CMAKE_MATCH_1})
  elseif(package MATCHES "^PkgConfig::(.+)$")
    list(APPEND pc_packages ${${CMAKE_MATCH_1}_MODULE_NAME})
    string(APPEND KSAMP_PKG_CONFIG_MODULES
           "  pkg_check_modules(${CMAKE_MATCH_1} REQUIRED QUIET IMPORTED_TARGET ${${CMAKE_MATCH_1}_MODULE_NAME})\n")
  elseif(NOT package STREQUAL Threads::Threads)
    message(FATAL_ERROR "${package}: say here how programs that link the static library find it")
  endif()
endforeach()
list(JOIN pc_packages " " pc_packages)
get_target_property(type ksamp TYPE)
if(type STREQUAL STATIC_LIBRARY)
  set(KSAMP_IS_STATIC ON)
  set(KSAMP_PC_REQUIRES "absl_status absl_statusor ${pc_packages}")
  set(KSAMP_PC_REQUIRES_PRIVATE "")
  set(KSAMP_PC_THREADS "-pthread")
else()
  set(KSAMP_IS_STATIC OFF)
  set(KSAMP_PC_REQUIRES "absl_status absl_statusor")
  set(KSAMP_PC_REQUIRES_PRIVATE "${pc_packages}")
  set(KSAMP_PC_THREADS "")
endif()

configure_package_config_file(${KSAMP_ROOT}/cmake/ksampConfig.cmake.in ${PROJECT_BINARY_DIR}/ksampConfig.cmake
                              INSTALL_DESTINATION ${ksamp_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ksampConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ksampConfig.cmake ${PROJECT_BINARY_DIR}/ksampConfigVersion.cmake
        DESTINATION ${ksamp_package_dir})

file(RELATIVE_PATH KSAMP_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${KSAMP_ROOT}/cmake/ksamp.pc.in ${PROJECT_BINARY_DIR}/ksamp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ksamp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET ksamp_cli)
  install(TARGETS ksamp_cli)
  install(DIRECTORY ${KSAMP_ROOT}/doc/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(FILES ${KSAMP_ROOT}/tools/completion/ksamp.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ksamp)
  install(FILES ${KSAMP_ROOT}/tools/completion/_ksamp DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${KSAMP_ROOT}/tools/completion/ksamp.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
