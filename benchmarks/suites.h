// The list of benchmark suites and of what each runs.
#pragma once

#include "benchmarks/support/report.h"

namespace heed::bench {

void gemm(Report& report);
void bandwidth(Report& report);
void tape(Report& report);
void training_steps(Report& report);
void attention_tiles(Report& report);

struct Suite {
  const char* name;
  const char* what;
  void (*parts[8])(Report&);
};

inline constexpr Suite kSuites[] = {
    {"core",
     "matrix products, memory-bound kernels, the tape, training steps against PyTorch",
     {gemm, bandwidth, tape, training_steps}},
    {"attention",
     "the fused kernels against the machine's peak and against PyTorch",
     {attention_tiles}},
};

}  // namespace heed::bench
