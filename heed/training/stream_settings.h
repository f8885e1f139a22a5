// The settings that determine the batches of a run, as a checkpoint stores them. A run that resumes
// with other ones cannot find its place inside an epoch: the batches hold other sentences.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/picture_stream.h"
#include "heed/training/job.h"

namespace heed {

/// The settings of batches of sentences.
std::vector<StreamSetting> settings_of(const BatchingOptions& options);
/// The settings of batches of pictures.
std::vector<StreamSetting> settings_of(const PictureStreamOptions& options);

/// "batch_tokens=4096, seed=1"; the keys have no commas.
std::string settings_text(std::span<const StreamSetting> settings);

/// The settings that differ between two such texts: "batch_tokens was 4096 and is 8192"; empty if
/// none does. A setting that only one of them has does not count.
std::string differing_settings(std::string_view before, std::string_view now);

}  // namespace heed
