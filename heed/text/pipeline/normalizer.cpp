#include "heed/text/pipeline/normalizer.h"

#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/pipeline/base64.h"
#include "heed/text/pipeline/byte_alphabet.h"
#include "heed/text/pipeline/charsmap.h"
#include "heed/text/pipeline/regex.h"
#include "heed/text/unicode.h"
#include "heed/text/unicode_forms.h"

namespace heed::pipeline {
namespace {

using Normalizers = std::vector<std::unique_ptr<const Normalizer>>;

bool is_plain_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

void to_lower(AlignedText& text) {
  if (is_plain_ascii(text.text)) {
    for (char& c : text.text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return;
  }
  std::vector<unicode::Change> changes;
  changes.reserve(text.text.size());
  for (std::string_view rest = text.text; !rest.empty();) {
    const unicode::CodePoint point = unicode::front(rest);
    const unicode::Lower lower = unicode::lower_of(point.value);
    changes.push_back({lower.first, 0});
    if (lower.second != 0) changes.push_back({lower.second, 1});
    rest.remove_prefix(point.bytes);
  }
  text.rewrite(changes);
}

class NormalFormStep final : public Normalizer {
 public:
  explicit NormalFormStep(unicode::Form form) : form_(form) {}
  void normalize(AlignedText& text) const override {
    if (!is_plain_ascii(text.text)) text.rewrite(unicode::normal_form(text.text, form_));
  }

 private:
  unicode::Form form_;
};

class LowercaseStep final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override { to_lower(text); }
};

class StripStep final : public Normalizer {
 public:
  StripStep(bool left, bool right) : left_(left), right_(right) {}
  void normalize(AlignedText& text) const override {
    const std::vector<std::string_view> characters = unicode::split(text.text);
    const auto is_space = [](std::string_view c) {
      return unicode::is_white_space(unicode::front(c).value);
    };
    std::size_t begin = 0, end = text.text.size(), first = 0, last = characters.size();
    while (left_ && first < last && is_space(characters[first]))
      begin += characters[first++].size();
    while (right_ && last > first && is_space(characters[last - 1])) {
      end -= characters[--last].size();
    }
    if (begin == 0 && end == text.text.size()) return;
    AlignedText kept;
    kept.append(text, begin, end);
    kept.origin = text.origin;
    text = std::move(kept);
  }

 private:
  bool left_, right_;
};

class StripAccentsStep final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override {
    text.filter([](char32_t c) { return !unicode::is_combining_mark(c); });
  }
};

// What BERT's tokenizer does before it splits text.
class BertStep final : public Normalizer {
 public:
  explicit BertStep(const JsonNode& node)
      : clean_(node.flag("clean_text", true)),
        chinese_(node.flag("handle_chinese_chars", true)),
        lower_(node.flag("lowercase", true)),
        accents_(node.flag("strip_accents", lower_)) {}

  void normalize(AlignedText& text) const override {
    if (clean_) {
      text.filter([](char32_t c) {
        const bool is_line = c == U'\t' || c == U'\n' || c == U'\r';
        return is_line || (c != 0 && c != unicode::kReplacement && !unicode::is_control(c));
      });
      text.map([](char32_t c) { return unicode::is_white_space(c) ? U' ' : c; });
    }
    if (chinese_) separate_chinese(text);
    if (accents_) {
      if (!is_plain_ascii(text.text)) {
        text.rewrite(unicode::normal_form(text.text, unicode::Form::nfd));
      }
      text.filter([](char32_t c) { return !unicode::is_nonspacing_mark(c); });
    }
    if (lower_) to_lower(text);
  }

 private:
  static bool is_chinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) ||
           (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x2F800 && c <= 0x2FA1F);
  }
  static void separate_chinese(AlignedText& text) {
    if (is_plain_ascii(text.text)) return;
    std::vector<unicode::Change> changes;
    changes.reserve(text.text.size());
    for (std::string_view rest = text.text; !rest.empty();) {
      const unicode::CodePoint point = unicode::front(rest);
      if (is_chinese(point.value)) {
        changes.insert(changes.end(), {{U' ', 0}, {point.value, 1}, {U' ', 1}});
      } else {
        changes.push_back({point.value, 0});
      }
      rest.remove_prefix(point.bytes);
    }
    text.rewrite(changes);
  }

  bool clean_, chinese_, lower_, accents_;
};

