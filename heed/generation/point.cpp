#include "heed/generation/point.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/options.h"
#include "heed/generation/search.h"
#include "heed/io/config.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

// Positions are the tokens: 0 is the start and the end.
class PointSteps : public StepModel {
 public:
  PointSteps(const PointingModel& model, const Elements& elements,
             const std::function<void()>& on_step)
      : rows_(elements.numbers.size(0)),
        positions_(elements.numbers.size(1) + 1),
        decoding_(model.start(elements)),
        on_step_(on_step) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t vocabulary() const override { return positions_; }
  TokenScores step(std::span<const std::int32_t> last) override {
    if (on_step_) on_step_();
    return squeeze(decoding_->step(ids_of(last, rows_)), 1);  // [B, 1 + T]
  }
  void reorder(std::span<const std::int64_t> from) override {
    decoding_->reorder(from);
    rows_ = std::ssize(from);
  }

 private:
  std::int64_t rows_, positions_;
  std::unique_ptr<Decoding> decoding_;
  const std::function<void()>& on_step_;
};

}  // namespace

void PointOptions::fields(io::Fields& field) {
  field("beam_size", beam_size, "number of hypotheses; 1: greedy search", kBeamLimits);
  field("max_ratio", max_ratio, "maximum number of positions of a result for each element",
        {.min = 0, .max = 1000});
}

void PointOptions::validate() const { io::check_limits(*this, "point"); }

std::vector<Pointed> point(const PointingModel& model, const Elements& elements,
                           const PointOptions& options, const std::function<void()>& on_step) {
  options.validate();
  const std::int64_t B = elements.numbers.size(0), T = elements.numbers.size(1);
  if (B == 0) return {};
  const NoGrad no_grad;
  const SearchPlan plan{.options = SearchOptions{.beam_size = options.beam_size,
                                                 .length_penalty = 0.0,
                                                 .max_length = 1 << 20,
                                                 .max_length_ratio = options.max_ratio,
                                                 .max_length_extra = 0.0},
                        .ends = {0}};
  std::vector<Start> starts;
  for (std::int64_t b = 0; b < B; ++b) {
    starts.push_back({.token = 0, .source_length = T});
    if (!elements.lengths.defined()) continue;
    starts.back().source_length =
        elements.lengths.values<std::int64_t>()[static_cast<std::size_t>(b)];
  }
  PointSteps steps(model, elements, on_step);
  std::vector<Pointed> results;
  for (NBest& found : search(steps, starts, plan)) {
    HEED_ASSERT(!found.empty());  // the end is always possible
    results.push_back({std::move(found[0].tokens), found[0].log_probability});
  }
  return results;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct ElementPointerKeys {
  void fields(io::Fields& /*field*/, bool /*is_imported*/) {}
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& /*folder*/) const {
    return ElementPointer{as_interface<PointingModel>(std::move(model))};
  }
};

}  // namespace

constinit const FolderFormat kElementPointerFolder = folder_format<ElementPointerKeys>(Task::point);

ElementPointer load_element_pointer(const std::filesystem::path& place, WeightForm form) {
  return std::get<ElementPointer>(load_task(place, Task::point, form));
}

void save_model(const ElementPointer& pointer, const std::filesystem::path& folder) {
  save_folder(*pointer.model, ElementPointerKeys{}, {}, folder);
}

}  // namespace heed
