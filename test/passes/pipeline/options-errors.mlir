// RUN: not convoy-opt %s --convoy-pipeline="target=cuda chip=sm_60" 2>&1 | filecheck %s --check-prefix=CHIP
// RUN: not convoy-opt %s --convoy-pipeline="chip=sm_90a" 2>&1 | filecheck %s --check-prefix=LETTER
// RUN: not convoy-opt %s --convoy-pipeline="cpu=nonsense" 2>&1 | filecheck %s --check-prefix=CPU
// RUN: not convoy-opt %s --convoy-pipeline="target=tpu" 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not convoy-opt %s --convoy-pipeline="dtype=f8" 2>&1 | filecheck %s --check-prefix=DTYPE
// RUN: not convoy-opt %s --convoy-pipeline="to=nophase" 2>&1 | filecheck %s --check-prefix=TO
// RUN: not convoy-opt %s --convoy-pipeline="from=nophase" 2>&1 | filecheck %s --check-prefix=FROM
// RUN: not convoy-opt %s --convoy-pipeline="from=llvm to=tcp" 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: not convoy-opt %s --convoy-pipeline="alternatives=maybe" 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: not convoy-opt %s --convoy-pipeline="nonsense=1" 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not convoy-opt %s --cudnn-attach-kernels=chip=sm_75 2>&1 | filecheck %s --check-prefix=ATTACH
// RUN: not convoy-opt %s --gpu-map-kernels=chip= 2>&1 | filecheck %s --check-prefix=MAP

// An invalid value is an error before any pass runs.

// CHIP: error: convoy-pipeline: expected chip to be an architecture that the kernels can be compiled for, one of sm_80, {{.*}}, sm_121, but got 'sm_60'
// LETTER: error: convoy-pipeline: expected chip to be {{.*}}, but got 'sm_90a'
// CPU: error: convoy-pipeline: expected cpu to be 'native' or one of nocona {{.*}}x86-64-v4, but got 'nonsense'
// TARGET: error: convoy-pipeline: expected 'target' to be one of cpu, cuda, but got 'tpu'
// DTYPE: error: convoy-pipeline: expected 'dtype' to be one of f32, f16, bf16, but got 'f8'
// TO: error: convoy-pipeline: expected 'to' to be one of tcp, normalize, group, cudnn, linalg, plan, host, llvm, but got 'nophase'
// FROM: error: convoy-pipeline: expected 'from' to be one of tcp, {{.*}}, but got 'nophase'
// ORDER: error: convoy-pipeline: expected phases in order, but got from=llvm to=tcp
// FLAG: 'maybe' is invalid value for boolean argument
// FLAG: error: convoy-pipeline: cannot read the options 'alternatives=maybe'
// UNKNOWN: error: convoy-pipeline: cannot read the options 'nonsense=1': {{.*}}no such option nonsense
// ATTACH: error: expected chip to be an architecture {{.*}}, but got 'sm_75'
// MAP: error: expected chip to be an architecture {{.*}}, but got ''
module {
}
