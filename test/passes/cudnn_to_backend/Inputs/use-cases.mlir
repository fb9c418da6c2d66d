// The use cases of chapter 9.3 of cuDNN's reference, call by call.

// 9.3.1: the operation graph of a grouped convolution over three dims.
cudnn_backend.func @grouped_convolution(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 3, 4, 5, 6, 7] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [2520, 840, 210, 42, 7, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [120] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [4] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %w = cudnn_backend.create <tensor>
  cudnn_backend.set %w, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %w, <tensor_dimensions>, [3, 8, 4, 2, 3, 4] : <tensor>
  cudnn_backend.set %w, <tensor_strides>, [768, 96, 24, 12, 4, 1] : <tensor>
  cudnn_backend.set %w, <tensor_unique_id>, [119] : <tensor>
  cudnn_backend.set %w, <tensor_byte_alignment>, [4] : <tensor>
  cudnn_backend.finalize %w : <tensor>
  %y = cudnn_backend.create <tensor>
  cudnn_backend.set %y, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %y, <tensor_dimensions>, [2, 3, 8, 4, 4, 4] : <tensor>
  cudnn_backend.set %y, <tensor_strides>, [1536, 512, 64, 16, 4, 1] : <tensor>
  cudnn_backend.set %y, <tensor_unique_id>, [121] : <tensor>
  cudnn_backend.set %y, <tensor_byte_alignment>, [4] : <tensor>
  cudnn_backend.finalize %y : <tensor>
  %conv = cudnn_backend.create <convolution>
  cudnn_backend.set %conv, <convolution_spatial_dims>, [3] : <convolution>
  cudnn_backend.set %conv, <convolution_comp_type>, float : <convolution>
  cudnn_backend.set %conv, <convolution_conv_mode>, convolution : <convolution>
  cudnn_backend.set %conv, <convolution_pre_paddings>, [0, 0, 0] : <convolution>
  cudnn_backend.set %conv, <convolution_post_paddings>, [0, 0, 0] : <convolution>
  cudnn_backend.set %conv, <convolution_dilations>, [1, 1, 1] : <convolution>
  cudnn_backend.set %conv, <convolution_filter_strides>, [1, 1, 1] : <convolution>
  cudnn_backend.finalize %conv : <convolution>
  %fprop = cudnn_backend.create <operation_convolution_forward>
  cudnn_backend.set %fprop, <operation_convolution_forward_x>, %x : <operation_convolution_forward>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %fprop, <operation_convolution_forward_w>, %w : <operation_convolution_forward>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %fprop, <operation_convolution_forward_y>, %y : <operation_convolution_forward>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %fprop, <operation_convolution_forward_conv_desc>, %conv
      : <operation_convolution_forward>, !cudnn_backend.descriptor<convolution>
  cudnn_backend.set %fprop, <operation_convolution_forward_alpha>, 1.0 : f32 : <operation_convolution_forward>
  cudnn_backend.set %fprop, <operation_convolution_forward_beta>, 0.5 : f32 : <operation_convolution_forward>
  cudnn_backend.finalize %fprop : <operation_convolution_forward>
  %graph = cudnn_backend.create <operationgraph>
  cudnn_backend.set %graph, <operationgraph_ops>, %fprop : <operationgraph>, !cudnn_backend.descriptor<operation_convolution_forward>
  cudnn_backend.set %graph, <operationgraph_handle>, %handle : <operationgraph>, !cudnn_backend.handle
  cudnn_backend.finalize %graph : <operationgraph>
  cudnn_backend.destroy %fprop : <operation_convolution_forward>
  cudnn_backend.destroy %conv : <convolution>
  cudnn_backend.destroy %y : <tensor>
  cudnn_backend.destroy %w : <tensor>
  cudnn_backend.destroy %x : <tensor>
  cudnn_backend.return %graph : <operationgraph>
}

