# One library per folder of src/. A file is found by its name: NAME_test.cc belongs to the folder's test
# program, every other *.cc to its library. Which folder may use which is said by DEPENDS alone, and
# tests/build/layers.sh checks that the #include lines say the same.
include(GoogleTest)
find_package(GTest REQUIRED)

# Read once instead of in every file: about half of what there is to compile. Each file still includes what it uses,
# which `./dev lint` sees: it reads them without this.
set(CORDON_COMMON_HEADERS <algorithm> <array> <cstdint> <cstring> <functional> <map> <memory> <optional> <string>
    <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
set(CORDON_TEST_HEADERS ${CORDON_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)

# GCC would read the old ones while it makes the new, and ccache then could not share them between checkouts.
get_directory_property(options COMPILE_OPTIONS)
if(NOT "${options}" STREQUAL "${CORDON_PRECOMPILED_WITH}")
  file(GLOB_RECURSE old ${CMAKE_BINARY_DIR}/src/*.gch)
  if(old)
    file(REMOVE ${old})
  endif()
  set(CORDON_PRECOMPILED_WITH "${options}" CACHE INTERNAL "")
endif()

# The first library and the first test program of a build make them, the others take theirs: compiled the same way.
function(cordon_precompile target kind)
  if(NOT CORDON_PRECOMPILE)
    return()
  endif()
  get_property(maker GLOBAL PROPERTY CORDON_PRECOMPILED_${kind})
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY CORDON_PRECOMPILED_${kind} ${target})
  endif()
endfunction()

# Where tests find their data. Not a macro: a path in a compiler's command keeps ccache from sharing the file between
# two checkouts.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/source_directory.cc @ONLY CONTENT
     "namespace cordon {\nextern const char* const source_directory;\nconst char* const source_directory = \"@CMAKE_SOURCE_DIR@\";\n}\n")
add_library(cordon_source_directory STATIC ${CMAKE_BINARY_DIR}/source_directory.cc)

# Test files of a folder as one program.
function(cordon_unit_tests name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_LIBRARIES} cordon_source_directory
                        GTest::gtest_main GTest::gmock)
  cordon_precompile(${name}_test TESTS ${CORDON_TEST_HEADERS})
  add_dependencies(unit_tests ${name}_test)
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

function(cordon_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES;PRIVATE_LIBRARIES;TEST_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")

  set(depends ${ARG_DEPENDS})
  list(TRANSFORM depends PREPEND cordon_)
  add_library(cordon_${name} STATIC ${sources})
  # Only for "…": our sys/file.h must not be found where <sys/file.h> is meant.
  target_compile_options(cordon_${name} PUBLIC "SHELL:-iquote ${CMAKE_SOURCE_DIR}/src")
  set_property(GLOBAL APPEND PROPERTY CORDON_LAYERS cordon_${name})
  target_link_libraries(cordon_${name} PUBLIC ${depends} ${ARG_LIBRARIES} PRIVATE ${ARG_PRIVATE_LIBRARIES})

  cordon_precompile(cordon_${name} LIBRARIES ${CORDON_COMMON_HEADERS})

  if(tests)
    cordon_unit_tests(${name} SOURCES ${tests} LIBRARIES cordon_${name} ${ARG_TEST_LIBRARIES})
  endif()
endfunction()
