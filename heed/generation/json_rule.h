// Texts that are JSON objects: a rule forbids every token after which the text could not become one
// (RFC 8259), and the text ends with the object.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/rules.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Reads a JSON object byte by byte. Two limits keep a model from wasting tokens: objects and
/// arrays are nested up to kMaxNesting, and at most kMaxSpaces spaces follow each other.
class JsonReader {
 public:
  static constexpr int kMaxNesting = 64, kMaxSpaces = 32;

  /// Reads a byte. False if no JSON object begins like this; the reader then has no meaning.
  bool add(char byte);
  /// The same for several.
  bool add(std::string_view bytes);
  /// Whether the object is complete; no byte may follow then.
  bool is_complete() const { return is_complete_; }

 private:
  enum class Expected : std::uint8_t {
    object,         // the outer one
    value,          // any
    first_key,      // or the end of the object
    key,            // after a comma
    colon,          //
    first_element,  // or the end of the array
    next,           // a comma or the end of the container
    character,      // of a string
    escape,         // after a backslash
    hex_digit,      // `left_` of them
    letter,         // of a word, `word_`
    digit,          // at least one: after "-", ".", "e", …
    more_digits,    // of a number, in part `part_`
  };
  enum class Part : std::uint8_t { zero, integer, fraction, exponent };

  bool is_in_array() const { return ((is_array_ >> (depth_ - 1)) & 1U) != 0; }
  bool begin_value(char byte);
  bool open(char byte);
  bool close(char byte);
  bool continue_string(char byte);
  bool continue_number(char byte);

  Expected expected_ = Expected::object;
  bool is_complete_ = false;
  bool is_key_ = false;         // of the string that is being read
  Part part_ = Part::integer;   // of the number
  int left_ = 0;                // hex digits
  bool may_sign_ = false;       // an exponent
  int spaces_ = 0;              // read one after another
  int depth_ = 0;               // open containers
  std::uint64_t is_array_ = 0;  // a bit for each of them
  std::string_view word_ = {};  // the rest of true, false or null
};

/// The rule and the end of texts that are JSON objects.
struct JsonRule {
  Rule rule;
  std::function<bool(std::span<const std::int32_t> tokens)> stop;  ///< SearchPlan::stop
};

/// For texts after a prompt. The tokenizer must outlive it. Throws heed::Error if the vocabulary
/// cannot write an object.
JsonRule require_json(const Tokenizer& tokenizer, std::span<const std::int32_t> prompt);

}  // namespace heed