class ReplaceStep final : public Normalizer {
 public:
  ReplaceStep(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void normalize(AlignedText& text) const override {
    std::vector<Match> parts;
    pattern_.find(text.text, parts);
    AlignedText made;
    made.origin = text.origin;
    for (const Match& part : parts) {
      if (!part.matched) {
        made.append(text, part.begin, part.end);
        continue;
      }
      // The new text is aligned with the last character that it replaces, or the one before it.
      const TextSpan span = part.begin < part.end ? text.spans[part.end - 1]
                            : made.spans.empty()  ? TextSpan{text.origin, text.origin}
                                                  : made.spans.back();
      made.append(content_, span);
    }
    text = std::move(made);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class PrependStep final : public Normalizer {
 public:
  explicit PrependStep(std::string prefix) : prefix_(std::move(prefix)) {}
  void normalize(AlignedText& text) const override { text.prepend(prefix_); }

 private:
  std::string prefix_;
};

class CharsmapStep final : public Normalizer {
 public:
  explicit CharsmapStep(Charsmap rules) : rules_(std::move(rules)) {}
  void normalize(AlignedText& text) const override { rules_.normalize(text); }

 private:
  Charsmap rules_;
};

// SentencePiece's rules of old: control characters go, odd spaces become spaces.
class NmtStep final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override {
    text.filter([](char32_t c) {
      return !((c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
               c == 0x8F || c == 0x9F);
    });
    text.map([](char32_t c) {
      const bool is_space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                            (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                            c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
      return is_space ? U' ' : c;
    });
  }
};

class ByteStep final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override {
    AlignedText made;
    made.origin = text.origin;
    for (std::size_t i = 0; i < text.text.size(); ++i) {
      made.append(byte_characters()[static_cast<unsigned char>(text.text[i])], text.spans[i]);
    }
    text = std::move(made);
  }
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(Normalizers steps) : steps_(std::move(steps)) {}
  void normalize(AlignedText& text) const override {
    for (const auto& step : steps_) step->normalize(text);
  }

 private:
  Normalizers steps_;
};

std::unique_ptr<const Normalizer> read_charsmap(const JsonNode& node) {
  const auto text = node.find("precompiled_charsmap");
  if (!text || text->text().empty()) return std::make_unique<NormalizerSequence>(Normalizers());
  const auto bytes = from_base64(text->text());
  HEED_CHECK(bytes.has_value(), "[tokenizer] {} is not base64", text->where());
  return std::make_unique<CharsmapStep>(Charsmap(*bytes, text->where()));
}

}  // namespace

Pattern read_pattern(const JsonNode& node) {
  if (node.value().string() != nullptr) return Pattern(node.text());
  if (const auto literal = node.find("String")) return Pattern(literal->text());
  const auto regex = node.find("Regex");
  if (!regex) node.refuse("\"String\" or \"Regex\"");
  return Pattern(Regex(regex->text(), regex->where()));
}

std::unique_ptr<const Normalizer> read_normalizer(const JsonNode& node) {
  const std::string& type = node.type();
  if (type == "Sequence") {
    Normalizers steps;
    for (const JsonNode& step : node.at("normalizers").list()) {
      steps.push_back(read_normalizer(step));
    }
    return std::make_unique<NormalizerSequence>(std::move(steps));
  }
  if (type == "NFC") return std::make_unique<NormalFormStep>(unicode::Form::nfc);
  if (type == "NFD") return std::make_unique<NormalFormStep>(unicode::Form::nfd);
  if (type == "NFKC") return std::make_unique<NormalFormStep>(unicode::Form::nfkc);
  if (type == "NFKD") return std::make_unique<NormalFormStep>(unicode::Form::nfkd);
  if (type == "Lowercase") return std::make_unique<LowercaseStep>();
  if (type == "Strip") {
    return std::make_unique<StripStep>(node.flag("strip_left", true),
                                       node.flag("strip_right", true));
  }
  if (type == "StripAccents") return std::make_unique<StripAccentsStep>();
  if (type == "BertNormalizer") return std::make_unique<BertStep>(node);
  if (type == "Replace") {
    return std::make_unique<ReplaceStep>(read_pattern(node.at("pattern")),
                                         node.at("content").text());
  }
  if (type == "Prepend") return std::make_unique<PrependStep>(node.at("prepend").text());
  if (type == "Precompiled") return read_charsmap(node);
  if (type == "Nmt") return std::make_unique<NmtStep>();
  if (type == "ByteLevel") return std::make_unique<ByteStep>();
  node.at("type").refuse(
      "a normalizer: Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, "
      "BertNormalizer, Replace, Prepend, Precompiled, Nmt or ByteLevel");
}

}  // namespace heed::pipeline
