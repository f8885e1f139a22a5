// The list of benchmark suites and their parts.
#pragma once

#include "benchmarks/support/report.h"

namespace heed::bench {

void gemm(Report& report);
void bandwidth(Report& report);
void tape(Report& report);
void training_steps(Report& report);
void last_layer(Report& report);
void likeliest_tokens(Report& report);
void packed_products(Report& report);
void attention_tiles(Report& report);
void attention_peers(Report& report);
void attention_decoding(Report& report);
void attention_memory(Report& report);
void family_cost(Report& report);
void family_growth(Report& report);
void model_steps(Report& report);
void model_decoding(Report& report);
void model_memory(Report& report);
void model_cache(Report& report);
void model_profile(Report& report);
void model_reversible(Report& report);
void model_reformer(Report& report);
void model_reformer_step(Report& report);

struct Part {
  const char* name = nullptr;
  void (*run)(Report&) = nullptr;
};

struct Suite {
  const char* name;
  const char* what;
  Part parts[8];
};

inline constexpr Suite kSuites[] = {
    {"core",
     "matrix products, memory-bound kernels, the tape, the last layer, steps against PyTorch",
     {{"gemm", gemm},
      {"bandwidth", bandwidth},
      {"tape", tape},
      {"loss", last_layer},
      {"likeliest", likeliest_tokens},
      {"packed", packed_products},
      {"training", training_steps}}},
    {"attention",
     "the fused kernels against the machine's peak and against PyTorch, decoding, memory",
     {{"tiles", attention_tiles},
      {"peers", attention_peers},
      {"decode", attention_decoding},
      {"memory", attention_memory}}},
    {"family",
     "every mechanism against plain multi-head attention, and its growth with the length",
     {{"cost", family_cost}, {"growth", family_growth}}},
    {"models",
     "whole models against PyTorch: training steps, translation, memory; caches; where time goes",
     {{"steps", model_steps},
      {"decode", model_decoding},
      {"memory", model_memory},
      {"cache", model_cache},
      {"profile", model_profile},
      {"reversible", model_reversible},
      {"reformer", model_reformer},
      {"reformer_step", model_reformer_step}}},
};

}  // namespace heed::bench
