# cmake -DIN=FILES -DOUT=FILE -P PythonDialect.cmake: one Python module out of what mlir-tblgen makes
# of a dialect's ops and enums. It expects to lie inside MLIR's own package; ours is torch-mlir's.
set(module "")
foreach(file IN LISTS IN)
  file(READ ${file} text)
  string(REPLACE "from ._ods_common import" "from torch_mlir.dialects._ods_common import" text "${text}")
  string(REPLACE "from ..ir import" "from torch_mlir.ir import" text "${text}")
  string(APPEND module "${text}")
endforeach()
file(WRITE ${OUT} "${module}")
