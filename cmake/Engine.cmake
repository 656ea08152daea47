# cordon-runner, and the JavaScript engine in it: npm's quickjs-wasi, turned into C by wasm2c. Nothing of it is committed;
# data/engine holds the lock. Included by src/code.
find_program(WASM2C wasm2c REQUIRED)
find_program(NPM npm REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(engine ${CMAKE_BINARY_DIR}/engine)
set(engine_lock ${CMAKE_SOURCE_DIR}/data/engine)
set(runner ${CMAKE_SOURCE_DIR}/src/code/runner)
set(modules ${engine}/node_modules)
file(MAKE_DIRECTORY ${engine})

add_custom_command(
  OUTPUT ${engine}/installed
  COMMAND ${CMAKE_COMMAND} -E copy ${engine_lock}/package.json ${engine_lock}/package-lock.json ${engine_lock}/.npmrc ${engine}
  COMMAND ${NPM} ci --prefix ${engine} --ignore-scripts --no-audit --no-fund --silent
  COMMAND ${CMAKE_COMMAND} -E touch ${engine}/installed
  DEPENDS ${engine_lock}/package.json ${engine_lock}/package-lock.json
  WORKING_DIRECTORY ${engine} VERBATIM)

add_custom_command(
  OUTPUT ${engine}/quickjs.c ${engine}/quickjs.h
  COMMAND ${WASM2C} ${modules}/quickjs-wasi/quickjs.wasm -o ${engine}/quickjs.c
  DEPENDS ${engine}/installed VERBATIM)
add_custom_target(cordon_engine_source DEPENDS ${engine}/quickjs.h)
add_dependencies(cordon_generated cordon_engine_source)

add_custom_command(
  OUTPUT ${engine}/identity
  COMMAND Python3::Interpreter -c
          "import hashlib, sys; open(sys.argv[1], 'wb').write(hashlib.sha256(b''.join(open(p, 'rb').read() for p in sys.argv[2:])).digest())"
          ${engine}/identity ${engine}/quickjs.c ${runner}/prelude.js
  DEPENDS ${engine}/quickjs.c ${runner}/prelude.js VERBATIM)

add_library(cordon_quickjs STATIC ${engine}/quickjs.c ${engine}/quickjs.h)
# wasm2c relies on faults of the reserved memory: no access may be dropped because its result is not used, and a NaN must
# keep its bits. Generated code has no need of our warnings.
target_compile_options(cordon_quickjs PRIVATE -O2 -g0 -w -fno-optimize-sibling-calls -frounding-math -fsignaling-nans)
target_include_directories(cordon_quickjs PUBLIC ${engine})

set(runner_sources main.cpp javascript.cpp engine.cpp wasm_runtime.cpp program.cpp artifacts.cpp)
list(TRANSFORM runner_sources PREPEND ${runner}/)
add_library(cordon_runner_parts OBJECT ${runner_sources})
target_include_directories(cordon_runner_parts PRIVATE ${CMAKE_SOURCE_DIR}/src/code)
target_link_libraries(cordon_runner_parts PUBLIC cordon_quickjs)
target_compile_options(cordon_runner_parts PRIVATE -O2)
add_dependencies(cordon_runner_parts cordon_quickjs)

function(cordon_runner_program name image_source)
  add_executable(${name} ${runner}/embedded.cpp ${runner}/${image_source})
  target_link_libraries(${name} PRIVATE cordon_runner_parts cordon_quickjs)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/code)
  target_compile_definitions(${name} PRIVATE CORDON_PRELUDE="${runner}/prelude.js" CORDON_BOOT="${runner}/boot.py"
                             CORDON_IDENTITY="${engine}/identity" CORDON_TYPESCRIPT="${engine}/typescript.image")
  # Static: it is started in a sandbox of any kind, and a thousand times a minute.
  cordon_static(${name})
endfunction()
set_source_files_properties(${runner}/embedded.cpp PROPERTIES
                            OBJECT_DEPENDS "${runner}/prelude.js;${runner}/boot.py;${engine}/identity")
set_source_files_properties(${runner}/image.cpp PROPERTIES OBJECT_DEPENDS ${engine}/typescript.image)

# First without the image of the TypeScript reader, to make that image; then with it.
cordon_runner_program(cordon_runner_first no_image.cpp)
set_target_properties(cordon_runner_first PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${engine})
add_custom_command(
  OUTPUT ${engine}/typescript.image
  COMMAND Python3::Interpreter ${runner}/bundle_types.py ${modules} ${engine}/typescript.js
  COMMAND sh -c "$<TARGET_FILE:cordon_runner_first> image ${engine}/typescript.js > ${engine}/typescript.image"
  DEPENDS cordon_runner_first ${runner}/bundle_types.py ${engine}/installed VERBATIM)

cordon_runner_program(cordon-runner image.cpp)
set_target_properties(cordon-runner PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/cordon)
include(GNUInstallDirs)
install(TARGETS cordon-runner RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cordon)
