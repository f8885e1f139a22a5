#include "heed/text/pipeline/mapped_pieces.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/text/pipeline/base64.h"
#include "heed/text/pipeline/json_node.h"

namespace heed {
namespace {

constexpr std::string_view kMappedHead =
    R"({"heed_tokenizer": 1, "kind": "mapped_pieces", "model": )";
constexpr std::string_view kPieceSpace = "▁";

SpecialTokens special_of_table(const pipeline::TokenTable& tokens) {
  const auto find = [&](std::string_view name, std::int32_t otherwise) {
    return tokens.id_of(name).value_or(otherwise);
  };
  const std::int32_t unknown = find("<unk>", 0);
  const std::int32_t end = find("</s>", unknown);
  return {
      .unknown = unknown, .begin = find("<s>", end), .end = end, .padding = find("<pad>", unknown)};
}

}  // namespace

bool is_mapped_pieces_text(std::string_view text) { return text.starts_with(kMappedHead); }

MappedPieces::MappedPieces(std::string model, std::string_view source, pipeline::TokenTable tokens)
    : model_(std::move(model), source),
      tokens_(std::move(tokens)),
      special_(special_of_table(tokens_)) {
  HEED_CHECK(tokens_.limit() > 0, "[tokenizer] the list of ids for {} is empty", source);
}

std::unique_ptr<MappedPieces> MappedPieces::parse(std::string_view content,
                                                  std::string_view source) {
  const io::Value value = io::parse_json(content, source);
  const pipeline::JsonNode root(value, source);
  const pipeline::JsonNode model = root.at("model");
  auto bytes = pipeline::from_base64(model.text());
  HEED_CHECK(bytes.has_value(), "[tokenizer] {} is not base64", model.where());
  return std::make_unique<MappedPieces>(std::move(*bytes), source,
                                        pipeline::TokenTable::read(root.at("vocab")));
}

void MappedPieces::check_id(std::int32_t id) const {
  HEED_CHECK(id >= 0 && id < size(), "[tokenizer] there is no token {}: they go from 0 to {}", id,
             size() - 1);
}

std::vector<std::int32_t> MappedPieces::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  if (text.starts_with(">>")) {
    const std::size_t end = text.rfind("<<");
    if (end != text.npos && end > 2) {
      if (const auto id = tokens_.id_of(text.substr(0, end + 2))) {
        ids.push_back(*id);
        text.remove_prefix(end + 2);
      }
    }
  }
  for (const std::string& piece : model_.pieces(text)) {
    ids.push_back(tokens_.id_of(piece).value_or(special_.unknown));
  }
  return ids;
}

std::string MappedPieces::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    check_id(id);
    const bool is_silent = id == special_.begin || id == special_.end || id == special_.padding ||
                           id == special_.unknown;
    if (is_silent) continue;
    std::string_view piece = tokens_.text(id);
    if (piece.starts_with(kPieceSpace)) {
      text += ' ';
      piece.remove_prefix(kPieceSpace.size());
    }
    text += piece;
  }
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string MappedPieces::piece(std::int32_t id) const {
  check_id(id);
  return std::string(tokens_.text(id));
}

bool MappedPieces::begins_word(std::int32_t id) const {
  return tokens_.text(id).starts_with(kPieceSpace);
}

std::vector<Tokenizer::File> MappedPieces::files() const {
  std::string content(kMappedHead);
  content +=
      fmt::format("\"{}\", \"vocab\": {{", pipeline::to_base64(model_.files().front().content));
  bool first = true;
  for (std::int32_t id = 0; id < tokens_.limit(); ++id) {
    if (tokens_.id_of(tokens_.text(id)) != id) continue;
    if (!first) content += ", ";
    first = false;
    content += fmt::format("{}: {}", io::quote_json(tokens_.text(id)), id);
  }
  return {{"tokenizer.heed.json", content + "}}"}};
}

}  // namespace heed
