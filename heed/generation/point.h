// A model that points, as folders hold it, and the positions that it finds: by greedy or beam
// search over positions, with the searches of text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heed/io/fields.h"
#include "heed/models/model.h"

namespace heed {

struct FolderFormat;

/// Task::point.
struct ElementPointer {
  std::unique_ptr<PointingModel> model;
};

/// The format of its folders (folder_format.h).
extern const FolderFormat kElementPointerFolder;

struct PointOptions {
  std::int64_t beam_size = 1;  // 1: greedy
  double max_ratio = 2.0;      // positions of a result for each element, at most

  void fields(io::Fields& field);
  /// Throws heed::Error if a member is outside its limits.
  void validate() const;
};

/// What was found for a set of elements.
struct Pointed {
  std::vector<std::int32_t> positions;  ///< From 1, without the end.
  double log_probability = 0.0;         ///< Of all positions and the end.
};

/// The most probable positions of each set that the search finds. `on_step` is called before each
/// step and may end the search by throwing.
std::vector<Pointed> point(const PointingModel& model, const Elements& elements,
                           const PointOptions& options = {},
                           const std::function<void()>& on_step = {});

}  // namespace heed
