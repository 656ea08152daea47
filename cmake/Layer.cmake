# One library per folder of src/. A file is found by its name: NAME_test.cc belongs to the folder's test
# program, every other *.cc to its library. Which folder may use which is said by DEPENDS alone, and
# tests/build/layers.sh checks that the #include lines say the same.
include(GoogleTest)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)

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
  target_link_libraries(cordon_${name} PUBLIC ${depends} fmt::fmt ${ARG_LIBRARIES} PRIVATE ${ARG_PRIVATE_LIBRARIES})

  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE cordon_${name} ${ARG_TEST_LIBRARIES} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name}_test PRIVATE CORDON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_dependencies(unit_tests ${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()
