// RUN: convoy-opt %s --split-input-file --verify-diagnostics

cudnn_backend.func @parse_kind(%handle) {
  // expected-error @+2 {{expected a kind of descriptor, but got 'tensors'}}
  // expected-error @+1 {{failed to parse CudnnBackend_DescriptorType parameter 'kind'}}
  %x = cudnn_backend.create <tensors>
}

// -----

cudnn_backend.func @parse_attribute(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+2 {{expected the name of a descriptor's attribute, but got 'tensor_dims'}}
  // expected-error @+1 {{failed to parse CudnnBackend_AttributeNameAttr parameter 'value'}}
  cudnn_backend.set %x, <tensor_dims>, [1] : <tensor>
}

// -----

cudnn_backend.func @set_c1(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects an attribute of CUDNN_BACKEND_TENSOR_DESCRIPTOR, but got CUDNN_ATTR_POINTWISE_MODE}}
  cudnn_backend.set %x, <pointwise_mode>, add : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_0(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_DIMENSIONS as CUDNN_TYPE_INT64, but got another value}}
  cudnn_backend.set %x, <tensor_dimensions>, half : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_1(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_DATA_TYPE as CUDNN_TYPE_DATA_TYPE, but got another value}}
  cudnn_backend.set %x, <tensor_data_type>, [0] : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_2(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_IS_VIRTUAL as CUDNN_TYPE_BOOLEAN, but got another value}}
  cudnn_backend.set %x, <tensor_is_virtual>, [1] : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_3(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_DIMENSIONS as CUDNN_TYPE_INT64, but got another value}}
  cudnn_backend.set %x, <tensor_dimensions>, 1.0 : f32 : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_operand(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_UNIQUE_ID as CUDNN_TYPE_INT64, but got another value}}
  cudnn_backend.set %x, <tensor_unique_id>, %handle : <tensor>, !cudnn_backend.handle
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_alternative(%handle) {
  %x = cudnn_backend.create <operation_convolution_forward>
  // expected-error @+1 {{expects CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA as CUDNN_TYPE_FLOAT or CUDNN_TYPE_DOUBLE, but got another value}}
  cudnn_backend.set %x, <operation_convolution_forward_alpha>, [1] : <operation_convolution_forward>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c3(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects an enumerator of CUDNN_TYPE_DATA_TYPE, but got 'f16'}}
  cudnn_backend.set %x, <tensor_data_type>, f16 : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c4_one(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects one element of CUDNN_ATTR_TENSOR_UNIQUE_ID, but got 2}}
  cudnn_backend.set %x, <tensor_unique_id>, [1, 2] : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c4_dims(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects one or more elements, at most 8, of CUDNN_ATTR_TENSOR_STRIDES, but got 9}}
  cudnn_backend.set %x, <tensor_strides>, [1, 1, 1, 1, 1, 1, 1, 1, 1] : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c5(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %op = cudnn_backend.create <operation_pointwise>
  // expected-error @+1 {{expects CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR to hold 'pointwise', but got 'tensor'}}
  cudnn_backend.set %op, <operation_pointwise_pw_descriptor>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c5_operation(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %g = cudnn_backend.create <operationgraph>
  // expected-error @+1 {{expects CUDNN_ATTR_OPERATIONGRAPH_OPS to hold 'operation', but got 'tensor'}}
  cudnn_backend.set %g, <operationgraph_ops>, %x : <operationgraph>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c1(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  // expected-error @+1 {{expects a descriptor that is not finalized}}
  cudnn_backend.set %x, <tensor_is_virtual>, true : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c1_destroyed(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.destroy %x : <tensor>
  // expected-error @+1 {{expects a descriptor that is not destroyed}}
  cudnn_backend.set %x, <tensor_is_virtual>, true : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c2(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-note @+1 {{first set here}}
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  // expected-error @+1 {{expects to set CUDNN_ATTR_TENSOR_UNIQUE_ID once}}
  cudnn_backend.set %x, <tensor_unique_id>, [2] : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c3(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_STRIDES to be set}}
  cudnn_backend.finalize %x : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c3_pointwise(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %p = cudnn_backend.create <pointwise>
  cudnn_backend.set %p, <pointwise_mode>, relu_fwd : <pointwise>
  cudnn_backend.set %p, <pointwise_math_prec>, float : <pointwise>
  cudnn_backend.finalize %p : <pointwise>
  %op = cudnn_backend.create <operation_pointwise>
  cudnn_backend.set %op, <operation_pointwise_pw_descriptor>, %p : <operation_pointwise>, !cudnn_backend.descriptor<pointwise>
  cudnn_backend.set %op, <operation_pointwise_xdesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_OPERATION_POINTWISE_YDESC or CUDNN_ATTR_OPERATION_POINTWISE_DXDESC to be set}}
  cudnn_backend.finalize %op : <operation_pointwise>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c4_dims(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  // expected-error @+1 {{expects 3 elements like CUDNN_ATTR_TENSOR_DIMENSIONS, but got 2}}
  cudnn_backend.set %x, <tensor_strides>, [4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c4_spatial(%handle) {
  %c = cudnn_backend.create <convolution>
  cudnn_backend.set %c, <convolution_comp_type>, float : <convolution>
  cudnn_backend.set %c, <convolution_conv_mode>, cross_correlation : <convolution>
  cudnn_backend.set %c, <convolution_spatial_dims>, [2] : <convolution>
  // expected-error @+1 {{expects 2 elements, one per spatial dim, but got 4}}
  cudnn_backend.set %c, <convolution_pre_paddings>, [1, 1, 1, 1] : <convolution>
  cudnn_backend.set %c, <convolution_post_paddings>, [1, 1] : <convolution>
  cudnn_backend.set %c, <convolution_filter_strides>, [1, 1] : <convolution>
  cudnn_backend.set %c, <convolution_dilations>, [1, 1] : <convolution>
  cudnn_backend.finalize %c : <convolution>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c5(%handle) {
  %x = cudnn_backend.create <tensor>
  %op = cudnn_backend.create <operation_pointwise>
  // expected-error @+1 {{expects a descriptor that is finalized}}
  cudnn_backend.set %op, <operation_pointwise_xdesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c5_destroyed(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  cudnn_backend.destroy %x : <tensor>
  %op = cudnn_backend.create <operation_pointwise>
  // expected-error @+1 {{expects a descriptor that is not destroyed}}
  cudnn_backend.set %op, <operation_pointwise_xdesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c6(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  // expected-error @+1 {{expects a descriptor that is not finalized}}
  cudnn_backend.finalize %x : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c7_twice(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  cudnn_backend.destroy %x : <tensor>
  // expected-error @+1 {{expects a descriptor that is not destroyed}}
  cudnn_backend.destroy %x : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c7_leak(%handle) {
  // expected-error @+1 {{expects its descriptor to be destroyed before the function returns}}
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [12, 4, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %p = cudnn_backend.create <pointwise>
  cudnn_backend.set %p, <pointwise_mode>, relu_fwd : <pointwise>
  cudnn_backend.set %p, <pointwise_math_prec>, float : <pointwise>
  cudnn_backend.finalize %p : <pointwise>
  %op = cudnn_backend.create <operation_pointwise>
  cudnn_backend.set %op, <operation_pointwise_pw_descriptor>, %p : <operation_pointwise>, !cudnn_backend.descriptor<pointwise>
  cudnn_backend.set %op, <operation_pointwise_xdesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_pointwise_ydesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.finalize %op : <operation_pointwise>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.set %g, <operationgraph_ops>, %op : <operationgraph>, !cudnn_backend.descriptor<operation_pointwise>
  cudnn_backend.finalize %g : <operationgraph>
  cudnn_backend.destroy %op : <operation_pointwise>
  cudnn_backend.destroy %p : <pointwise>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c8(%handle) {
  %g = cudnn_backend.create <operationgraph>
  // expected-error @+1 {{expects a descriptor that is finalized}}
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c9_attribute(%handle) attributes {minimum_version = 90400 : i64} {
  %r = cudnn_backend.create <reduction>
  // expected-error @+1 {{expects features of cuDNN 9.4.0, but got CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, which needs 9.11.0}}
  cudnn_backend.set %r, <reduction_is_deterministic>, true : <reduction>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c9_enumerator(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects features of cuDNN 9.2.0, but got CUDNN_DATA_FP8_E8M0, which needs 9.7.0}}
  cudnn_backend.set %x, <tensor_data_type>, fp8_e8m0 : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_other_op(%handle) {
  // expected-error @+1 {{is not allowed in 'cudnn_backend.func'}}
  %c = arith.constant 1 : i32
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

// expected-error @+1 {{expects the handle as the first argument, but got no argument}}
"cudnn_backend.func"() <{sym_name = "func_arguments"}> ({
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}) : () -> ()

// -----

cudnn_backend.func @set_c4_any(%handle) attributes {minimum_version = 91900 : i64} {
  %v = cudnn_backend.create <variant_pack>
  // expected-error @+1 {{expects one or more elements of CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, but got 0}}
  cudnn_backend.set %v, <variant_pack_unique_ids>, [] : <variant_pack>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c6_read_only(%handle) {
  %g = cudnn_backend.create <operationgraph>
  // expected-error @+1 {{expects an attribute that can be set, but got CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, which is read-only}}
  cudnn_backend.set %g, <operationgraph_engine_global_count>, [1] : <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c6_reserved(%handle) {
  %p = cudnn_backend.create <execution_plan>
  // expected-error @+1 {{expects an attribute that can be set, but got CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS, which is reserved in cuDNN 9}}
  cudnn_backend.set %p, <execution_plan_computed_intermediate_uids>, [1] : <execution_plan>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c7(%handle) {
  %h = cudnn_backend.create <engineheur>
  // expected-error @+1 {{expects 32-bit numbers, but got 4294967296}}
  cudnn_backend.set %h, <engineheur_sm_count_target>, [4294967296] : <engineheur>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_text(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_UNIQUE_ID as CUDNN_TYPE_INT64, but got another value}}
  cudnn_backend.set %x, <tensor_unique_id>, "1" : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c3_either(%handle) {
  %p = cudnn_backend.create <execution_plan>
  // expected-error @+1 {{expects CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG or CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION to be set}}
  cudnn_backend.finalize %p : <execution_plan>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c9_kind(%handle) {
  // expected-error @+1 {{expects features of cuDNN 9.2.0, but got CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, which needs 9.13.0}}
  %s = cudnn_backend.create <operation_sdpa_fwd>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c10_finalize(%handle) {
  %k = cudnn_backend.create <knob_info>
  // expected-error @+1 {{expects a kind that can be finalized, but got CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, which cuDNN fills}}
  cudnn_backend.finalize %k : <knob_info>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @func_c10_create(%handle) {
  // expected-error @+1 {{expects a kind that cuDNN can create, but got CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR, which is reserved in cuDNN 9}}
  %i = cudnn_backend.create <intermediate_info>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @parse_numbers(%handle) {
  %r = cudnn_backend.create <resample>
  // expected-error @+1 {{expected a list of integers or a list of fractions, but got both}}
  cudnn_backend.set %r, <resample_strides>, [1 : 2, 3] : <resample>
}

// -----

cudnn_backend.func @set_c2_fractions(%handle) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_STRIDES as CUDNN_TYPE_INT64, but got another value}}
  cudnn_backend.set %x, <tensor_strides>, [1 : 2] : <tensor>
  %g = cudnn_backend.create <operationgraph>
  cudnn_backend.return %g : <operationgraph>
}

// -----

cudnn_backend.func @set_c2_pointer(%handle, %p: !llvm.ptr) {
  %x = cudnn_backend.create <tensor>
  // expected-error @+1 {{expects CUDNN_ATTR_TENSOR_UNIQUE_ID as CUDNN_TYPE_INT64, but got another value}}
  cudnn_backend.set %x, <tensor_unique_id>, %p : <tensor>, !llvm.ptr
  cudnn_backend.return
}

// -----

cudnn_backend.func @set_c4_none(%handle) {
  %g = cudnn_backend.create <operationgraph>
  // expected-error @+1 {{expects one or more elements of CUDNN_ATTR_OPERATIONGRAPH_OPS, but got 0}}
  cudnn_backend.set %g, <operationgraph_ops>, () : <operationgraph>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c5_get(%handle) {
  %g = cudnn_backend.create <operationgraph>
  // expected-error @+1 {{expects a descriptor that is finalized}}
  %n = cudnn_backend.get %g, <operationgraph_engine_global_count> : <operationgraph> -> i64
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c5_execute(%handle, %plan: !cudnn_backend.descriptor<execution_plan>) {
  %pack = cudnn_backend.create <variant_pack>
  // expected-error @+1 {{expects a variant pack that is finalized}}
  cudnn_backend.execute_plan %handle, %plan, %pack
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c1_fill(%handle, %e: !cudnn_backend.descriptor<engine>) {
  %k = cudnn_backend.create <knob_info>
  %a = cudnn_backend.get_descriptors %e, <engine_knob_info>, (%k) : <engine>, !cudnn_backend.descriptor<knob_info>
  // expected-error @+1 {{expects to fill a descriptor that is not finalized}}
  %b = cudnn_backend.get_descriptors %e, <engine_knob_info>, (%k) : <engine>, !cudnn_backend.descriptor<knob_info>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c7_several(%handle, %graph: !cudnn_backend.descriptor<operationgraph>) {
  // expected-error @+1 {{expects its descriptor to be destroyed before the function returns}}
  %e = cudnn_backend.create <engine>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c8_twice(%handle, %e: !cudnn_backend.descriptor<engine>) {
  %c = cudnn_backend.create <enginecfg>
  cudnn_backend.set %c, <enginecfg_engine>, %e : <enginecfg>, !cudnn_backend.descriptor<engine>
  cudnn_backend.finalize %c : <enginecfg>
  // expected-error @+1 {{expects a descriptor that is not destroyed}}
  cudnn_backend.return %c, %c : <enginecfg>, <enginecfg>
}

// -----

cudnn_backend.func @func_c9_get(%handle, %c: !cudnn_backend.descriptor<enginecfg>) attributes {minimum_version = 90100 : i64} {
  // expected-error @+1 {{expects features of cuDNN 9.1.0, but got CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, which needs 9.2.0}}
  %n = cudnn_backend.get %c, <enginecfg_workspace_size> : <enginecfg> -> i64
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c11_set(%handle, %x: !cudnn_backend.descriptor<tensor>) {
  // expected-error @+1 {{expects a descriptor created in this function, but got an argument}}
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c11_finalize(%handle, %x: !cudnn_backend.descriptor<tensor>) {
  // expected-error @+1 {{expects a descriptor created in this function, but got an argument}}
  cudnn_backend.finalize %x : <tensor>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c11_destroy(%handle, %x: !cudnn_backend.descriptor<tensor>) {
  // expected-error @+1 {{expects a descriptor created in this function, but got an argument}}
  cudnn_backend.destroy %x : <tensor>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c11_fill(%handle, %e: !cudnn_backend.descriptor<engine>, %k: !cudnn_backend.descriptor<knob_info>) {
  // expected-error @+1 {{expects a descriptor created in this function, but got an argument}}
  %n = cudnn_backend.get_descriptors %e, <engine_knob_info>, (%k) : <engine>, !cudnn_backend.descriptor<knob_info>
  cudnn_backend.return
}

// -----

cudnn_backend.func @func_c11_return(%handle, %x: !cudnn_backend.descriptor<tensor>) {
  // expected-error @+1 {{expects a descriptor created in this function, but got an argument}}
  cudnn_backend.return %x : <tensor>
}

// -----

// expected-error @+1 {{expects descriptors and pointers after the handle, but got 'i32'}}
cudnn_backend.func @func_c12_number(%handle, %n: i32) {
  cudnn_backend.return
}

// -----

// expected-error @+1 {{expects the handle as the first argument, but got '!llvm.ptr'}}
"cudnn_backend.func"() <{sym_name = "func_c12_first"}> ({
^bb0(%p: !llvm.ptr):
  "cudnn_backend.return"() : () -> ()
}) : () -> ()

// -----

cudnn_backend.func @get_c1_kind(%handle, %p: !cudnn_backend.descriptor<execution_plan>) {
  // expected-error @+1 {{expects an attribute of CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, but got CUDNN_ATTR_TENSOR_UNIQUE_ID}}
  %n = cudnn_backend.get %p, <tensor_unique_id> : <execution_plan> -> i64
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_c1_reserved(%handle, %p: !cudnn_backend.descriptor<execution_plan>) {
  // expected-error @+1 {{expects an attribute that can be read, but got CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS, which is reserved in cuDNN 9}}
  %n = cudnn_backend.get %p, <execution_plan_computed_intermediate_uids> : <execution_plan> -> i64
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_c2_several(%handle, %x: !cudnn_backend.descriptor<tensor>) {
  // expected-error @+1 {{expects an attribute of one number, but got CUDNN_ATTR_TENSOR_DIMENSIONS}}
  %n = cudnn_backend.get %x, <tensor_dimensions> : <tensor> -> i64
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_c2_descriptor(%handle, %c: !cudnn_backend.descriptor<enginecfg>) {
  // expected-error @+1 {{expects an attribute of one number, but got CUDNN_ATTR_ENGINECFG_ENGINE}}
  %n = cudnn_backend.get %c, <enginecfg_engine> : <enginecfg> -> i64
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_c3(%handle, %p: !cudnn_backend.descriptor<execution_plan>) {
  // expected-error @+1 {{expects CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE as 'i64', but got 'i32'}}
  %n = cudnn_backend.get %p, <execution_plan_workspace_size> : <execution_plan> -> i32
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_descriptors_c1(%handle, %e: !cudnn_backend.descriptor<engine>) {
  %c = cudnn_backend.create <enginecfg>
  // expected-error @+1 {{expects an attribute of CUDNN_BACKEND_ENGINE_DESCRIPTOR, but got CUDNN_ATTR_ENGINEHEUR_RESULTS}}
  %n = cudnn_backend.get_descriptors %e, <engineheur_results>, (%c) : <engine>, !cudnn_backend.descriptor<enginecfg>
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_descriptors_c2(%handle, %e: !cudnn_backend.descriptor<engine>) {
  %k = cudnn_backend.create <knob_info>
  // expected-error @+1 {{expects an attribute that holds descriptors, but got CUDNN_ATTR_ENGINE_GLOBAL_INDEX}}
  %n = cudnn_backend.get_descriptors %e, <engine_global_index>, (%k) : <engine>, !cudnn_backend.descriptor<knob_info>
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_descriptors_c3_none(%handle, %e: !cudnn_backend.descriptor<engine>) {
  // expected-error @+1 {{expects one or more descriptors to fill, but got 0}}
  %n = cudnn_backend.get_descriptors %e, <engine_knob_info>, () : <engine>
  cudnn_backend.return
}

// -----

cudnn_backend.func @get_descriptors_c3_kind(%handle, %e: !cudnn_backend.descriptor<engine>) {
  %k = cudnn_backend.create <layout_info>
  // expected-error @+1 {{expects CUDNN_ATTR_ENGINE_KNOB_INFO to hold 'knob_info', but got 'layout_info'}}
  %n = cudnn_backend.get_descriptors %e, <engine_knob_info>, (%k) : <engine>, !cudnn_backend.descriptor<layout_info>
  cudnn_backend.return
}
