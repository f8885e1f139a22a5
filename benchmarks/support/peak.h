// The reference for arithmetic: oneDNN's sgemm of 1024x512x512 on one thread, or one on each of
// two.
#pragma once

namespace heed::bench {

/// GF/s of one measurement of a few milliseconds, with one sgemm on each of `threads` threads.
double sgemm_gflops(int threads);

}  // namespace heed::bench
