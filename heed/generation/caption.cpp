#include "heed/generation/caption.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/plan.h"
#include "heed/generation/search.h"
#include "heed/generation/watched_steps.h"

namespace heed {

SearchOptions caption_search() { return {.max_length = 64}; }

std::vector<Caption> caption(const PictureCaptioner& captioner, const Tensor& pictures,
                             const SearchOptions& search, const std::function<void()>& on_step) {
  const std::int64_t B = pictures.size(0);
  if (B == 0) return {};
  const NoGrad no_grad;
  const CaptionModel& model = *captioner.model;
  const SpecialTokens special = captioner.tokenizer->special();
  const SearchPlan plan = make_plan(search, special);
  std::vector<Start> starts;
  for (std::int64_t b = 0; b < B; ++b) {
    starts.push_back(
        {.token = special.begin, .source_length = {}, .stream = static_cast<std::uint64_t>(b)});
  }
  DecodingSteps steps(model.output_layer(), B, model.start(model.encode(pictures)));
  WatchedSteps watched(steps, [&](std::span<const std::int32_t>) {
    if (on_step) on_step();
  });
  std::vector<Caption> captions;
  for (NBest& found : heed::search(watched, starts, plan)) {
    if (found.empty()) found.emplace_back();  // the rules allow no text
    captions.push_back({captioner.tokenizer->decode(found[0].tokens), std::move(found[0])});
  }
  return captions;
}

std::vector<LayerWeights> caption_weights(const PictureCaptioner& captioner, const Tensor& picture,
                                          std::span<const std::int32_t> tokens) {
  const NoGrad no_grad;
  std::vector<std::int32_t> given = {captioner.tokenizer->special().begin};
  given.insert(given.end(), tokens.begin(), tokens.end());
  const CaptionModel& model = *captioner.model;
  std::vector<LayerWeights> weights;
  model.decode(ids_of(given, 1), model.encode(picture), &weights);
  return weights;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct PictureCaptionerKeys {
  std::string tokenizer;
  PictureScale scale;

  void fields(io::Fields& field, bool /*is_imported*/) {
    field("tokenizer", tokenizer, "file of the tokenizer");
    field("scale", scale, "how bytes of a picture become numbers");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    PictureCaptioner captioner{as_interface<CaptionModel>(std::move(model)),
                               load_tokenizer(folder / tokenizer), scale};
    check_vocabulary(captioner.model->vocabulary(), *captioner.tokenizer, folder);
    const std::int64_t channels = captioner.model->picture().channels;
    HEED_CHECK(channels == std::ssize(scale.mean) && channels == std::ssize(scale.deviation),
               "[model] {}: the model reads {} channels, and there are scales of {}: they do not "
               "belong together",
               folder.string(), channels, scale.mean.size());
    return captioner;
  }
};

}  // namespace

constinit const FolderFormat kPictureCaptionerFolder =
    folder_format<PictureCaptionerKeys>(Task::caption);

PictureCaptioner load_picture_captioner(const std::filesystem::path& place, WeightForm form) {
  return std::get<PictureCaptioner>(load_task(place, Task::caption, form));
}

void save_model(const PictureCaptioner& captioner, const std::filesystem::path& folder) {
  save_folder(*captioner.model,
              PictureCaptionerKeys{.tokenizer = write_tokenizer(*captioner.tokenizer, folder),
                                   .scale = captioner.scale},
              {}, folder);
}

}  // namespace heed
