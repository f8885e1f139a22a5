#include "heed/text/pipeline/pre_tokenizer.h"

#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/pipeline/byte_alphabet.h"
#include "heed/text/pipeline/normalizer.h"
#include "heed/text/pipeline/regex.h"
#include "heed/text/pipeline/split.h"
#include "heed/text/unicode.h"
#include "heed/text/unicode_forms.h"

namespace heed::pipeline {
namespace {

// Splits each part by `find`, which appends the parts of a text to a list of matches.
template <typename Find>
void split_pieces(Pieces& pieces, SplitBehavior behavior, Find&& find) {
  std::vector<Piece> made;
  made.reserve(pieces.pieces.size() * 4);
  std::vector<Match> parts;
  for (const Piece& piece : pieces.pieces) {
    if (piece.token >= 0) {
      made.push_back(piece);
      continue;
    }
    parts.clear();
    find(pieces.text(piece), parts);
    apply_behavior(behavior, parts);
    for (const Match& part : parts) {
      if (part.begin >= part.end) continue;
      made.push_back({piece.begin + static_cast<std::uint32_t>(part.begin),
                      piece.begin + static_cast<std::uint32_t>(part.end), -1});
    }
  }
  pieces.pieces = std::move(made);
}

// Each character for which `is_delimiter` holds is a delimiter of its own.
template <typename Predicate>
void split_at_characters(Pieces& pieces, SplitBehavior behavior, Predicate&& is_delimiter) {
  split_pieces(pieces, behavior, [&](std::string_view text, std::vector<Match>& parts) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const unicode::CodePoint point = unicode::front(text.substr(at));
      const std::size_t next = at + point.bytes;
      if (is_delimiter(point.value)) {
        if (begin < at) parts.push_back({begin, at, false});
        parts.push_back({at, next, true});
        begin = next;
      }
      at = next;
    }
    if (begin < text.size()) parts.push_back({begin, text.size(), false});
  });
}

// Rewrites each part by `write`, which appends the new form of a part to a text.
template <typename Write>
void rewrite_pieces(Pieces& pieces, Write&& write) {
  Pieces made;
  made.pieces.reserve(pieces.pieces.size());
  made.all.text.reserve(pieces.all.text.size() * 2);
  made.all.spans.reserve(pieces.all.text.size() * 2);
  for (const Piece& piece : pieces.pieces) {
    const auto begin = static_cast<std::uint32_t>(made.all.text.size());
    if (piece.token >= 0) {
      made.all.append(pieces.all, piece.begin, piece.end);
    } else {
      write(piece, made.all);
    }
    made.pieces.push_back({begin, static_cast<std::uint32_t>(made.all.text.size()), piece.token});
  }
  pieces = std::move(made);
}

class BertSplit final : public PreTokenizer {
 public:
  void split(Pieces& pieces) const override {
    split_at_characters(pieces, SplitBehavior::removed, unicode::is_white_space);
    split_at_characters(pieces, SplitBehavior::isolated, unicode::is_bert_punctuation);
  }
};

class ByteLevelSplit final : public PreTokenizer {
 public:
  explicit ByteLevelSplit(const JsonNode& node) : prefix_(node.flag("add_prefix_space", true)) {
    constexpr std::string_view kWords =
        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    if (node.flag("use_regex", true)) words_ = std::make_unique<Regex>(kWords, node.where());
  }

  void split(Pieces& pieces) const override {
    if (prefix_) {
      rewrite_pieces(pieces, [&](const Piece& piece, AlignedText& out) {
        if (!pieces.text(piece).starts_with(' ')) out.append(" ", pieces.all.spans[piece.begin]);
        out.append(pieces.all, piece.begin, piece.end);
      });
    }
    if (words_ != nullptr) {
      split_pieces(
          pieces, SplitBehavior::isolated,
          [&](std::string_view text, std::vector<Match>& parts) { words_->find(text, parts); });
    }
    rewrite_pieces(pieces, [&](const Piece& piece, AlignedText& out) {
      for (std::size_t i = piece.begin; i < piece.end; ++i) {
        out.append(byte_characters()[static_cast<unsigned char>(pieces.all.text[i])],
                   pieces.all.spans[i]);
      }
    });
  }

 private:
  bool prefix_;
  std::unique_ptr<const Regex> words_;
};

// Spaces become a visible character, usually "▁", which begins each word.
class MetaspaceSplit final : public PreTokenizer {
 public:
  explicit MetaspaceSplit(const JsonNode& node) : split_(node.flag("split", true)) {
    unicode::append(mark_, node.at("replacement").character());
    const auto scheme = node.find("prepend_scheme");
    if (!scheme) {
      always_ = node.flag("add_prefix_space", true);
    } else if (scheme->text() == "always") {
      always_ = true;
    } else if (scheme->text() == "first") {
      first_ = true;
    } else if (scheme->text() != "never") {
      scheme->refuse("always, first or never");
    }
    // Files of old versions have both; add_prefix_space = false wins.
    if (!node.flag("add_prefix_space", true)) always_ = first_ = false;
  }

  void split(Pieces& pieces) const override {
    rewrite_pieces(pieces, [&](const Piece& piece, AlignedText& out) {
      const std::string_view text = pieces.text(piece);
      const bool has_mark = text.starts_with(' ') || text.starts_with(mark_);
      const bool begins_text = pieces.all.spans[piece.begin].begin == 0;
      if (!has_mark && (always_ || (first_ && begins_text))) {
        out.append(mark_, pieces.all.spans[piece.begin]);
      }
      for (std::size_t i = piece.begin; i < piece.end; ++i) {
        if (pieces.all.text[i] == ' ') {
          out.append(mark_, pieces.all.spans[i]);
        } else {
          out.text += pieces.all.text[i];
          out.spans.push_back(pieces.all.spans[i]);
        }
      }
    });
    if (!split_) return;
    const Pattern marks(mark_);
    split_pieces(
        pieces, SplitBehavior::merged_with_next,
        [&](std::string_view text, std::vector<Match>& parts) { marks.find(text, parts); });
  }

