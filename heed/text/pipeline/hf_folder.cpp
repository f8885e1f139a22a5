#include "heed/text/pipeline/hf_folder.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/text/pipeline/hf_convert.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "heed/text/pipeline/json_node.h"
#include "heed/text/pipeline/mapped_pieces.h"
#include "heed/text/sentence_piece.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using pipeline::JsonNode;

constexpr std::size_t kMaxFolderFile = std::size_t{1} << 30;

// The languages of M2M100, whose tokens __af__ … follow the vocabulary in this order.
constexpr std::array<std::string_view, 100> kM2m100Languages = {
    "af", "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br",  "bs", "ca", "ceb", "cs", "cy",
    "da", "de", "el", "en",  "es", "et", "fa", "ff", "fi", "fr",  "fy", "ga", "gd",  "gl", "gu",
    "ha", "he", "hi", "hr",  "ht", "hu", "hy", "id", "ig", "ilo", "is", "it", "ja",  "jv", "ka",
    "kk", "km", "kn", "ko",  "lb", "lg", "ln", "lo", "lt", "lv",  "mg", "mk", "ml",  "mn", "mr",
    "ms", "my", "ne", "nl",  "no", "ns", "oc", "or", "pa", "pl",  "ps", "pt", "ro",  "ru", "sd",
    "si", "sk", "sl", "so",  "sq", "sr", "ss", "su", "sv", "sw",  "ta", "th", "tl",  "tn", "tr",
    "uk", "ur", "uz", "vi",  "wo", "xh", "yi", "yo", "zh", "zu"};

// The languages of mBART-50, whose tokens follow the pieces in this order; mBART has the first 25.
constexpr std::array<std::string_view, 52> kMBartLanguages = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN",
    "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP",
    "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ",
    "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN",
    "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN",
    "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr std::size_t kFirstMBart = 25;

// A folder and the settings in it.
class HfFolder {
 public:
  explicit HfFolder(fs::path path) : path_(std::move(path)) {
    config_ = settings("tokenizer_config.json");
    special_ = settings("special_tokens_map.json");
    model_ = settings(kModelName);
  }

  bool has(std::string_view name) const { return fs::exists(path_ / name); }
  std::string name(std::string_view file) const { return (path_ / file).string(); }
  std::string read(std::string_view file) const {
    return io::read_file(path_ / file, kMaxFolderFile);
  }

  // A special token: a text, or an object with its content.
  std::string token(std::string_view key) const {
    for (const auto* const value : {&config_, &special_}) {
      if (!*value) continue;
      const JsonNode root(**value, value == &config_ ? kConfigName : kSpecialName);
      const auto found = root.find(key);
      if (!found) continue;
      return found->value().table() != nullptr ? found->at("content").text() : found->text();
    }
    return "";
  }
  std::string token(std::string_view key, std::string_view other) const {
    std::string text = token(key);
    return text.empty() ? token(other) : text;
  }
  SpecialNames names() const {
    return {token("unk_token"), token("bos_token", "cls_token"), token("eos_token", "sep_token"),
            token("pad_token")};
  }

  std::optional<JsonNode> setting(std::string_view key) const {
    if (!config_) return std::nullopt;
    return JsonNode(*config_, kConfigName).find(key);
  }
  /// A text of the tokenizer's settings or else of the model's; "" if there is none.
  std::string about(std::string_view key) const {
    const auto own = setting(key);
    const auto found = own || !model_ ? own : JsonNode(*model_, kModelName).find(key);
    return found && found->value().string() != nullptr ? found->text() : "";
  }
  bool flag(std::string_view key, bool otherwise) const {
    const auto found = setting(key);
    return found ? found->boolean() : otherwise;
  }

 private:
  static constexpr std::string_view kConfigName = "tokenizer_config.json";
  static constexpr std::string_view kSpecialName = "special_tokens_map.json";
  static constexpr std::string_view kModelName = "config.json";

  std::optional<io::Value> settings(std::string_view file) const {
    if (!has(file)) return std::nullopt;
    return io::parse_json(read(file), name(file));
  }

  fs::path path_;
  std::optional<io::Value> config_, special_, model_;
};

using Made = std::shared_ptr<const Tokenizer>;

Made read_marian(const HfFolder& folder, Side side) {
  const std::string_view file = side == Side::source ? "source.spm" : "target.spm";
  const bool separate = side == Side::target && folder.flag("separate_vocabs", false);
  const std::string_view list = separate ? "target_vocab.json" : "vocab.json";
  const io::Value vocab = io::parse_json(folder.read(list), folder.name(list));
  const std::string name = folder.name(list);
  return std::make_shared<MappedPieces>(folder.read(file), folder.name(file),
                                        pipeline::TokenTable::read(JsonNode(vocab, name)));
}

