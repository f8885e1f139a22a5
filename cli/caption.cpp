// heed caption: texts about pictures, from PNG and JPEG files or from an idx file, and how good
// they are.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/captioned_pictures.h"
#include "heed/evaluation/bleu.h"
#include "heed/generation/caption.h"
#include "heed/generation/picture_batch.h"
#include "heed/io/config.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/pictures/picture_file.h"

namespace heed::cli {
namespace {

struct CaptionFlags {
  ModelFlags model;
  std::vector<std::string> files;  // PNG and JPEG
  std::string set;                 // an idx file
  std::string references, boxes;
  std::string output = "-";
  std::vector<std::string> search;  // "key=value"
  std::int64_t batch = 64;
};

std::vector<Picture> pictures_of(const CaptionFlags& flags, const PictureSize& size) {
  HEED_CHECK(flags.files.empty() != flags.set.empty(),
             "[caption] give either picture files or --set");
  std::vector<Picture> pictures;
  for (const std::string& file : flags.files) pictures.push_back(fitted(read_picture(file), size));
  if (flags.set.empty()) return pictures;
  const PictureSet set = read_idx_pictures(flags.set);
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const auto bytes = set.picture(i);
    pictures.push_back(fitted({set.shape, {bytes.begin(), bytes.end()}}, size));
  }
  return pictures;
}

// The mean share of the weights of words that lies in their boxes, while the references are
// written.
double weight_on_boxes(const PictureCaptioner& captioner, const std::vector<Picture>& pictures,
                       const std::vector<std::string>& references,
                       const std::vector<WordBoxes>& boxes) {
  double sum = 0.0;
  std::int64_t words = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    check_signals();
    const std::vector<std::int32_t> tokens = captioner.tokenizer->encode(references[i]);
    HEED_CHECK(tokens.size() == boxes[i].size(),
               "[caption] --boxes: caption {} has {} words and {} tokens: boxes need a model whose "
               "tokens are words; train it with vocabulary.kind = \"words\"",
               i + 1, boxes[i].size(), tokens.size());
    const Tensor x = picture_batch("caption", {&pictures[i], 1}, captioner.model->picture(),
                                   captioner.scale);  // [1, C, H, W]
    const std::vector<LayerWeights> layers = caption_weights(captioner, x, tokens);
    HEED_CHECK(!layers.empty(), "[caption] --boxes: this model has no attention");
    const Tensor heads = mean(layers.front().cross, {0, 1});  // [T + 1, S]
    for (std::size_t word = 0; word < tokens.size(); ++word) {
      if (!boxes[i][word]) continue;
      sum += weight_inside(select(heads, 0, static_cast<std::int64_t>(word)).to_vector<float>(),
                           captioner.model->cells(), pictures[i].shape, *boxes[i][word]);
      ++words;
    }
  }
  HEED_CHECK(words > 0, "[caption] --boxes: no word has a box");
  return sum / static_cast<double>(words);
}

void report(const std::vector<std::string>& said, const std::vector<std::string>& references,
            const std::optional<double>& on_boxes) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) right += said[i] == references[i] ? 1 : 0;
  const evaluation::Bleu bleu;
  print_note(fmt::format(
      "exact match {:.2f} %, {} of {} captions; BLEU {:.2f}{}",
      100.0 * static_cast<double>(right) / static_cast<double>(said.size()), right, said.size(),
      evaluation::corpus_score(bleu, said, {&references, 1}).value,
      on_boxes ? fmt::format("; weight on the right cells {:.2f} %", 100.0 * *on_boxes) : ""));
}

void caption_all(const CaptionFlags& flags) {
  HEED_CHECK(flags.boxes.empty() || !flags.references.empty(),
             "[caption] --boxes are those of the words of --references: give both");
  flags.model.set_threads();
  SearchOptions search = caption_search();
  io::set_fields(search, flags.search);
  const PictureCaptioner captioner = load_picture_captioner(flags.model.folder, flags.model.form());
  const PictureSize size = captioner.model->picture();
  const std::vector<Picture> pictures = pictures_of(flags, size);
  std::vector<std::string> references;
  if (!flags.references.empty()) {
    references = read_captions(flags.references, std::ssize(pictures));
  }
  std::vector<WordBoxes> boxes;
  if (!flags.boxes.empty()) boxes = read_boxes(flags.boxes, references);
  Output output(flags.output);
  std::vector<std::string> said;
  for (std::size_t begin = 0; begin < pictures.size();) {
    const std::size_t count =
        std::min(static_cast<std::size_t>(flags.batch), pictures.size() - begin);
    const Tensor x = picture_batch("caption", std::span(pictures).subspan(begin, count), size,
                                   captioner.scale);  // [B, C, H, W]
    for (Caption& found : caption(captioner, x, search, check_signals)) {
      output.write(found.text + "\n");
      said.push_back(std::move(found.text));
    }
    begin += count;
  }
  output.commit();
  if (references.empty()) return;
  std::optional<double> on_boxes;
  if (!boxes.empty()) on_boxes = weight_on_boxes(captioner, pictures, references, boxes);
  report(said, references, on_boxes);
}

}  // namespace

void add_caption(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("caption", "Write texts about pictures");
  const auto flags = std::make_shared<CaptionFlags>();
  add_model_flags(*verb, flags->model, "the folder of a captioner");
  verb->add_option("files", flags->files, "PNG and JPEG files");
  verb->add_option("--set", flags->set, "an idx file of pictures");
  verb->add_option("--references", flags->references,
                   "the right captions, a line for each picture, to measure exact match and BLEU");
  verb->add_option("--boxes", flags->boxes,
                   "where the words of the references are, to measure the weight on them");
  verb->add_option("-o,--output", flags->output, "file to write; -: standard output")
      ->capture_default_str();
  verb->add_option("--batch", flags->batch, "pictures computed together")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->capture_default_str();
  add_config_flags(*verb, io::list_fields(caption_search()), flags->search);
  verb->callback([flags] { run_filter([&] { caption_all(*flags); }); });
}

}  // namespace heed::cli
