// heed recognise: labels of pictures, from PNG and JPEG files or from a labelled set.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/picture_set.h"
#include "heed/generation/classify.h"
#include "heed/generation/model_folder.h"
#include "heed/pictures/picture_file.h"

namespace heed::cli {
namespace {

struct RecogniseFlags {
  ModelFlags model;
  std::vector<std::string> files;  // PNG and JPEG
  std::vector<std::string> set;    // a folder, a file of CIFAR-10, or two idx files
  std::string output = "-";
  bool all = false;
  std::int64_t batch = 128;
};

// Collects pictures, and writes a line for each when there are enough for a batch.
class Recogniser {
 public:
  Recogniser(const PictureClassifier& classifier, const RecogniseFlags& flags)
      : classifier_(classifier), flags_(flags), output_(flags.output) {}

  /// `label` is the right one, or -1 if nobody knows.
  void add(std::string name, const Picture& picture, std::int32_t label) {
    names_.push_back(std::move(name));
    pictures_.push_back(fitted(picture, classifier_));
    labels_.push_back(label);
    if (std::ssize(pictures_) == flags_.batch) flush();
  }
  void finish() {
    flush();
    output_.commit();
    if (judged_ == 0) return;
    print_note(fmt::format("accuracy {:.2f} %, {} of {} pictures",
                           100.0 * static_cast<double>(right_) / static_cast<double>(judged_),
                           right_, judged_));
  }

 private:
  void flush() {
    check_signals();
    const auto found = recognise(classifier_, pictures_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::vector<std::size_t> order = by_probability(found[i]);
      judged_ += labels_[i] >= 0 ? 1 : 0;
      right_ += std::cmp_equal(order[0], labels_[i]) ? 1 : 0;
      output_.write(line_of(names_[i], found[i], order));
    }
    names_.clear();
    pictures_.clear();
    labels_.clear();
  }

  // "name<TAB>label<TAB>probability"; with --all, the other labels follow, most probable first.
  std::string line_of(const std::string& name, const std::vector<float>& probabilities,
                      const std::vector<std::size_t>& order) const {
    std::string line = name;
    for (const std::size_t label : order) {
      line += fmt::format("\t{}\t{:.4f}", classifier_.labels[label], probabilities[label]);
      if (!flags_.all) break;
    }
    return line + "\n";
  }

  const PictureClassifier& classifier_;
  const RecogniseFlags& flags_;
  Output output_;
  std::vector<std::string> names_;
  std::vector<Picture> pictures_;
  std::vector<std::int32_t> labels_;
  std::int64_t judged_ = 0, right_ = 0;
};

void recognise_all(const RecogniseFlags& flags) {
  HEED_CHECK(flags.files.empty() != flags.set.empty(),
             "[recognise] give either picture files or --set");
  flags.model.set_threads();
  const PictureClassifier classifier =
      load_picture_classifier(flags.model.folder, flags.model.form());
  const PictureSize size = classifier.model->picture();
  Recogniser recogniser(classifier, flags);
  for (const std::string& file : flags.files) recogniser.add(file, read_picture(file), -1);
  if (!flags.set.empty()) {
    HEED_CHECK(size.height == size.width,
               "[recognise] the model reads {} x {} pixels: sets have square pictures", size.height,
               size.width);
    const PictureSet set = read_pictures(
        flags.set,
        {.pictures = {.size = size.height, .channels = size.channels}, .names = classifier.labels});
    for (std::int64_t i = 0; i < set.size(); ++i) {
      const auto bytes = set.picture(i);
      recogniser.add(std::to_string(i), {set.shape, {bytes.begin(), bytes.end()}},
                     set.labels[static_cast<std::size_t>(i)]);
    }
  }
  recogniser.finish();
}

}  // namespace

void add_recognise(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("recognise", "Label pictures");
  const auto flags = std::make_shared<RecogniseFlags>();
  add_model_flags(*verb, flags->model, "the folder of a model of pictures");
  verb->add_option("files", flags->files, "PNG and JPEG files");
  verb->add_option("--set", flags->set,
                   "labelled pictures, to measure the accuracy: a folder of classes, a file of "
                   "CIFAR-10, or the two idx files of MNIST")
      ->expected(1, 2);
  verb->add_option("-o,--output", flags->output, "file to write; -: standard output")
      ->capture_default_str();
  verb->add_flag("--all", flags->all, "all labels, most probable first");
  verb->add_option("--batch", flags->batch, "pictures computed together")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->capture_default_str();
  verb->callback([flags] { run_filter([&] { recognise_all(*flags); }); });
}

}  // namespace heed::cli
