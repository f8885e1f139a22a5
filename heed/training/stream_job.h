// The part of a job that depends only on its stream of batches (data/epoch_stream.h): parts,
// positions, settings, and the share of the epoch. The loss must be a sum over the rows of a batch.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/training/job.h"
#include "heed/training/stream_settings.h"

namespace heed {

template <typename Stream>
class StreamJob : public Job {
 public:
  void take_parts(const BatchParts& parts) override { stream_.take_parts(parts); }
  StreamPosition position() const override { return stream_.position(); }
  void seek(const StreamPosition& position) override { stream_.seek(position); }
  std::vector<StreamSetting> stream_settings() const override { return settings_; }
  double epoch_share() const override {
    return static_cast<double>(stream_.position().batch) /
           static_cast<double>(std::max<std::int64_t>(1, stream_.epoch_batches()));
  }

 protected:
  /// The stream is made of the arguments after the settings.
  template <typename... Args>
  explicit StreamJob(std::vector<StreamSetting> settings, Args&&... args)
      : stream_(std::forward<Args>(args)...), settings_(std::move(settings)) {}

  Stream stream_;

 private:
  std::vector<StreamSetting> settings_;
};

}  // namespace heed
