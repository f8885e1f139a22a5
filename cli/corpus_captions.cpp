// heed corpus captions: composes pictures with captions from labelled pictures.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/captioned_pictures.h"
#include "heed/io/file.h"

namespace heed::cli {
namespace {

struct CaptionCorpusArguments {
  std::vector<std::string> pictures;
  ComposeOptions compose;
  std::int64_t count = 20000;
  std::string language{io::enum_name(CaptionLanguage::en)};
  std::string prefix;
};

void make_captions(const CaptionCorpusArguments& arguments) {
  ComposeOptions options = arguments.compose;
  options.language = arguments.language == io::enum_name(CaptionLanguage::zh) ? CaptionLanguage::zh
                                                                              : CaptionLanguage::en;
  const PictureSet from = read_pictures(arguments.pictures);
  PictureSet made;
  std::string captions, boxes;
  for (std::int64_t i = 0; i < arguments.count; ++i) {
    const ComposedPicture one = compose_picture(from, options, i);
    made.shape = one.picture.shape;
    made.bytes.insert(made.bytes.end(), one.picture.bytes.begin(), one.picture.bytes.end());
    made.labels.push_back(0);
    captions += one.caption + "\n";
    boxes += boxes_line(one.boxes) + "\n";
  }
  write_idx_pictures(made, arguments.prefix + ".idx");
  io::write_file(arguments.prefix + ".txt", captions);
  io::write_file(arguments.prefix + ".boxes", boxes);
  fmt::print("{0}.idx, {0}.txt, {0}.boxes: {1} pictures of {2} x {2} pixels\n", arguments.prefix,
             arguments.count, made.shape.height);
}

}  // namespace

void add_caption_corpus(CLI::App& corpus) {
  CLI::App* const verb = corpus.add_subcommand(
      "captions", "Make pictures with captions from labelled pictures, such as MNIST's digits");
  const auto arguments = std::make_shared<CaptionCorpusArguments>();
  verb->add_option("pictures", arguments->pictures,
                   "labelled pictures: the two idx files of MNIST, a file of CIFAR-10, or a folder "
                   "of classes")
      ->required()
      ->expected(1, 2);
  verb->add_option("-n,--count", arguments->count, "pictures to make")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  verb->add_option("--most", arguments->compose.most,
                   "labelled pictures in one, at most; each has a quarter of it")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  verb->add_option("--canvas", arguments->compose.canvas,
                   "side of a picture in pixels; 0: twice that of the labelled ones. In larger "
                   "ones, they are at random places of their quarters")
      ->check(CLI::Range(std::int64_t{0}, kMaxPictureSide))
      ->capture_default_str();
  std::vector<std::string> languages;
  for (const auto& [value, name] : enum_names(CaptionLanguage{})) languages.emplace_back(name);
  verb->add_option("--language", arguments->language, "of the captions")
      ->check(CLI::IsMember(languages))
      ->capture_default_str();
  verb->add_option("--seed", arguments->compose.seed, "another seed, other pictures")
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->prefix,
                   "writes PREFIX.idx, PREFIX.txt and PREFIX.boxes")
      ->required();
  verb->callback([arguments] { make_captions(*arguments); });
}

}  // namespace heed::cli
