#include "heed/text/pipeline/decoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/pipeline/byte_alphabet.h"
#include "heed/text/pipeline/normalizer.h"
#include "heed/text/pipeline/regex.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// The length of the longest part at the front of a text that could begin a character: 1 to 3 bytes,
// all of which U+FFFD stands for. The rest of the text is not UTF-8 from there.
std::size_t broken_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  const auto is_tail = [](unsigned b) { return (b & 0xC0) == 0x80; };
  bool second_fits = is_tail(second);
  std::size_t wanted = 1;
  if (first >= 0xE0 && first <= 0xEF) {
    wanted = 2;
    second_fits =
        second_fits && !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F);
  } else if (first >= 0xF0 && first <= 0xF4) {
    wanted = 3;
    second_fits =
        second_fits && !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
  }
  if (wanted == 1 || !second_fits) return 1;
  return wanted == 3 && is_tail(byte(2)) ? 3 : 2;
}

// Bytes as text; each part that is not UTF-8 becomes one U+FFFD.
std::string lossy(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const unicode::CodePoint point = unicode::front(bytes);
    if (point.valid) {
      text += bytes.substr(0, point.bytes);
      bytes.remove_prefix(point.bytes);
    } else {
      unicode::append(text, unicode::kReplacement);
      bytes.remove_prefix(std::min(broken_length(bytes), bytes.size()));
    }
  }
  return text;
}

class ByteLevelDecoder final : public Decoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      const auto decoded = bytes_of(token);
      bytes += decoded ? *decoded : token;
    }
    tokens.assign(1, lossy(bytes));
  }
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}

  void decode(std::vector<std::string>& tokens) const override {
    // Spaces that splitting at punctuation has put in.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCleanups = {
        {{" .", "."},
         {" ?", "?"},
         {" !", "!"},
         {" ,", ","},
         {" ' ", "'"},
         {" n't", "n't"},
         {" 'm", "'m"},
         {" do not", " don't"},
         {" 's", "'s"},
         {" 've", "'ve"},
         {" 're", "'re"}}};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix_)) {
        tokens[i].erase(0, prefix_.size());
      } else if (i > 0) {
        tokens[i].insert(tokens[i].begin(), ' ');
      }
      if (!cleanup_) continue;
      for (const auto& [from, to] : kCleanups) replace_all(tokens[i], from, to);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(const JsonNode& node) {
    unicode::append(mark_, node.at("replacement").character());
    const auto scheme = node.find("prepend_scheme");
    has_prefix_ = scheme ? scheme->text() != "never" : node.flag("add_prefix_space", true);
  }
  void decode(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], mark_, i == 0 && has_prefix_ ? "" : " ");
    }
  }

 private:
  std::string mark_;
  bool has_prefix_;
};

class SuffixDecoder final : public Decoder {
 public:
  explicit SuffixDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void decode(std::vector<std::string>& tokens) const override {
    if (suffix_.empty()) return;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

// "<0x0A>" as a byte.
std::optional<char> byte_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  unsigned value = 0;
  const char* const end = token.data() + 5;
  const auto [stop, error] = std::from_chars(token.data() + 3, end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return static_cast<char>(value);
}

class ByteFallbackDecoder final : public Decoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::vector<std::string> out;
    std::string bytes;
    const auto finish = [&] {
      if (bytes.empty()) return;
      if (unicode::find_invalid(bytes)) {
        out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
      } else {
        out.push_back(bytes);
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_token(token)) {
        bytes += *byte;
        continue;
      }
      finish();
      out.push_back(std::move(token));
    }
    finish();
    tokens = std::move(out);
  }
};

class FuseDecoder final : public Decoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, std::move(all));
  }
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(char32_t content, std::int64_t start, std::int64_t stop)
      : start_(start), stop_(stop) {
    unicode::append(content_, content);
  }
  void decode(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      for (std::int64_t i = 0; i < start_ && token.starts_with(content_); ++i) {
        token.erase(0, content_.size());
      }
      for (std::int64_t i = 0; i < stop_ && token.ends_with(content_); ++i) {
        token.resize(token.size() - content_.size());
      }
    }
  }

 private:
  std::string content_;
  std::int64_t start_, stop_;
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void decode(std::vector<std::string>& tokens) const override {
    std::vector<Match> parts;
    for (std::string& token : tokens) {
      parts.clear();
      pattern_.find(token, parts);
      std::string made;
      for (const Match& part : parts) {
        if (part.matched) {
          made += content_;
        } else {
          made.append(token, part.begin, part.end - part.begin);
        }
      }
      token = std::move(made);
    }
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class DecoderSequence final : public Decoder {
 public:
  explicit DecoderSequence(std::vector<std::unique_ptr<const Decoder>> steps)
      : steps_(std::move(steps)) {}
  void decode(std::vector<std::string>& tokens) const override {
    for (const auto& step : steps_) step->decode(tokens);
  }

 private:
  std::vector<std::unique_ptr<const Decoder>> steps_;
};

}  // namespace

std::unique_ptr<const Decoder> read_decoder(const JsonNode& node) {
  const std::string& type = node.type();
  if (type == "ByteLevel") return std::make_unique<ByteLevelDecoder>();
  if (type == "WordPiece") {
    return std::make_unique<WordPieceDecoder>(node.text("prefix", "##"),
                                              node.flag("cleanup", true));
  }
  if (type == "Metaspace") return std::make_unique<MetaspaceDecoder>(node);
  if (type == "BPEDecoder") return std::make_unique<SuffixDecoder>(node.text("suffix", "</w>"));
  if (type == "ByteFallback") return std::make_unique<ByteFallbackDecoder>();
  if (type == "Fuse") return std::make_unique<FuseDecoder>();
  if (type == "Strip") {
    return std::make_unique<StripDecoder>(node.at("content").character(),
                                          node.at("start").integer(0, 1 << 30),
                                          node.at("stop").integer(0, 1 << 30));
  }
  if (type == "Replace") {
    return std::make_unique<ReplaceDecoder>(read_pattern(node.at("pattern")),
                                            node.at("content").text());
  }
  if (type == "Sequence") {
    std::vector<std::unique_ptr<const Decoder>> steps;
    for (const JsonNode& step : node.at("decoders").list()) steps.push_back(read_decoder(step));
    return std::make_unique<DecoderSequence>(std::move(steps));
  }
  node.at("type").refuse(
      "a decoder: ByteLevel, WordPiece, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Replace "
      "or Sequence");
}

}  // namespace heed::pipeline
