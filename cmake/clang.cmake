# Toolchain file: clang in the version that CMakeLists.txt pins. Debian's MLIR is compiled with
# clang. MLIR compares implicit TypeIDs by __PRETTY_FUNCTION__, whose text differs between g++ and
# clang, so with g++ trait checks across the library boundary fail at run time.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../CMakeLists.txt pin REGEX "^set\\(CONVOY_LLVM_VERSION")
string(REGEX MATCH "[0-9]+" llvm_major "${pin}")
set(CMAKE_C_COMPILER clang-${llvm_major})
set(CMAKE_CXX_COMPILER clang++-${llvm_major})
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld")
endforeach()
