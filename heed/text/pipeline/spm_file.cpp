#include "heed/text/pipeline/spm_file.h"

#include <cstring>
#include <optional>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

// Reads the fields of one message of a protocol buffer.
class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  // of a varint
    std::string_view bytes;   // of anything else
  };

  std::optional<Field> next() {
    if (bytes_.empty()) return std::nullopt;
    const std::uint64_t tag = varint();
    Field field;
    field.number = tag >> 3;
    switch (tag & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.bytes = take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.bytes = take(4);
        break;
      default:
        refuse();
    }
    return field;
  }

  [[noreturn]] void refuse() const {
    fail("[sentencepiece] {} is not a SentencePiece model, or is damaged", source_);
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) refuse();
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_, source_;
};

SpmFile::Piece read_spm_piece(ProtoReader reader) {
  SpmFile::Piece piece;
  while (const auto field = reader.next()) {
    if (field->number == 1) piece.text = field->bytes;
    if (field->number == 2) {
      if (field->bytes.size() != sizeof piece.score) reader.refuse();
      std::memcpy(&piece.score, field->bytes.data(), sizeof piece.score);
    }
    if (field->number == 3) {
      if (field->value < 1 || field->value > 6) reader.refuse();
      piece.kind = static_cast<SpmFile::Kind>(field->value);
    }
  }
  if (unicode::find_invalid(piece.text)) reader.refuse();
  return piece;
}

}  // namespace

SpmFile SpmFile::parse(std::string_view content, std::string_view source) {
  SpmFile file;
  ProtoReader reader(content, source);
  while (const auto field = reader.next()) {
    ProtoReader inner(field->bytes, source);
    if (field->number == 1) file.pieces.push_back(read_spm_piece(inner));
    if (field->number == 2) {
      while (const auto spec = inner.next()) {
        if (spec->number == 3) {
          if (spec->value < 1 || spec->value > 4) inner.refuse();
          file.model = static_cast<Model>(spec->value);
        }
        if (spec->number == 35) file.byte_fallback = spec->value != 0;
        if (spec->number == 40) file.unknown = static_cast<std::int64_t>(spec->value);
      }
    }
    if (field->number == 3) {
      while (const auto spec = inner.next()) {
        if (spec->number == 2) file.charsmap = spec->bytes;
      }
    }
  }
  if (file.pieces.empty()) reader.refuse();
  return file;
}

}  // namespace heed::pipeline
