# Toolchain file: cmake/clang.cmake with AddressSanitizer and UndefinedBehaviorSanitizer, for
# `make sanitize`. Assertions are enabled, including those in MLIR's headers and in libstdc++. LLVM
# and MLIR are Debian's archives, compiled without sanitizers or assertions.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)

# vptr needs RTTI, which LLVM is compiled without.
set(sanitize "-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer")
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "${sanitize} -D_GLIBCXX_ASSERTIONS")
  set(CMAKE_${language}_FLAGS_DEBUG "-O1 -gline-tables-only" CACHE STRING "")
endforeach()
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
# A separate folder: Python imports the regular build.
set(CONVOY_EXTENSION_FOLDER ${CMAKE_BINARY_DIR}/python CACHE PATH "")
