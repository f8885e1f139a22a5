// Event files of numbers over updates for TensorBoard: TFRecord records (length, data, and the
// CRC-32C of each) that hold the protobuf messages Event and Summary. They are encoded by hand,
// since only scalars are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heed/io/append_file.h"
#include "heed/training/watcher.h"

namespace heed {

/// An event of a file.
struct Event {
  double wall_time = 0.0;  ///< Seconds since 1970.
  std::int64_t step = 0;
};

/// The records of the three kinds of event that heed writes: the version at the start of every
/// file, the note that steps from this one on are repeated, and a number under a name.
std::string version_record(const Event& event);
std::string restart_record(const Event& event);
std::string scalar_record(const Event& event, std::string_view tag, double value);

/// Writes means over a number of updates, and all validations, into a new file of a folder.
/// TensorBoard reads the files of a folder as one run.
class EventWriter : public TrainingWatcher {
 public:
  EventWriter(std::filesystem::path folder, std::int64_t every)
      : folder_(std::move(folder)), every_(every) {}

  void began(std::int64_t update) override;
  void updated(const UpdateReport& report) override;
  void validated(const ValidationReport& report) override;

 private:
  std::filesystem::path folder_;
  std::int64_t every_;
  std::optional<io::AppendFile> file_;
  UpdateWindow window_;
};

}  // namespace heed
