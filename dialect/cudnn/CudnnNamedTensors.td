// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Assembly format of ops with many tensors: operands are named, `scale(%s :
// !cudnn.tensor_desc<...>)`, and so are results after the arrow, `y(!cudnn.tensor_desc<...>)`.

#ifndef CONVOY_CUDNN_NAMED_TENSORS
#define CONVOY_CUDNN_NAMED_TENSORS

include "dialect/cudnn/CudnnOpBase.td"

class Cudnn_In<string name> {
  string text = "`" # name # "` `(` $" # name # " `:` qualified(type($" # name # ")) `)` ";
}

class Cudnn_OptionalIn<string name> {
  string text = "(`" # name # "` `(` $" # name # "^ `:` qualified(type($" # name # ")) `)`)? ";
}

class Cudnn_Out<string name> {
  string text = "`" # name # "` `(` qualified(type($" # name # ")) `)` ";
}

class Cudnn_OptionalOut<string name> {
  string text = "(`" # name # "` `(` qualified(type($" # name # "))^ `)`)? ";
}

#endif // CONVOY_CUDNN_NAMED_TENSORS
