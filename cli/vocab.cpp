// heed vocab train | convert | encode | decode | show: makes, applies and inspects tokenizers.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/find_option.h"
#include "cli/verbs.h"
#include "cli/vocab_filter.h"
#include "heed/base/error.h"
#include "heed/io/config.h"
#include "heed/io/printable.h"
#include "heed/text/characters.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/sentence_piece_training.h"
#include "heed/text/subword_nmt.h"
#include "heed/text/word_list.h"
#include "heed/text/words.h"

namespace heed::cli {
namespace {

struct TrainFlags {
  std::vector<std::filesystem::path> files;
  std::string kind = "sentencepiece";
  std::string codes;
  std::vector<std::string> options;  // "path=value"
  std::string out;
};

// Options that do not belong to the kind, or have invalid values, are usage errors.
template <typename C>
C options_of(const TrainFlags& flags) {
  C options;
  try {
    io::set_fields(options, flags.options);
  } catch (const Error& error) {
    throw CLI::ValidationError(fmt::format("--kind {}", flags.kind), error.what());
  }
  return options;
}

std::unique_ptr<Tokenizer> train(const TrainFlags& flags) {
  if ((flags.kind == "subword_nmt") == flags.codes.empty()) {
    throw CLI::ValidationError("--codes", "goes with --kind subword_nmt, which needs it");
  }
  if (flags.kind == "sentencepiece") {
    const auto options = options_of<SentencePieceOptions>(flags);
    return std::make_unique<SentencePiece>(train_sentence_piece(flags.files, options));
  }
  const auto options = options_of<VocabularyOptions>(flags);
  if (flags.kind == "words") return std::make_unique<Words>(count_words(flags.files, options));
  if (flags.kind == "characters") {
    return std::make_unique<Characters>(count_characters(flags.files, options));
  }
  BpeCodes codes = load_bpe_codes(flags.codes);
  Vocabulary vocabulary = count_subwords(flags.files, codes, options);
  return std::make_unique<SubwordNmt>(std::move(codes), std::move(vocabulary));
}

void save(const Tokenizer& tokenizer, const std::string& path) {
  save_tokenizer(tokenizer, path);
  fmt::print("{}: {}, {} tokens\n", path, tokenizer.kind(), tokenizer.size());
}

void add_training(CLI::App& vocab) {
  CLI::App* const verb = vocab.add_subcommand("train", "Make a tokenizer from text files");
  const auto flags = std::make_shared<TrainFlags>();
  verb->add_option("file", flags->files, "text, plain or gzip; - is standard input")->required();
  verb->add_option("--kind", flags->kind, "kind of tokenizer")
      ->check(CLI::IsMember({"sentencepiece", "words", "characters", "subword_nmt"}))
      ->capture_default_str();
  verb->add_option("--codes", flags->codes, "BPE codes of subword-nmt, for --kind subword_nmt");
  verb->add_option("-o,--output", flags->out, "the file to write")->required();
  add_config_flags(*verb, io::list_fields(SentencePieceOptions()), flags->options);
  auto counted = io::list_fields(VocabularyOptions());
  std::erase_if(counted, [](const io::FieldInfo& field) { return field.path == "size"; });
  add_config_flags(*verb, counted, flags->options);
  verb->footer(
      "Only --size and --min-count apply to words, characters and subword_nmt; there "
      "--size is the maximum, by default all.");
  verb->callback([flags] { save(*train(*flags), flags->out); });
}

struct ConvertFlags {
  std::string list;
  std::string codes;
  std::vector<std::string> options;
  std::string out;
};

void convert(const ConvertFlags& flags) {
  const auto tokenizer = load_tokenizer(flags.list);
  const auto* const words = dynamic_cast<const Words*>(tokenizer.get());
  HEED_CHECK(words != nullptr, "[vocab] {} is a {} tokenizer already: a list of words is converted",
             flags.list, tokenizer->kind());
  if (flags.codes.empty()) return save(*words, flags.out);
  SubwordNmtOptions options;
  io::set_fields(options, flags.options);
  save(SubwordNmt(load_bpe_codes(flags.codes), words->vocabulary(), options), flags.out);
}

void add_vocab_convert(CLI::App& vocab) {
  CLI::App* const verb = vocab.add_subcommand(
      "convert", "Make a tokenizer of a word list, and of BPE codes if there are any");
  const auto flags = std::make_shared<ConvertFlags>();
  verb->add_option("list", flags->list, "tokens, one a line, with counts or without")->required();
  CLI::Option* const codes = verb->add_option("--codes", flags->codes, "BPE codes of subword-nmt");
  verb->add_option("-o,--output", flags->out, "the file to write")->required();
  add_config_flags(*verb, io::list_fields(SubwordNmtOptions()), flags->options);
  for (const char* name : {"--separator", "--threshold"}) find_option(*verb, name)->needs(codes);
  verb->callback([flags] { convert(*flags); });
}

void show(const std::string& path, int first) {
  const auto tokenizer = load_tokenizer(path);
  const SpecialTokens special = tokenizer->special();
  fmt::print("kind     {}\ntokens   {}\n", tokenizer->kind(), tokenizer->size());
  fmt::print("special  unknown {}, begin {}, end {}, padding {}\n", special.unknown, special.begin,
             special.end, special.padding);
  fmt::print("first   ");
  for (std::int32_t id = 0; id < std::min<std::int64_t>(first, tokenizer->size()); ++id) {
    fmt::print(" {}", io::printable(tokenizer->piece(id)));
  }
  fmt::print("\n");
}

void add_show(CLI::App& vocab) {
  CLI::App* const verb = vocab.add_subcommand("show", "Show the content of a tokenizer file");
  const auto path = std::make_shared<std::string>();
  const auto first = std::make_shared<int>(20);
  const auto list = std::make_shared<bool>(false);
  const auto counts = std::make_shared<bool>(false);
  verb->add_option("file", *path, "the tokenizer")->required();
  verb->add_option("--first", *first, "number of tokens to show")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  verb->add_flag("--list", *list, "all tokens instead, one a line");
  verb->add_flag("--counts", *counts, "all words with their counts instead, as fairseq's dict.txt");
  verb->callback([=] {
    if (*counts) return print_counts(*path);
    *list ? print_tokens(*path) : show(*path, *first);
  });
}

}  // namespace

void add_vocab(CLI::App& app) {
  CLI::App* const vocab = app.add_subcommand("vocab", "Make, apply and inspect tokenizers");
  vocab->require_subcommand(1);
  add_training(*vocab);
  add_vocab_convert(*vocab);
  add_vocab_filters(*vocab);
  add_show(*vocab);
}

}  // namespace heed::cli
