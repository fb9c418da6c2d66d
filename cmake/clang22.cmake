# Toolchain file. Debian's MLIR is compiled with clang, and MLIR compares implicit TypeIDs by __PRETTY_FUNCTION__, whose text
# differs between g++ and clang: compiled with g++, trait checks across the library border fail at run time.
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld")
endforeach()
