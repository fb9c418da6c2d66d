// The ops of the announcement of the first cuDNN dialect ("Compiler-cuDNN integration from first principles"), as they are there,
// in a function that defines the values that they use. test_snippets.py runs this file.
func.func @main(%108: !torch.vtensor<[1,64,56,56],f32>, %88: !torch.vtensor<[64,64,3,3],f32>) -> !torch.vtensor<[1,64,56,56],f32> {
%none = torch.constant.none
%false = torch.constant.bool false
%int0 = torch.constant.int 0
%int1 = torch.constant.int 1
%101 = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
%102 = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
%109 = torch.aten.relu %108
        : !torch.vtensor<[1,64,56,56],f32> -> !torch.vtensor<[1,64,56,56],f32>
%110 = torch.aten.convolution %109, %88, %none, %101, %101, %101, %false, %102, %int1
        : !torch.vtensor<[1,64,56,56],f32>, !torch.vtensor<[64,64,3,3],f32>, !torch.none,
          !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>,
          !torch.int -> !torch.vtensor<[1,64,56,56],f32>
return %110 : !torch.vtensor<[1,64,56,56],f32>
}
