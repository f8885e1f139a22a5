#include "heed/attention/registry.h"

#include "heed/attention/choice.h"
#include "heed/attention/find_by_name.h"
#include "heed/attention/variants/attention_over_attention.h"
#include "heed/attention/variants/average.h"
#include "heed/attention/variants/bahdanau.h"
#include "heed/attention/variants/block_sparse.h"
#include "heed/attention/variants/decomposable.h"
#include "heed/attention/variants/dilated.h"
#include "heed/attention/variants/entmax.h"
#include "heed/attention/variants/global.h"
#include "heed/attention/variants/gumbel.h"
#include "heed/attention/variants/hard.h"
#include "heed/attention/variants/intra.h"
#include "heed/attention/variants/linear.h"
#include "heed/attention/variants/local_m.h"
#include "heed/attention/variants/local_p.h"
#include "heed/attention/variants/longformer.h"
#include "heed/attention/variants/lsh.h"
#include "heed/attention/variants/luong_global.h"
#include "heed/attention/variants/multi_head.h"
#include "heed/attention/variants/non_local.h"
#include "heed/attention/variants/ntm.h"
#include "heed/attention/variants/pointer.h"
#include "heed/attention/variants/pointer_generator.h"
#include "heed/attention/variants/pooling.h"
#include "heed/attention/variants/projected_tanh.h"
#include "heed/attention/variants/restricted.h"
#include "heed/attention/variants/talking_heads.h"
#include "heed/attention/variants/top_k.h"
#include "heed/attention/variants/transformer_xl.h"

namespace heed {
namespace {

// One line each, those that belong together one after another.
// clang-format off
constinit const Mechanism kMechanisms[] = {
    kGlobal,
    kBahdanau,
    kLuongGeneral,
    kLuongLocation,
    kLocalM,
    kLocalP,
    kHard,
    kGumbel,
    kMultiHead,
    kProjectedTanh,
    kTalkingHeads,
    kRestricted,
    kDilated,
    kLongformer,
    kBlockSparse,
    kTopK,
    kEntmax,
    kTransformerXl,
    kLsh,
    kLinear,
    kAverage,
    kIntra,
    kNtm,
    kPointer,
    kPointerGenerator,
    kAttentionOverAttention,
    kDecomposable,
    kNonLocal,
    kPooling,
};
// clang-format on

}  // namespace

std::span<const Mechanism> mechanisms() { return kMechanisms; }

const Mechanism& find_mechanism(std::string_view name) {
  return find_by_name(mechanisms(), name, "[attention] there is no mechanism");
}

std::vector<std::string> sample_options(const Mechanism& mechanism) {
  return split_options(mechanism.about.sample);
}

std::unique_ptr<AttentionLayer> make_attention(std::string_view name,
                                               std::span<const std::string> options,
                                               Generator& generator) {
  std::string text(name);
  for (const std::string& option : options) text += ' ' + option;
  return AttentionChoice(text).make(generator);
}

std::unique_ptr<AttentionLayer> make_attention(std::string_view name,
                                               std::initializer_list<std::string> options,
                                               Generator& generator) {
  return make_attention(name, std::span(options.begin(), options.size()), generator);
}

}  // namespace heed
