// The yardstick of arithmetic: oneDNN's sgemm of 1024x512x512 on one thread, or one on each of two.
#pragma once

namespace heed::bench {

/// Operations a second in units of 1e9, of one measurement of some milliseconds, on so many threads
/// at once.
double sgemm_gflops(int threads);

}  // namespace heed::bench