 private:
  std::string mark_;
  bool split_;
  bool always_ = false, first_ = false;
};

// Runs of word characters, and runs of what is neither word nor space: \w+|[^\w\s]+.
class WhitespaceSplitter final : public PreTokenizer {
 public:
  void split(Pieces& pieces) const override {
    split_pieces(pieces, SplitBehavior::removed,
                 [](std::string_view text, std::vector<Match>& parts) {
                   int last = -1;
                   for (std::size_t at = 0; at < text.size();) {
                     const unicode::CodePoint point = unicode::front(text.substr(at));
                     const int kind = unicode::is_word(point.value)          ? 0
                                      : unicode::is_white_space(point.value) ? 1
                                                                             : 2;
                     if (kind != last) parts.push_back({at, at, kind == 1});
                     last = kind;
                     at += point.bytes;
                     parts.back().end = at;
                   }
                 });
  }
};

class SpaceSplit final : public PreTokenizer {
 public:
  void split(Pieces& pieces) const override {
    split_at_characters(pieces, SplitBehavior::removed, unicode::is_white_space);
  }
};

class PunctuationSplit final : public PreTokenizer {
 public:
  explicit PunctuationSplit(SplitBehavior behavior) : behavior_(behavior) {}
  void split(Pieces& pieces) const override {
    split_at_characters(pieces, behavior_, unicode::is_bert_punctuation);
  }

 private:
  SplitBehavior behavior_;
};

class DigitSplit final : public PreTokenizer {
 public:
  explicit DigitSplit(bool individual) : individual_(individual) {}
  void split(Pieces& pieces) const override {
    split_at_characters(pieces, individual_ ? SplitBehavior::isolated : SplitBehavior::contiguous,
                        unicode::is_numeric);
  }

 private:
  bool individual_;
};

class PatternSplit final : public PreTokenizer {
 public:
  PatternSplit(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void split(Pieces& pieces) const override {
    split_pieces(pieces, behavior_, [&](std::string_view text, std::vector<Match>& parts) {
      pattern_.find(text, parts);
      if (!invert_) return;
      for (Match& part : parts) part.matched = !part.matched;
    });
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class DelimiterSplit final : public PreTokenizer {
 public:
  explicit DelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}
  void split(Pieces& pieces) const override {
    split_at_characters(pieces, SplitBehavior::removed,
                        [&](char32_t c) { return c == delimiter_; });
  }

 private:
  char32_t delimiter_;
};

class FixedLengthSplit final : public PreTokenizer {
 public:
  explicit FixedLengthSplit(std::int64_t length) : length_(length) {}
  void split(Pieces& pieces) const override {
    split_pieces(pieces, SplitBehavior::isolated,
                 [&](std::string_view text, std::vector<Match>& parts) {
                   std::int64_t count = 0;
                   for (std::size_t at = 0; at < text.size(); ++count) {
                     if (count % length_ == 0) parts.push_back({at, at, false});
                     at += unicode::front(text.substr(at)).bytes;
                     parts.back().end = at;
                   }
                 });
  }

 private:
  std::int64_t length_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<const PreTokenizer>> steps)
      : steps_(std::move(steps)) {}
  void split(Pieces& pieces) const override {
    for (const auto& step : steps_) step->split(pieces);
  }

 private:
  std::vector<std::unique_ptr<const PreTokenizer>> steps_;
};

}  // namespace

std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const JsonNode& node) {
  const std::string& type = node.type();
  if (type == "Sequence") {
    std::vector<std::unique_ptr<const PreTokenizer>> steps;
    for (const JsonNode& step : node.at("pretokenizers").list()) {
      steps.push_back(read_pre_tokenizer(step));
    }
    return std::make_unique<PreTokenizerSequence>(std::move(steps));
  }
  if (type == "BertPreTokenizer") return std::make_unique<BertSplit>();
  if (type == "ByteLevel") return std::make_unique<ByteLevelSplit>(node);
  if (type == "Metaspace") return std::make_unique<MetaspaceSplit>(node);
  if (type == "Whitespace") return std::make_unique<WhitespaceSplitter>();
  if (type == "WhitespaceSplit") return std::make_unique<SpaceSplit>();
  if (type == "Punctuation") {
    const auto behavior = node.find("behavior");
    return std::make_unique<PunctuationSplit>(behavior ? read_behavior(*behavior)
                                                       : SplitBehavior::isolated);
  }
  if (type == "Digits") {
    return std::make_unique<DigitSplit>(node.flag("individual_digits", false));
  }
  if (type == "Split") {
    return std::make_unique<PatternSplit>(read_pattern(node.at("pattern")),
                                          read_behavior(node.at("behavior")),
                                          node.flag("invert", false));
  }
  if (type == "CharDelimiterSplit") {
    return std::make_unique<DelimiterSplit>(node.at("delimiter").character());
  }
  if (type == "FixedLength") {
    const auto length = node.find("length");
    return std::make_unique<FixedLengthSplit>(length ? length->integer(1, 1 << 20) : 5);
  }
  node.at("type").refuse(
      "a pre-tokenizer: Sequence, BertPreTokenizer, ByteLevel, Metaspace, Whitespace, "
      "WhitespaceSplit, Punctuation, Digits, Split, CharDelimiterSplit or FixedLength");
}

}  // namespace heed::pipeline
