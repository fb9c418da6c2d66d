# cmake -DIN=FILES -DOUT=FILE -P PythonDialect.cmake: joins mlir-tblgen's Python bindings of a
# dialect's ops and enums to one module. mlir-tblgen expects them in MLIR's own package; the MLIR
# package here is torch-mlir's.
set(module "")
foreach(file IN LISTS IN)
  file(READ ${file} text)
  string(REPLACE "from ._ods_common import" "from torch_mlir.dialects._ods_common import" text "${text}")
  string(REPLACE "from ..ir import" "from torch_mlir.ir import" text "${text}")
  string(APPEND module "${text}")
endforeach()
file(WRITE ${OUT} "${module}")
