// Every error of the verifier and of the parser of !cudnn.tensor_desc. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @+1 {{expects a tensor descriptor of 1 to 8 dims, but got 0}}
func.func private @tensor_desc_c1_none(!cudnn.tensor_desc<f32>)

// -----

// expected-error @+1 {{expects a tensor descriptor of 1 to 8 dims, but got 9}}
func.func private @tensor_desc_c1_nine(!cudnn.tensor_desc<1x1x1x1x1x1x1x1x1xf32>)

// -----

// expected-error @+1 {{expects static dims of at least 1 in a tensor descriptor, but got ?}}
func.func private @tensor_desc_c1_dynamic(!cudnn.tensor_desc<1x?x4xf32>)

// -----

// expected-error @+1 {{expects static dims of at least 1 in a tensor descriptor, but got 0}}
func.func private @tensor_desc_c1_zero(!cudnn.tensor_desc<1x0x4xf32>)

// -----

// expected-error @+1 {{expects an element type of cuDNN, but got 'i16'}}
func.func private @tensor_desc_c2(!cudnn.tensor_desc<1x4xi16>)

// -----

// expected-error @+1 {{expects 2 strides, but got 1}}
func.func private @tensor_desc_c3_count(!cudnn.tensor_desc<1x4xf32, stride = [4]>)

// -----

// expected-error @+1 {{expects strides of at least 1, but got 0}}
func.func private @tensor_desc_c3_zero(!cudnn.tensor_desc<1x4xf32, stride = [4, 0]>)

// -----

// expected-error @+1 {{expects an alignment that is a power of two, but got 12}}
func.func private @tensor_desc_c4(!cudnn.tensor_desc<1x4xf32, alignment = 12>)

// -----

// expected-error @+1 {{expects one layout or 'stride'}}
func.func private @layout_twice(!cudnn.tensor_desc<1x4x2x2xf32, NHWC, stride = []>)

// -----

// expected-error @+1 {{expects one alignment}}
func.func private @alignment_twice(!cudnn.tensor_desc<1x4xf32, alignment = 1, alignment = 2>)

// -----

// expected-error @+1 {{expects 'alignment', 'stride', 'vector_count', 'vectorized_dimension', 'reordering', NHWC or NCHW, but got 'NDHWC'}}
func.func private @layout_unknown(!cudnn.tensor_desc<1x4x2x2xf32, NDHWC>)

// -----

// expected-error @+1 {{expects 'alignment', 'stride', 'vector_count', 'vectorized_dimension', 'reordering', but got 'NHWC'}}
func.func private @layout_of_matrix(!cudnn.tensor_desc<4x2xf32, NHWC>)

// -----

// expected-error @+1 {{expects an element type of cuDNN, but got 'si8'}}
func.func private @tensor_desc_c2_signed(!cudnn.tensor_desc<1x4xsi8>)

// -----

// expected-error @+1 {{expects an element type of cuDNN, but got 'complex<f16>'}}
func.func private @tensor_desc_c2_complex(!cudnn.tensor_desc<1x4xcomplex<f16>>)

// -----

// expected-error @+1 {{expects 'vector_count' and 'vectorized_dimension' together}}
func.func private @tensor_desc_c5_alone(!cudnn.tensor_desc<1x4x2x2xi8, vector_count = 4>)

// -----

// expected-error @+1 {{expects 'vector_count' above 1, but got 1}}
func.func private @tensor_desc_c5_one(!cudnn.tensor_desc<1x4x2x2xi8, vector_count = 1, vectorized_dimension = 1>)

// -----

// expected-error @+1 {{expects 'vector_count' above 1, but got 0}}
func.func private @tensor_desc_c5_none(!cudnn.tensor_desc<1x4x2x2xi8, vector_count = 0, vectorized_dimension = 1>)

// -----

// expected-error @+1 {{expects 'vector_count' 4 or 32 for 'i8', but got 16}}
func.func private @tensor_desc_c5_i8(!cudnn.tensor_desc<1x4x2x2xi8, vector_count = 16, vectorized_dimension = 1>)

// -----

// expected-error @+1 {{expects 'vector_count' 4 for 'ui8', but got 32}}
func.func private @tensor_desc_c5_ui8(!cudnn.tensor_desc<1x4x2x2xui8, vector_count = 32, vectorized_dimension = 1>)

// -----

// expected-error @+1 {{expects 'vectorized_dimension' in 0 to 3, but got 4}}
func.func private @tensor_desc_c5_dim(!cudnn.tensor_desc<1x4x2x2xi8, vector_count = 4, vectorized_dimension = 4>)

// -----

// expected-error @+1 {{expects one vector_count}}
func.func private @vector_count_twice(!cudnn.tensor_desc<1x4x2x2xi8, vector_count = 4, vector_count = 4, vectorized_dimension = 1>)

// -----

// expected-error @+1 {{expects no reordering 'int8x32' for 'f16'}}
func.func private @tensor_desc_c6_int8x32(!cudnn.tensor_desc<1x4x2x2xf16, reordering = int8x32>)

// -----

// expected-error @+1 {{expects no reordering 'f16x16' for 'i8'}}
func.func private @tensor_desc_c6_f16x16(!cudnn.tensor_desc<1x4x2x2xi8, reordering = f16x16>)

// -----

// expected-error @+1 {{expects no reordering 'f8_128x4' for 'f8E5M2'}}
func.func private @tensor_desc_c6_f8_128x4(!cudnn.tensor_desc<1x4x2x2xf8E5M2, reordering = f8_128x4>)

// -----

// expected-error @+1 {{expects reordering none, int8x32, f16x16 or f8_128x4, but got 'int8x4'}}
func.func private @reordering_unknown(!cudnn.tensor_desc<1x4x2x2xi8, reordering = int8x4>)
