# Debian's MLIRTargets.cmake lists the shared "LLVM" (libLLVM.so) in the link interface of every
# MLIR archive. This replaces it with LLVM's component archives: binaries are self-contained.
llvm_map_components_to_libnames(CONVOY_LLVM_LIBS
  X86 NVPTX Passes Core Support Target TargetParser MC CodeGen LTO DTLTO Option)
add_library(convoy_llvm INTERFACE)
target_link_libraries(convoy_llvm INTERFACE ${CONVOY_LLVM_LIBS})
foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
  if(TARGET ${target})
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(TRANSFORM links REPLACE "^(LLVM|\\$<LINK_ONLY:LLVM>)$" "convoy_llvm")
      list(REMOVE_ITEM links MLIR)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endif()
endforeach()

# LLVMSupport's interface names libz3.so by absolute path, though Convoy does not use it; zlib and
# zstd are linked statically.
get_target_property(links LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER links EXCLUDE REGEX "libz3|^(ZLIB::ZLIB|zstd::libzstd_shared)$")
find_library(CONVOY_LIBZ NAMES libz.a REQUIRED)
find_library(CONVOY_LIBZSTD NAMES libzstd.a REQUIRED)
list(APPEND links ${CONVOY_LIBZ} ${CONVOY_LIBZSTD})
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
