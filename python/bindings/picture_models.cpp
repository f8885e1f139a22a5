// heed.PictureClassifier and heed.PictureCaptioner.
#include <fmt/format.h>

#include <new>
#include <string>
#include <vector>

#include "heed/base/interrupt.h"
#include "heed/generation/classify.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/picture_batch.h"
#include "heed/pictures/picture_file.h"
#include "heed/plot/model_attention.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/load_options.h"
#include "python/bindings/model_results.h"
#include "python/bindings/options.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

std::vector<std::vector<float>> recognise_files(const PictureClassifier& classifier,
                                                const std::vector<std::string>& files) {
  const Unlocked released;
  const InterruptScope scope([check = InterruptCheck()]() mutable { check(); });
  std::vector<heed::Picture> pictures;
  for (const std::string& file : files) {
    pictures.push_back(fitted(read_picture(file), classifier));
  }
  return recognise(classifier, pictures);
}

std::vector<std::string> paths_of(nb::handle files) {
  std::vector<std::string> paths;
  for (const nb::handle file : files) paths.push_back(path_of("files", file).string());
  return paths;
}

std::vector<Caption> caption_files(const PictureCaptioner& captioner,
                                   const std::vector<std::string>& files,
                                   const SearchOptions& search) {
  if (files.empty()) return {};
  const Unlocked released;
  InterruptCheck check;
  const PictureSize size = captioner.model->picture();
  std::vector<heed::Picture> pictures;
  for (const std::string& file : files) pictures.push_back(fitted(read_picture(file), size));
  const Tensor x = picture_batch("caption", pictures, size, captioner.scale);
  return caption(captioner, x, search, [&] { check(); });
}

void bind_captioner(nb::module_& m) {
  const std::string constructor = constructor_signature();
  SearchOptions defaults = caption_search();
  const io::Fields fields(defaults);
  const std::string one =
      signature("def caption(self, file: str | os.PathLike[str], *", fields, ") -> str");
  const std::string many = signature(
      "def caption_batch(self, files: collections.abc.Iterable[str | os.PathLike[str]], *", fields,
      ") -> list[str]");
  const std::string one_help = help("The text about a PNG or JPEG file.", fields);
  const std::string many_help =
      help("The same for several files, which are computed together.", fields);
  nb::class_<PictureCaptioner>(m, "PictureCaptioner",
                               "A trained captioner, from its folder or that of its training "
                               "run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](PictureCaptioner* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) PictureCaptioner(load_picture_captioner(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "caption",
          [](const PictureCaptioner& self, nb::handle file, const nb::kwargs& options) {
            const SearchOptions search = options_of(caption_search(), "caption", options);
            return to_str(caption_files(self, {path_of("file", file).string()}, search)[0].text);
          },
          nb::arg("file"), nb::arg("options"), nb::sig(one.c_str()), one_help.c_str())
      .def(
          "caption_batch",
          [](const PictureCaptioner& self, nb::handle files, const nb::kwargs& options) {
            const SearchOptions search = options_of(caption_search(), "caption_batch", options);
            nb::list texts;
            for (const Caption& found : caption_files(self, paths_of(files), search)) {
              texts.append(to_str(found.text));
            }
            return texts;
          },
          nb::arg("files"), nb::arg("options"), nb::sig(many.c_str()), many_help.c_str())
      .def(
          "attention",
          [](const PictureCaptioner& self, nb::handle file) {
            const std::string path = path_of("file", file).string();
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, path)};
          },
          nb::arg("file"),
          nb::sig("def attention(self, file: str | os.PathLike[str]) -> Attention"),
          "The attention weights of each word of the text about a PNG or JPEG file.")
      .def_prop_ro(
          "config",
          [](const PictureCaptioner& self) {
            ModelChoice config = self.model->choice();
            return object_of(io::Fields(config).write());
          },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const PictureCaptioner& self) {
        return fmt::format("<heed.PictureCaptioner: {} parameters, {} tokens>",
                           self.model->parameter_count(), self.tokenizer->size());
      });
}

}  // namespace

void bind_picture_models(nb::module_& m) {
  bind_captioner(m);
  const std::string constructor = constructor_signature();
  nb::class_<PictureClassifier>(m, "PictureClassifier",
                                "A trained model of pictures, from its folder or that of its "
                                "training run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](PictureClassifier* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) PictureClassifier(load_picture_classifier(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "recognise",
          [](const PictureClassifier& self, nb::handle file) {
            const auto found = recognise_files(self, {path_of("file", file).string()});
            return to_str(self.labels[by_probability(found[0])[0]]);
          },
          nb::arg("file"), nb::sig("def recognise(self, file: str | os.PathLike[str]) -> str"),
          "The most probable label of a PNG or JPEG file.")
      .def(
          "recognise_batch",
          [](const PictureClassifier& self, nb::handle files) {
            nb::list results;
            for (const std::vector<float>& p : recognise_files(self, paths_of(files))) {
              nb::dict labelled;
              for (const std::size_t i : by_probability(p)) labelled[to_str(self.labels[i])] = p[i];
              results.append(labelled);
            }
            return results;
          },
          nb::arg("files"),
          nb::sig("def recognise_batch(self, files: collections.abc.Iterable[str | "
                  "os.PathLike[str]]) -> "
                  "list[dict[str, float]]"),
          "The probabilities of the labels for each PNG or JPEG file, most probable first.")
      .def(
          "attention",
          [](const PictureClassifier& self, nb::handle file) {
            const std::string path = path_of("file", file).string();
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, path)};
          },
          nb::arg("file"),
          nb::sig("def attention(self, file: str | os.PathLike[str]) -> Attention"),
          "The attention weights of every layer and head for a PNG or JPEG file.")
      .def_prop_ro(
          "labels",
          [](const PictureClassifier& self) {
            nb::list labels;
            for (const std::string& label : self.labels) labels.append(to_str(label));
            return labels;
          },
          nb::for_getter(nb::sig("def labels(self, /) -> list[str]")),
          "The labels in the order of the model's classes.")
      .def_prop_ro(
          "config",
          [](const PictureClassifier& self) {
            ModelChoice config = self.model->choice();
            return object_of(io::Fields(config).write());
          },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const PictureClassifier& self) {
        return fmt::format("<heed.PictureClassifier: {} parameters, {} labels>",
                           self.model->parameter_count(), self.labels.size());
      });
}

}  // namespace heed::python
