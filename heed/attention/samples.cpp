#include "heed/attention/samples.h"

#include <utility>

namespace heed {
namespace {

thread_local std::vector<Sampled>* samples = nullptr;

}  // namespace

RecordSamples::RecordSamples(std::vector<Sampled>& to) : before_(std::exchange(samples, &to)) {}
RecordSamples::~RecordSamples() { samples = before_; }

std::vector<Sampled>* recorded_samples() { return samples; }

}  // namespace heed
