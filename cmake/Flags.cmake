# One place for every compiler and linker flag.
option(CORDON_WERROR "Warnings are errors" ON)
option(CORDON_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(CORDON_BENCH "Build the benchmarks" OFF)
# Clang's know the path of the checkout, so ccache could not share files between two: there only where all is compiled
# anew in any case (.ci/run).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR DEFINED ENV{CORDON_PRECOMPILE})
  set(precompile ON)
endif()
option(CORDON_PRECOMPILE "Read common headers once" ${precompile})
set(CORDON_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)  # TRY is a statement expression
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
include(CheckPIESupported)
check_pie_supported()

find_program(CCACHE ccache)
if(CCACHE)
  # The sloppiness is what ccache's manual asks for where there are precompiled headers; ours hold only headers of
  # installed packages. What one checkout compiled, another one need not.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wcast-align -Wunused -Woverloaded-virtual
                    -Wconversion -Wno-sign-conversion -Wnull-dereference -Wformat=2 -Wimplicit-fallthrough)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wno-nonnull>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports null dereferences, uninitialised members and strings beyond their end inside optimised libstdc++ and
  # fmt code.
  add_compile_options(-Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
                      -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-gnu-statement-expression -Wno-missing-field-initializers)
else()
  add_compile_options(-Wno-missing-field-initializers)
endif()
if(CORDON_WERROR)
  add_compile_options(-Werror)
endif()

if(CORDON_SANITIZE)
  add_compile_options(-fsanitize=${CORDON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${CORDON_SANITIZE})
else()
  # Checked on the built binary by tests/build/hardening.sh.
  add_compile_options(-fstack-protector-strong -fstack-clash-protection)
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
    add_compile_options(-fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64")
    add_compile_options(-mbranch-protection=standard)
  endif()
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed)
# Thirty thousand addresses are adjusted at every start: a bitmap of them instead of a table of 700 KB.
add_link_options(-Wl,-z,pack-relative-relocs)

# A command line program starts thousands of times a day, and 3 of its first 5 ms were the search for shared libraries.
# Who wants OpenSSL, libsodium and SQLite as the system has them (they are then updated without us) says OFF. The C library
# always is the system's: users and host names are looked up through it.
if(CORDON_SANITIZE)
  set(self_contained OFF)
else()
  set(self_contained ON)
endif()
option(CORDON_SELF_CONTAINED "Link OpenSSL, libsodium, SQLite and the C++ library into the programs" ${self_contained})
if(CORDON_SELF_CONTAINED)
  set(OPENSSL_USE_STATIC_LIBS ON)
  find_library(SQLite3_LIBRARY libsqlite3.a REQUIRED)
  set(CORDON_SODIUM libsodium.a)
  link_libraries(m)
  add_link_options(-static-libstdc++ -static-libgcc)
else()
  set(CORDON_SODIUM sodium)
endif()

# A program that needs nothing of the place where it is started, not even a loader. What asks for a static C++ library alone turns the
# linker back to shared ones for all that follows, so it goes; and -static-pie comes last, because CMake's own -pie would win otherwise.
# tests/build/static.sh looks at the result.
function(cordon_static name)
  get_target_property(options ${name} LINK_OPTIONS)
  list(REMOVE_ITEM options -static-libstdc++ -static-libgcc)
  set_target_properties(${name} PROPERTIES LINK_OPTIONS "${options}" CORDON_STATIC ON)
  target_link_libraries(${name} PRIVATE -static-pie)
endfunction()
