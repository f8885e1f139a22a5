#include "heed/text/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <exception>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

constexpr std::string_view kSpace = "▁";

// The token that stands for unknown text. The library finds it only if it has the usual name, but
// accepts models in which another piece has this role.
std::int32_t unknown_of(const sentencepiece::SentencePieceProcessor& model) {
  if (model.unk_id() >= 0) return model.unk_id();
  std::int32_t id = 0;
  while (id < model.GetPieceSize() && !model.IsUnknown(id)) ++id;
  return id;
}

// SentencePiece returns -1 for tokens that a model lacks.
SpecialTokens special_of(const sentencepiece::SentencePieceProcessor& model) {
  const std::int32_t unknown = unknown_of(model);
  const auto or_else = [](std::int32_t id, std::int32_t other) { return id >= 0 ? id : other; };
  return {.unknown = unknown,
          .begin = or_else(model.bos_id(), or_else(model.eos_id(), unknown)),
          .end = or_else(model.eos_id(), or_else(model.bos_id(), unknown)),
          .padding = or_else(model.pad_id(), unknown)};
}

}  // namespace

struct SentencePiece::Library {
  sentencepiece::SentencePieceProcessor model;

  // Returns what is wrong with the model, or "". The library mostly reports errors by a status, but
  // its trie throws.
  std::string load(std::string_view content) {
    try {
      const auto status = model.LoadFromSerializedProto({content.data(), content.size()});
      return status.ok() ? "" : status.ToString();
    } catch (const std::exception& error) {
      return error.what();
    }
  }
};

SentencePiece::SentencePiece(std::string model, std::string_view source)
    : library_(std::make_unique<Library>()), model_(std::move(model)) {
  // The library's messages may quote bytes of the file.
  const std::string problem = unicode::make_valid(library_->load(model_));
  HEED_CHECK(problem.empty(), "[sentencepiece] {} is not a SentencePiece model, or is damaged ({})",
             source, problem);
  special_ = special_of(library_->model);
  HEED_CHECK(special_.unknown < size(),
             "[sentencepiece] {} has no piece for unknown text: train it again", source);
  has_padding_ = library_->model.pad_id() >= 0;
}

SentencePiece::~SentencePiece() = default;

void SentencePiece::check_id(std::int32_t id) const {
  HEED_CHECK(id >= 0 && id < size(), "[sentencepiece] there is no token {}: they go from 0 to {}",
             id, size() - 1);
}

std::vector<std::int32_t> SentencePiece::encode(std::string_view text) const {
  std::vector<int> ids;
  const auto status = library_->model.Encode({text.data(), text.size()}, &ids);
  HEED_CHECK(status.ok(), "[sentencepiece] the text cannot be encoded: {}", status.ToString());
  return ids;
}

std::vector<std::string> SentencePiece::pieces(std::string_view text) const {
  std::vector<std::string> pieces;
  const auto status = library_->model.Encode({text.data(), text.size()}, &pieces);
  HEED_CHECK(status.ok(), "[sentencepiece] the text cannot be encoded: {}", status.ToString());
  return pieces;
}

std::string SentencePiece::decode(std::span<const std::int32_t> ids) const {
  std::vector<int> spoken;
  for (const std::int32_t id : ids) {
    check_id(id);
    const bool is_silent = id == special_.begin || id == special_.end || id == special_.padding;
    if (id == special_.unknown || !is_silent) spoken.push_back(id);
  }
  std::string text;
  const auto status = library_->model.Decode(spoken, &text);
  HEED_CHECK(status.ok(), "[sentencepiece] the tokens cannot be decoded: {}", status.ToString());
  return text;
}

std::int64_t SentencePiece::size() const { return library_->model.GetPieceSize(); }

std::string SentencePiece::piece(std::int32_t id) const {
  check_id(id);
  return library_->model.IdToPiece(id);
}

bool SentencePiece::begins_word(std::int32_t id) const { return piece(id).starts_with(kSpace); }

std::vector<Tokenizer::File> SentencePiece::files() const { return {{"tokenizer.model", model_}}; }

}  // namespace heed
