// The post-processors of tokenizer.json: they put special tokens around sequences, such as [CLS] …
// [SEP], and trim offsets.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/json_node.h"
#include "heed/text/tokenizer.h"

namespace heed::pipeline {

/// Tokens with the bytes of the text that they stand for; a special token that was put in has an
/// empty span at 0. `types` tells the sequences of a pair apart.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<TextSpan> spans;
  std::vector<std::int32_t> types;

  void add(std::int32_t id, TextSpan span, std::int32_t type) {
    ids.push_back(id);
    spans.push_back(span);
    types.push_back(type);
  }
};

/// White space at both ends of a token as it is written: "Ġdog" has one at its left.
struct TokenSpace {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

/// A sequence before post-processing.
struct Sequence {
  std::string_view text;
  Encoding encoding;
  std::vector<TokenSpace> spaces;  ///< One per token.
};

/// The white space at both ends of a token.
TokenSpace spaces_of(std::string_view token);

/// The interface of post-processors; they are immutable.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// Joins one or two sequences; special tokens are added only if `special` is set.
  virtual void process(std::vector<Sequence>& sequences, bool special) const = 0;
  /// The special tokens that are put before and after a single sequence.
  virtual std::vector<std::int32_t> before() const { return {}; }
  virtual std::vector<std::int32_t> after() const { return {}; }
  /// The greatest id of a special token that may be added; -1 if there is none.
  virtual std::int32_t greatest() const { return -1; }
};

/// Reads the section "post_processor". An unknown type throws heed::Error.
std::unique_ptr<const PostProcessor> read_post_processor(const JsonNode& node);

}  // namespace heed::pipeline
