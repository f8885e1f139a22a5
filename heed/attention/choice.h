// A mechanism or a position code with its options, as configs write it: one text, a name and, where
// the defaults do not fit, options. The text is parsed once, into the mechanism's own config.
//
//   encoder_attention = "restricted left=8 right=8"
//   positions = "shaw clip=16"
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/mechanism.h"
#include "heed/attention/position.h"

namespace heed {

/// A mechanism with its options; immutable and cheap to copy.
class AttentionChoice {
 public:
  /// Multi-head attention.
  AttentionChoice();
  /// "name key=value key=value"; throws unless a mechanism has this name and these options.
  AttentionChoice(std::string_view text);  // NOLINT: a text stands for the choice
  AttentionChoice(const char* text) : AttentionChoice(std::string_view(text)) {}  // NOLINT
  AttentionChoice(const std::string& text)                                        // NOLINT
      : AttentionChoice(std::string_view(text)) {}

  const Mechanism& mechanism() const { return *mechanism_; }
  const Traits& traits() const { return mechanism_->traits; }
  /// The text that it was made from.
  const std::string& text() const { return text_; }
  /// Whether the mechanism has an option of this name.
  bool takes(std::string_view option) const;
  /// Whether the text sets the option of this name.
  bool sets(std::string_view option) const;
  /// All options with their values.
  std::vector<io::FieldInfo> options() const { return config_->options(); }

  /// The same with the options of a block where the text has set none. Throws if the block has a
  /// position code inside attention that the mechanism does not take.
  AttentionChoice within(const BlockOptions& block) const;
  /// Makes a layer; throws heed::Error if the options do not fit together.
  std::unique_ptr<AttentionLayer> make(Generator& generator = default_generator()) const {
    return config_->make(generator);
  }

  /// Whether both were made from the same text.
  friend bool operator==(const AttentionChoice& a, const AttentionChoice& b) {
    return a.text_ == b.text_;
  }

 private:
  const Mechanism* mechanism_;
  std::string text_;
  std::vector<std::string> own_;  // the names of the options that the text sets
  std::shared_ptr<const MechanismConfig> config_;
};

/// A position code with its options.
class PositionChoice {
 public:
  /// No code.
  PositionChoice() = default;
  /// "name key=value key=value"; throws unless a code has this name and options are known.
  PositionChoice(std::string_view text);  // NOLINT: a text stands for the choice
  PositionChoice(const char* text) : PositionChoice(std::string_view(text)) {}  // NOLINT
  PositionChoice(const std::string& text)                                       // NOLINT
      : PositionChoice(std::string_view(text)) {}

  const PositionConfig& config() const { return config_; }
  /// The text that it was made from.
  const std::string& text() const { return text_; }
  /// Whether attention layers apply it, rather than the embeddings of a model.
  bool acts_in_attention() const;

  /// Whether both were made from the same text.
  friend bool operator==(const PositionChoice& a, const PositionChoice& b) {
    return a.text_ == b.text_;
  }

 private:
  std::string text_ = "none";
  PositionConfig config_ = {};
};

/// The words of "name key=value key=value".
std::vector<std::string> split_options(std::string_view text);

}  // namespace heed