Made read_m2m100(const HfFolder& folder) {
  const std::string name = folder.name("vocab.json");
  const io::Value vocab = io::parse_json(folder.read("vocab.json"), name);
  pipeline::TokenTable tokens = pipeline::TokenTable::read(JsonNode(vocab, name));
  auto next = static_cast<std::int32_t>(tokens.size());
  for (const std::string_view language : kM2m100Languages) {
    tokens.add(fmt::format("__{}__", language), next++);
  }
  constexpr std::string_view kModel = "sentencepiece.bpe.model";
  return std::make_shared<MappedPieces>(folder.read(kModel), folder.name(kModel),
                                        std::move(tokens));
}

Made read_byte_level(const HfFolder& folder) {
  const std::string vocab = folder.read("vocab.json");
  const bool roberta = vocab.find("\"<s>\"") != vocab.npos && vocab.find("\"</s>\"") != vocab.npos;
  return HfTokenizer::parse(
      pipeline::byte_level_tokenizer_json(
          vocab, folder.read("merges.txt"),
          {.prefix_space = folder.flag("add_prefix_space", false), .roberta = roberta},
          folder.name("vocab.json")),
      folder.name("vocab.json"), folder.names());
}

Made read_bert(const HfFolder& folder) {
  pipeline::BertOptions options;
  options.lower_case = folder.flag("do_lower_case", true);
  options.strip_accents = folder.flag("strip_accents", options.lower_case);
  options.chinese = folder.flag("tokenize_chinese_chars", true);
  const auto set = [&](std::string_view key, std::string& name) {
    if (std::string given = folder.token(key); !given.empty()) name = std::move(given);
  };
  set("unk_token", options.unknown);
  set("cls_token", options.begin);
  set("sep_token", options.end);
  set("pad_token", options.padding);
  set("mask_token", options.mask);
  return HfTokenizer::parse(pipeline::bert_tokenizer_json(folder.read("vocab.txt"), options),
                            folder.name("vocab.txt"),
                            {options.unknown, options.begin, options.end, options.padding});
}

Made read_t5(const HfFolder& folder) {
  const auto extra = folder.setting("extra_ids");
  const pipeline::SpmFile model =
      pipeline::SpmFile::parse(folder.read("spiece.model"), folder.name("spiece.model"));
  return HfTokenizer::parse(
      pipeline::t5_tokenizer_json(model, extra ? extra->integer(0, 1 << 16) : 100),
      folder.name("spiece.model"), folder.names());
}

// The tokens of languages that mBART has after its pieces.
std::span<const std::string_view> mbart_languages(const HfFolder& folder) {
  const std::string kind = folder.about("tokenizer_class");
  if (kind.starts_with("MBart50")) return kMBartLanguages;
  const bool is_first = kind.starts_with("MBart") || folder.about("model_type") == "mbart";
  return std::span(kMBartLanguages).first(is_first ? kFirstMBart : 0);
}

Made read_fairseq(const HfFolder& folder) {
  constexpr std::string_view kFile = "sentencepiece.bpe.model";
  const pipeline::SpmFile model = pipeline::SpmFile::parse(folder.read(kFile), folder.name(kFile));
  return HfTokenizer::parse(pipeline::fairseq_tokenizer_json(model, mbart_languages(folder)),
                            folder.name(kFile), folder.names());
}

}  // namespace

std::shared_ptr<const Tokenizer> read_hf_tokenizer(const std::filesystem::path& folder, Side side) {
  const HfFolder files(folder);
  if (files.has("tokenizer.json")) {
    return HfTokenizer::parse(files.read("tokenizer.json"), files.name("tokenizer.json"),
                              files.names());
  }
  if (files.has("source.spm") && files.has("vocab.json")) return read_marian(files, side);
  if (files.has("vocab.json") && files.has("merges.txt")) return read_byte_level(files);
  if (files.has("vocab.json") && files.has("sentencepiece.bpe.model")) return read_m2m100(files);
  if (files.has("vocab.txt")) return read_bert(files);
  if (files.has("spiece.model")) return read_t5(files);
  if (files.has("sentencepiece.bpe.model")) return read_fairseq(files);
  if (files.has("tokenizer.model")) {
    return std::make_shared<SentencePiece>(files.read("tokenizer.model"),
                                           files.name("tokenizer.model"));
  }
  fail(
      "[tokenizer] {} has no tokenizer: expected tokenizer.json, vocab.txt, vocab.json with "
      "merges.txt or a SentencePiece model (.spm, .model)",
      folder.string());
}

}  // namespace heed
