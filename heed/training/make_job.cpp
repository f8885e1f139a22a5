#include "heed/training/make_job.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/io/config.h"
#include "heed/models/block.h"
#include "heed/models/stack.h"
#include "heed/training/fine_tuning.h"
#include "heed/training/training_task.h"

namespace heed {
namespace {

// Whether the data decide a value that the config leaves open.
bool is_open(std::string_view key, std::string_view value) {
  constexpr std::string_view kFromData[] = {"source_vocabulary",
                                            "target_vocabulary",
                                            "vocabulary",
                                            "classes",
                                            "padding",
                                            "channels",
                                            "height",
                                            "width",
                                            "inputs",
                                            "outputs"};
  return std::ranges::find(kFromData, key) != std::end(kFromData) &&
         (value == "0" || value == "\"none\"");
}

// A run that resumes has the model of its checkpoint, so a config that describes another model is
// an error.
void check_same_model(const ModelChoice& wanted, const ModelChoice& saved) {
  HEED_CHECK(
      wanted.kind().name == saved.kind().name,
      "[train] the checkpoint holds a {}, the config describes a {}: resume with the kind of "
      "the checkpoint, or train into another folder",
      saved.kind().name, wanted.kind().name);
  const std::vector<io::FieldInfo> ours = io::list_fields(wanted), theirs = io::list_fields(saved);
  HEED_ASSERT(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    HEED_CHECK(
        ours[i].value == theirs[i].value || is_open(ours[i].path, ours[i].value),
        "[train] {0}.{1} was {2} and is {3}: a run resumes with the model of its checkpoint; "
        "give {2}, or train into another folder",
        wanted.kind().name, ours[i].path, theirs[i].value, ours[i].value);
  }
}

// Samples are recorded in the forward pass, and rewarded by the likelihood of labels or tokens.
void check_attentions(const ModelChoice& model, const TrainConfig& config) {
  for (const AttentionChoice& attention : model.config().attentions()) {
    if (attention.traits().gradient == Gradient::exact) continue;
    HEED_CHECK(find_training_task(config.task)->has_reward ||
                   attention.traits().gradient != Gradient::none,
               "[{}] attention \"{}\" samples its positions, and the task \"{}\" has no reward "
               "for them: use \"gumbel\"",
               model.kind().name, attention.text(), io::enum_name(config.task));
    HEED_CHECK(!config.checkpoint_activations,
               "[train] checkpoint_activations with attention \"{}\": a second pass would sample "
               "again; leave checkpoint_activations out",
               attention.text());
  }
}

}  // namespace

MadeJob make_job(const TrainConfig& config,
                 const std::optional<std::filesystem::path>& checkpoint) {
  config.validate();
  HEED_CHECK(!config.train_sets.empty(),
             "[train] there is nothing to train on: give train_sets, source and target");
  const bool is_new = config.start_from.empty();
  const ModelChoice& model = config.models.at(config.model_kind());
  if (is_new) check_attentions(model, config);
  default_generator() = Generator(config.trainer.seed);
  // The folder of the model that training begins with; none: a new one.
  std::optional<std::filesystem::path> begin = checkpoint;
  if (!checkpoint && !is_new) begin = config.start_from;
  MadeJob made;
  made.job = find_training_task(config.task)->make({config, begin, made.notes});
  auto& own = dynamic_cast<Model&>(made.job->model());
  if (checkpoint && is_new) check_same_model(model, own.choice());
  if (!is_new) check_attentions(own.choice(), config);
  prepare_training(own, config);
  if (config.checkpoint_activations) {
    HEED_CHECK(checkpoint_activations(made.job->model()) > 0,
               "[train] checkpoint_activations: a {} has no Transformer layers; leave it out",
               config.model_kind().name);
  }
  return made;
}

}  // namespace heed
