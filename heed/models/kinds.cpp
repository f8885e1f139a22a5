#include "heed/models/kinds.h"

#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/models/bag_of_words.h"
#include "heed/models/captioner.h"
#include "heed/models/classifier.h"
#include "heed/models/convolutional_translator.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/memory_network.h"
#include "heed/models/pointer_network.h"
#include "heed/models/reader.h"
#include "heed/models/recurrent_attention.h"
#include "heed/models/recurrent_translator.h"
#include "heed/models/reformer.h"
#include "heed/models/reformer_translator.h"
#include "heed/models/resnet.h"
#include "heed/models/self_attentive.h"
#include "heed/models/sentence_encoder.h"
#include "heed/models/transformer.h"
#include "heed/models/turing_machine.h"
#include "heed/models/vision_transformer.h"

namespace heed {
namespace {

// clang-format off
constinit const ModelKind kKinds[] = {
    kTransformer,
    kRecurrentTranslator,
    kConvolutionalTranslator,
    kReformerTranslator,
    kLanguageModel,
    kReformer,
    kClassifier,
    kBagOfWords,
    kSelfAttentive,
    kSentenceEncoder,
    kMaskedModel,
    kResNet,
    kVisionTransformer,
    kRecurrentAttention,
    kPointerNetwork,
    kTuringMachine,
    kReader,
    kMemoryNetwork,
    kCaptioner,
};
// clang-format on

}  // namespace

std::span<const ModelKind> model_kinds() { return kKinds; }

const ModelKind* find_model_kind(std::string_view name) {
  for (const ModelKind& kind : kKinds) {
    if (kind.name == name || (!name.empty() && kind.former_name == name)) return &kind;
  }
  return nullptr;
}

const ModelKind& choose_model_kind(Task task, std::string_view name) {
  const std::string_view task_name = io::enum_name(task);
  std::vector<std::string_view> names;
  for (const ModelKind& kind : kKinds) {
    if (kind.task != task) continue;
    if (name.empty() || kind.name == name) return kind;
    names.push_back(kind.name);
  }
  const ModelKind* const other = find_model_kind(name);
  HEED_CHECK(other == nullptr, "[model] kind {} is for task \"{}\", not for \"{}\"",
             io::in_quotes(name), io::enum_name(other->task), task_name);
  const std::string_view near = nearest(name, names);
  fail("[model] there is no kind {} for task \"{}\": {}", io::in_quotes(name), task_name,
       near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                    : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace heed