// 9.3.1, with the groups within the channels.
cudnn_backend.func @grouped_convolution_of_five_dims(%handle) {
  %x = cudnn_backend.create <tensor>
  cudnn_backend.set %x, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [2, 12, 5, 6, 7] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [2520, 210, 42, 7, 1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [120] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [4] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %w = cudnn_backend.create <tensor>
  cudnn_backend.set %w, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %w, <tensor_dimensions>, [24, 4, 2, 3, 4] : <tensor>
  cudnn_backend.set %w, <tensor_strides>, [96, 24, 12, 4, 1] : <tensor>
  cudnn_backend.set %w, <tensor_unique_id>, [119] : <tensor>
  cudnn_backend.set %w, <tensor_byte_alignment>, [4] : <tensor>
  cudnn_backend.finalize %w : <tensor>
  %y = cudnn_backend.create <tensor>
  cudnn_backend.set %y, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %y, <tensor_dimensions>, [2, 24, 4, 4, 4] : <tensor>
  cudnn_backend.set %y, <tensor_strides>, [1536, 64, 16, 4, 1] : <tensor>
  cudnn_backend.set %y, <tensor_unique_id>, [121] : <tensor>
  cudnn_backend.set %y, <tensor_byte_alignment>, [4] : <tensor>
  cudnn_backend.finalize %y : <tensor>
  %conv = cudnn_backend.create <convolution>
  cudnn_backend.set %conv, <convolution_spatial_dims>, [3] : <convolution>
  cudnn_backend.set %conv, <convolution_comp_type>, float : <convolution>
  cudnn_backend.set %conv, <convolution_conv_mode>, convolution : <convolution>
  cudnn_backend.set %conv, <convolution_pre_paddings>, [0, 0, 0] : <convolution>
  cudnn_backend.set %conv, <convolution_post_paddings>, [0, 0, 0] : <convolution>
  cudnn_backend.set %conv, <convolution_dilations>, [1, 1, 1] : <convolution>
  cudnn_backend.set %conv, <convolution_filter_strides>, [1, 1, 1] : <convolution>
  cudnn_backend.finalize %conv : <convolution>
  %fprop = cudnn_backend.create <operation_convolution_forward>
  cudnn_backend.set %fprop, <operation_convolution_forward_x>, %x : <operation_convolution_forward>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %fprop, <operation_convolution_forward_w>, %w : <operation_convolution_forward>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %fprop, <operation_convolution_forward_y>, %y : <operation_convolution_forward>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %fprop, <operation_convolution_forward_conv_desc>, %conv
      : <operation_convolution_forward>, !cudnn_backend.descriptor<convolution>
  cudnn_backend.set %fprop, <operation_convolution_forward_alpha>, 1.0 : f32 : <operation_convolution_forward>
  cudnn_backend.set %fprop, <operation_convolution_forward_beta>, 0.5 : f32 : <operation_convolution_forward>
  cudnn_backend.finalize %fprop : <operation_convolution_forward>
  %graph = cudnn_backend.create <operationgraph>
  cudnn_backend.set %graph, <operationgraph_ops>, %fprop : <operationgraph>, !cudnn_backend.descriptor<operation_convolution_forward>
  cudnn_backend.set %graph, <operationgraph_handle>, %handle : <operationgraph>, !cudnn_backend.handle
  cudnn_backend.finalize %graph : <operationgraph>
  cudnn_backend.destroy %fprop : <operation_convolution_forward>
  cudnn_backend.destroy %conv : <convolution>
  cudnn_backend.destroy %y : <tensor>
  cudnn_backend.destroy %w : <tensor>
  cudnn_backend.destroy %x : <tensor>
  cudnn_backend.return %graph : <operationgraph>
}

// 9.3.2: engine 0 of a graph, without knobs.
cudnn_backend.func @engine_configuration(%handle, %graph: !cudnn_backend.descriptor<operationgraph>) {
  %engine = cudnn_backend.create <engine>
  cudnn_backend.set %engine, <engine_operation_graph>, %graph : <engine>, !cudnn_backend.descriptor<operationgraph>
  cudnn_backend.set %engine, <engine_global_index>, [0] : <engine>
  cudnn_backend.finalize %engine : <engine>
  %engcfg = cudnn_backend.create <enginecfg>
  cudnn_backend.set %engcfg, <enginecfg_engine>, %engine : <enginecfg>, !cudnn_backend.descriptor<engine>
  cudnn_backend.finalize %engcfg : <enginecfg>
  cudnn_backend.destroy %engine : <engine>
  cudnn_backend.return %engcfg : <enginecfg>
}

// 9.3.2, with its optional queries: the engine's first knob, and a choice of it.
cudnn_backend.func @engine_configuration_with_a_knob(%handle, %graph: !cudnn_backend.descriptor<operationgraph>) {
  %engine = cudnn_backend.create <engine>
  cudnn_backend.set %engine, <engine_operation_graph>, %graph : <engine>, !cudnn_backend.descriptor<operationgraph>
  cudnn_backend.set %engine, <engine_global_index>, [0] : <engine>
  cudnn_backend.finalize %engine : <engine>
  %info = cudnn_backend.create <knob_info>
  %count = cudnn_backend.get_descriptors %engine, <engine_knob_info>, (%info) : <engine>, !cudnn_backend.descriptor<knob_info>
  %kind = cudnn_backend.get %info, <knob_info_type> : <knob_info> -> i32
  %maximum = cudnn_backend.get %info, <knob_info_maximum_value> : <knob_info> -> i64
  %choice = cudnn_backend.create <knob_choice>
  cudnn_backend.set %choice, <knob_choice_knob_type>, split_k_slc : <knob_choice>
  cudnn_backend.set %choice, <knob_choice_knob_value>, [31] : <knob_choice>
  cudnn_backend.finalize %choice : <knob_choice>
  %engcfg = cudnn_backend.create <enginecfg>
  cudnn_backend.set %engcfg, <enginecfg_engine>, %engine : <enginecfg>, !cudnn_backend.descriptor<engine>
  cudnn_backend.set %engcfg, <enginecfg_knob_choices>, %choice : <enginecfg>, !cudnn_backend.descriptor<knob_choice>
  cudnn_backend.finalize %engcfg : <enginecfg>
  cudnn_backend.destroy %choice : <knob_choice>
  cudnn_backend.destroy %info : <knob_info>
  cudnn_backend.destroy %engine : <engine>
  cudnn_backend.return %engcfg, %kind, %maximum : <enginecfg>, i32, i64
}

// In place of 9.3.2: the first engine configuration of cuDNN's heuristics.
cudnn_backend.func @heuristic_configuration(%handle, %graph: !cudnn_backend.descriptor<operationgraph>) {
  %heuristics = cudnn_backend.create <engineheur>
  cudnn_backend.set %heuristics, <engineheur_operation_graph>, %graph : <engineheur>, !cudnn_backend.descriptor<operationgraph>
  cudnn_backend.set %heuristics, <engineheur_mode>, a : <engineheur>
  cudnn_backend.finalize %heuristics : <engineheur>
  %engcfg = cudnn_backend.create <enginecfg>
  %count = cudnn_backend.get_descriptors %heuristics, <engineheur_results>, (%engcfg) : <engineheur>, !cudnn_backend.descriptor<enginecfg>
  cudnn_backend.destroy %heuristics : <engineheur>
  cudnn_backend.return %engcfg, %count : <enginecfg>, i64
}

// 9.3.2 and 9.3.3 for a GPU that this machine does not have, described by a descriptor.
cudnn_backend.func @engine_configuration_for_device(%handle, %graph: !cudnn_backend.descriptor<operationgraph>,
    %device: !cudnn_backend.descriptor<deviceprop>) attributes {minimum_version = 90800 : i64} {
  %engine = cudnn_backend.create <engine>
  cudnn_backend.set %engine, <engine_operation_graph>, %graph : <engine>, !cudnn_backend.descriptor<operationgraph>
  cudnn_backend.set %engine, <engine_global_index>, [0] : <engine>
  cudnn_backend.set %engine, <engine_deviceprop>, %device : <engine>, !cudnn_backend.descriptor<deviceprop>
  cudnn_backend.finalize %engine : <engine>
  %engcfg = cudnn_backend.create <enginecfg>
  cudnn_backend.set %engcfg, <enginecfg_engine>, %engine : <enginecfg>, !cudnn_backend.descriptor<engine>
  cudnn_backend.finalize %engcfg : <enginecfg>
  cudnn_backend.destroy %engine : <engine>
  cudnn_backend.return %engcfg : <enginecfg>
}
cudnn_backend.func @execution_plan_for_device(%handle, %engcfg: !cudnn_backend.descriptor<enginecfg>,
    %device: !cudnn_backend.descriptor<deviceprop>) attributes {minimum_version = 90800 : i64} {
  %plan = cudnn_backend.create <execution_plan>
  cudnn_backend.set %plan, <execution_plan_engine_config>, %engcfg : <execution_plan>, !cudnn_backend.descriptor<enginecfg>
  cudnn_backend.set %plan, <execution_plan_deviceprop>, %device : <execution_plan>, !cudnn_backend.descriptor<deviceprop>
  cudnn_backend.finalize %plan : <execution_plan>
  %workspace = cudnn_backend.get %plan, <execution_plan_workspace_size> : <execution_plan> -> i64
  cudnn_backend.return %plan, %workspace : <execution_plan>, i64
}

// 9.3.3: a plan and its workspace.
cudnn_backend.func @execution_plan(%handle, %engcfg: !cudnn_backend.descriptor<enginecfg>) {
  %plan = cudnn_backend.create <execution_plan>
  cudnn_backend.set %plan, <execution_plan_engine_config>, %engcfg : <execution_plan>, !cudnn_backend.descriptor<enginecfg>
  cudnn_backend.finalize %plan : <execution_plan>
  %workspace = cudnn_backend.get %plan, <execution_plan_workspace_size> : <execution_plan> -> i64
  cudnn_backend.return %plan, %workspace : <execution_plan>, i64
}

// 9.3.3: a variant pack, and its execution.
cudnn_backend.func @execution(%handle, %plan: !cudnn_backend.descriptor<execution_plan>, %x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr,
                              %workspace: !llvm.ptr) {
  %pack = cudnn_backend.create <variant_pack>
  cudnn_backend.set %pack, <variant_pack_data_pointers>, (%x, %w, %y) : <variant_pack>, !llvm.ptr, !llvm.ptr, !llvm.ptr
  cudnn_backend.set %pack, <variant_pack_unique_ids>, [120, 119, 121] : <variant_pack>
  cudnn_backend.set %pack, <variant_pack_workspace>, %workspace : <variant_pack>, !llvm.ptr
  cudnn_backend.finalize %pack : <variant_pack>
  cudnn_backend.execute_plan %handle, %plan, %pack
  cudnn_backend.destroy %pack : <variant_pack>
  cudnn_backend.return
}
