// The curves of a training run as CSV files in its folder, next to the checkpoints:
//
//   train.csv   update,epoch,loss,perplexity,rate,norm,skipped,source_tokens,target_tokens,seconds
//   valid.csv   update,epoch,metric,value,best,seconds
//   samples.csv update,epoch,reward,entropy
//
// One line for each update, and one for each number of a validation. Only models whose attention
// samples positions have samples.csv. A run that resumes removes the lines after its checkpoint, so
// that no update appears twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/append_file.h"
#include "heed/training/watcher.h"

namespace heed {

inline constexpr std::string_view kTrainCurve = "train.csv";
inline constexpr std::string_view kValidCurve = "valid.csv";
inline constexpr std::string_view kSampleCurve = "samples.csv";

/// Writes the curves; each line is given to the system before the next update begins.
class CurveWriter : public TrainingWatcher {
 public:
  explicit CurveWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void began(std::int64_t update) override;
  void updated(const UpdateReport& report) override;
  void validated(const ValidationReport& report) override;

 private:
  void sampled(const UpdateReport& report, const SampleMeans& means);

  std::filesystem::path folder_;
  std::optional<io::AppendFile> training_, validation_;  // once training began
  std::optional<io::AppendFile> samples_;                // once there are samples
};

/// A point of a curve.
struct CurvePoint {
  std::int64_t update = 0;
  double epoch = 0.0;
  double value = 0.0;

  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

struct Curve {
  std::string metric;  ///< "loss", "bleu", …
  std::vector<CurvePoint> points;
};

/// The content of the files of a folder.
struct Curves {
  /// The training loss without label smoothing, like the validation loss; without skipped updates.
  std::vector<CurvePoint> training;
  std::vector<Curve> validation;    ///< One for each metric, in the order they first appear.
  std::vector<Curve> samples = {};  ///< "reward" and "entropy" of training, if attention samples.
};

/// Reads the curves of a run, which may still be running: an incomplete last line is ignored.
Curves read_curves(const std::filesystem::path& folder);

/// The same from the texts of the files; `folder` names them in messages.
Curves parse_curves(std::string_view training, std::string_view validation,
                    const std::filesystem::path& folder, std::string_view samples = {});

}  // namespace heed
