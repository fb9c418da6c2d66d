# Functions for every folder's CMakeLists.txt: generate, compile, document.

if(NOT TARGET mlir-doc)
  add_custom_target(mlir-doc)
endif()

# One target compiles the precompiled header; all archives reuse it.
if(NOT EXISTS ${CMAKE_BINARY_DIR}/pch.cpp) # a newer file would rebuild everything
  file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp "")
endif()
add_library(convoy_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
target_compile_options(convoy_pch PRIVATE -fno-exceptions -Wall "SHELL:-Xclang -fno-pch-timestamp")
target_precompile_headers(convoy_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

# convoy_tablegen(TD OUT ARGS...): runs mlir-tblgen; the output is in the folder of the build tree
# that corresponds to the source's.
function(convoy_tablegen td out)
  file(RELATIVE_PATH where ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(result ${CMAKE_BINARY_DIR}/${where}/${out})
  add_custom_command(OUTPUT ${result}
    COMMAND mlir-tblgen ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${td} -I ${MLIR_INCLUDE_DIRS} -I ${CMAKE_SOURCE_DIR}
            --write-if-changed -o ${result} -d ${result}.d
    DEPFILE ${result}.d DEPENDS ${td} mlir-tblgen COMMENT "tablegen ${where}/${out}")
  set(CONVOY_GENERATED ${CONVOY_GENERATED} ${result} PARENT_SCOPE)
endfunction()

# convoy_doc(TD OUT ARGS...): a page under build/docs, built by the target mlir-doc.
function(convoy_doc td out)
  set(result ${CMAKE_BINARY_DIR}/docs/${out})
  add_custom_command(OUTPUT ${result}
    COMMAND mlir-tblgen ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${td} -I ${MLIR_INCLUDE_DIRS} -I ${CMAKE_SOURCE_DIR}
            --write-if-changed -o ${result} -d ${result}.d
    DEPFILE ${result}.d DEPENDS ${td} mlir-tblgen)
  string(MAKE_C_IDENTIFIER ${out} name)
  add_custom_target(doc-${name} DEPENDS ${result})
  add_dependencies(mlir-doc doc-${name})
endfunction()

# convoy_embeds(NAME SOURCE FILES...): a C source of library NAME embeds these files, which are
# generated in this folder. ccache does not track #embed and would return outdated objects, so it is
# disabled.
function(convoy_embeds name source)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:--embed-dir=${CMAKE_CURRENT_BINARY_DIR} -Wno-c23-extensions>)
  set_target_properties(${name} PROPERTIES C_COMPILER_LAUNCHER "")
endfunction()

# convoy_library(NAME SOURCES... LINK LIBS...): a static library without exceptions, built after all
# files generated so far.
function(convoy_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-exceptions -Wall "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${name} REUSE_FROM convoy_pch)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(CONVOY_GENERATED)
    add_custom_target(${name}-generated DEPENDS ${CONVOY_GENERATED})
    add_dependencies(${name} ${name}-generated)
    set_property(GLOBAL APPEND PROPERTY CONVOY_GENERATED_TARGETS ${name}-generated)
  endif()
  set_property(GLOBAL APPEND PROPERTY CONVOY_LIBRARIES ${name})
  get_property(generated GLOBAL PROPERTY CONVOY_GENERATED_TARGETS)
  if(generated)
    add_dependencies(${name} ${generated})
  endif()
endfunction()
