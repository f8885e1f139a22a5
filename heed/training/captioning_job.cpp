#include "heed/training/captioning_job.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/evaluation/bleu.h"
#include "heed/generation/model_folder.h"
#include "heed/training/vocabularies.h"

namespace heed {
namespace {

CaptioningJobOptions with_scale(CaptioningJobOptions options, const PictureScale& scale) {
  options.stream.scale = scale;
  return options;
}

}  // namespace

CaptionCorpus::CaptionCorpus(CaptionedPictures data, const Tokenizer& tokenizer)
    : pictures(std::make_shared<const PictureSet>(std::move(data.pictures))),
      captions(std::move(data.captions)) {
  for (const std::string& caption : captions) tokens.add(tokenizer.encode(caption));
}

TargetBatch CaptionCorpus::targets(const Tensor& numbers, const SpecialTokens& special) const {
  std::vector<std::span<const std::int32_t>> rows;
  for (const std::int64_t number : numbers.to_vector<std::int64_t>())
    rows.push_back(tokens[number]);
  return target_batch(rows, special);
}

CaptioningJob::CaptioningJob(PictureCaptioner captioner,
                             std::shared_ptr<const CaptionCorpus> training,
                             std::shared_ptr<const CaptionCorpus> validation,
                             const CaptioningJobOptions& options)
    : StreamJob(settings_of(options.stream), training->pictures,
                with_scale(options, captioner.scale).stream),
      captioner_(std::move(captioner)),
      options_(with_scale(options, captioner_.scale)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      sampled_loss_(*captioner_.model, options.sampled) {}

// If `pass` is not null, it receives what attention samples.
BatchLoss CaptioningJob::loss_of(const CaptionCorpus& corpus, const PictureBatch& batch,
                                 double smoothing, SampledPass* pass) const {
  const CaptionModel& model = *captioner_.model;
  const TargetBatch targets = corpus.targets(batch.labels, captioner_.tokenizer->special());
  const Memory memory = model.encode(batch.pictures);  // [B, S, E]
  std::optional<RecordSamples> record;
  if (pass != nullptr) record.emplace(pass->decoder);
  const Tensor y = model.decode(targets.target, memory);  // [B, T, R]
  record.reset();
  const LinearCrossEntropy computed = model.output_layer().loss(
      y, targets.expected, {.label_smoothing = smoothing, .reduction = Reduction::sum});
  BatchLoss loss = token_loss(computed);
  loss.source_tokens = batch.labels.numel();
  loss.target_tokens = targets.tokens;
  if (pass != nullptr) {
    pass->target_lengths = targets.lengths;
    pass->log_likelihoods = computed.log_likelihoods;
  }
  return loss;
}

BatchLoss CaptioningJob::next() {
  const std::optional<PictureBatch> batch = stream_.next_part();
  if (!batch) return {};
  if (!sampled_loss_.is_needed()) return loss_of(*training_, *batch, options_.label_smoothing);
  SampledPass pass;
  BatchLoss loss = loss_of(*training_, *batch, options_.label_smoothing, &pass);
  sampled_loss_.add(pass, loss);
  return loss;
}

std::vector<Judgement> CaptioningJob::validate() {
  if (!validation_) return {};
  const NoGrad no_grad;
  const PictureSet& set = *validation_->pictures;
  std::vector<std::int32_t> all(static_cast<std::size_t>(set.size()));
  std::iota(all.begin(), all.end(), 0);
  double sum = 0.0, right = 0.0;
  std::int64_t counted = 0;
  std::vector<std::string> said;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t count =
        std::min(static_cast<std::size_t>(options_.stream.batch), all.size() - begin);
    const PictureBatch batch =
        make_batch(set, std::span(all).subspan(begin, count), options_.stream.scale);
    const BatchLoss loss = loss_of(*validation_, batch, 0.0);
    sum += loss.negative_log_likelihood;
    counted += loss.counted;
    for (Caption& one : caption(captioner_, batch.pictures, options_.search)) {
      right += one.text == validation_->captions[said.size()] ? 1.0 : 0.0;
      said.push_back(std::move(one.text));
    }
    begin += count;
  }
  const evaluation::Bleu bleu({.tokenizer = options_.tokenizer});
  return {{"loss", sum / static_cast<double>(counted)},
          {"accuracy", 100.0 * right / static_cast<double>(set.size()), true},
          {"bleu", evaluation::corpus_score(bleu, said, {&validation_->captions, 1}).value, true}};
}

void CaptioningJob::save(const std::filesystem::path& folder) const {
  save_model(captioner_, folder);
}

// ---- from a config ------------------------------------------------------------------------------

std::unique_ptr<Job> make_captioning(const JobRequest& request) {
  const TrainConfig& config = request.config;
  const auto read = [&](const std::vector<std::string>& sets) {
    HEED_CHECK(sets.size() == 2,
               "[train] {} file for captions: give two, an idx file of pictures and a text file "
               "with a line for each",
               sets.size());
    CaptionedPictures data = read_captioned(sets[0], sets[1]);
    request.notes.push_back(fmt::format("{}: {} pictures of {} x {} pixels with captions", sets[0],
                                        data.pictures.size(), data.pictures.shape.height,
                                        data.pictures.shape.width));
    return data;
  };
  CaptionedPictures data = read(config.train_sets);
  const auto fresh = [&]() -> PictureCaptioner {
    const auto [C, H, W] = data.pictures.shape;
    std::shared_ptr<const Tokenizer> tokenizer = make_tokenizer(config, data.captions);
    auto model = new_model<CaptionModel>(config, {.target_vocabulary = tokenizer->size(),
                                                  .padding = tokenizer->special().padding,
                                                  .picture = {C, H, W}});
    return {std::move(model), tokenizer, scale_of(data.pictures)};
  };
  PictureCaptioner captioner = request.begin ? load_picture_captioner(*request.begin) : fresh();
  const auto corpus_of = [&](CaptionedPictures given) {
    const auto [C, H, W] = captioner.model->picture();
    const PictureShape& shape = given.pictures.shape;
    HEED_CHECK((shape == PictureShape{C, H, W}),
               "[train] pictures of {} x {} x {}: the model reads {} x {} x {}", shape.channels,
               shape.height, shape.width, C, H, W);
    return std::make_shared<const CaptionCorpus>(std::move(given), *captioner.tokenizer);
  };
  const auto training = corpus_of(std::move(data));
  std::shared_ptr<const CaptionCorpus> validation;
  if (!config.valid_sets.empty()) validation = corpus_of(read(config.valid_sets));
  const std::int64_t batch =
      config.batch_sentences > 0 ? config.batch_sentences : PictureStreamOptions{}.batch;
  return std::make_unique<CaptioningJob>(
      std::move(captioner), training, validation,
      CaptioningJobOptions{.label_smoothing = config.smoothing(),
                           .stream = {.batch = batch, .seed = config.trainer.seed},
                           .search = config.validation.search,
                           .tokenizer = config.validation.tokenizer,
                           .sampled = config.reinforce});
}

}  // namespace heed
