// heed point: positions that a model points at, for sets of elements.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/element_sets.h"
#include "heed/data/element_tasks.h"
#include "heed/generation/point.h"

namespace heed::cli {
namespace {

struct PointFlags {
  ModelFlags model;
  FilterFlags filter;
  PointOptions options;
  std::int64_t batch = 128;
  bool area = false;
  bool with_score = false;
};

// Collects sets, and writes a line for each when there are enough for a batch.
class SetPointer {
 public:
  SetPointer(const ElementPointer& pointer, const PointFlags& flags)
      : pointer_(pointer),
        flags_(flags),
        reading_{.features = pointer.model->features()},
        output_(flags.filter.output) {
    HEED_CHECK(!flags.area || reading_.features == 2,
               "[point] --area: the model's elements have {} numbers; polygons have points of 2",
               reading_.features);
  }

  void add(const std::string& line, const std::string& place) {
    ElementSet set;
    if (const auto fault = parse_elements(line, reading_, set)) {
      if (flags_.filter.policy() == OnBadLine::stop) fail("[point] {} {}", place, fault->what);
      set = {};  // an empty line, so that lines keep their numbers
    }
    waiting_.push_back(std::move(set));
    if (std::ssize(waiting_) == flags_.batch) flush();
  }
  void flush() {
    check_signals();
    ElementCorpus known{.features = reading_.features};
    std::vector<std::int32_t> all;
    for (const ElementSet& set : waiting_) {
      if (set.numbers.empty()) continue;
      all.push_back(static_cast<std::int32_t>(known.size()));
      known.add(set);
    }
    std::vector<Pointed> found;
    if (!all.empty()) {
      const ElementBatch batch = make_batch(known, all);
      found =
          point(*pointer_.model, {batch.elements, batch.lengths}, flags_.options, check_signals);
    }
    std::size_t next = 0;
    for (const ElementSet& set : waiting_) {
      output_.write(set.numbers.empty() ? "\n" : line_of(set, found[next++]));
    }
    waiting_.clear();
  }
  void finish() {
    output_.commit();
    if (judged_ == 0) return;
    const auto judged = static_cast<double>(judged_);
    print_note(fmt::format(
        "accuracy {:.2f} %, {} of {} sets{}", 100.0 * right_ / judged, right_, judged_,
        flags_.area ? fmt::format("; area {:.2f} %", 100.0 * area_ / judged) : std::string()));
  }

 private:
  // "3 1 4", after the log-probability and a tab if it is wanted.
  std::string line_of(const ElementSet& set, const Pointed& found) {
    if (set.has_output) {
      ++judged_;
      right_ += found.positions == set.pointed ? 1 : 0;
      if (flags_.area) area_ += covered_area(set.numbers, found.positions, set.pointed);
    }
    const std::string positions = fmt::format("{}\n", fmt::join(found.positions, " "));
    return flags_.with_score ? fmt::format("{:.4f}\t{}", found.log_probability, positions)
                             : positions;
  }

  const ElementPointer& pointer_;
  const PointFlags& flags_;
  ElementReading reading_;
  Output output_;
  std::vector<ElementSet> waiting_;
  std::int64_t judged_ = 0, right_ = 0;
  double area_ = 0.0;
};

void point_all(const PointFlags& flags) {
  flags.model.set_threads();
  const ElementPointer pointer = load_element_pointer(flags.model.folder, flags.model.form());
  TextLines lines(flags.filter.input, flags.filter.policy());
  SetPointer sets(pointer, flags);
  feed_lines(
      lines, [&](const std::string& line) { sets.add(line, lines.place()); },
      [&] { sets.flush(); });
  sets.finish();
}

}  // namespace

void add_point(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("point", "Point at elements of sets");
  const auto flags = std::make_shared<PointFlags>();
  add_model_flags(*verb, flags->model, "the folder of a model that points");
  add_filter_flags(*verb, flags->filter,
                   "sets, a line each: the numbers of all elements; with \"output\" and positions "
                   "after them, the accuracy is measured");
  verb->add_option("--beam-size", flags->options.beam_size,
                   "number of hypotheses; 1: greedy search")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--max-ratio", flags->options.max_ratio,
                   "maximum number of positions of a result for each element")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  verb->add_flag("--with-score", flags->with_score, "the log-probability before each line");
  verb->add_flag("--area", flags->area,
                 "measure the area that the polygons cover of those in the input");
  verb->add_option("--batch", flags->batch, "sets computed together")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->capture_default_str();
  verb->callback([flags] { run_filter([&] { point_all(*flags); }); });
}

}  // namespace heed::cli
