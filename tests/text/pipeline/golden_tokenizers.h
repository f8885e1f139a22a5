// Compares tokenizers with the package `tokenizers`: tests/golden/tokenizers/NAME.json, made by
// tools/golden/hf_tokenizers.py.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "tests/support/paths.h"

namespace heed::test {

inline io::Value read_golden_tokenizers(const std::string& name) {
  const std::string path = golden_path("tokenizers/" + name + ".json").string();
  return io::parse_json(io::read_file(path, 1 << 24), path);
}

inline const io::Value& member(const io::Value& table, std::string_view key) {
  return *io::find(*table.table(), key);
}

inline std::vector<std::int64_t> numbers(const io::Value& list) {
  std::vector<std::int64_t> all;
  for (const io::Value& item : *list.list()) all.push_back(*item.integer());
  return all;
}

// Spans in characters, flat, as the package gives them.
inline std::vector<std::int64_t> character_offsets(std::string_view text,
                                                   const Encoding& encoding) {
  const auto count = [&](std::uint32_t bytes) {
    std::int64_t characters = 0;
    for (const char c : text.substr(0, bytes)) {
      characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }
    return characters;
  };
  std::vector<std::int64_t> flat;
  for (const TextSpan& span : encoding.spans) {
    flat.push_back(count(span.begin));
    flat.push_back(count(span.end));
  }
  return flat;
}

inline std::vector<std::int64_t> wide(const std::vector<std::int32_t>& ids) {
  return {ids.begin(), ids.end()};
}

// Compares one tokenizer with the results of one entry of a golden file.
inline void expect_golden(const HfTokenizer& tokenizer, const io::Value& entry,
                          const io::Value& lines) {
  const std::string& name = *member(entry, "name").string();
  for (std::size_t i = 0; i < lines.list()->size(); ++i) {
    const std::string& line = *(*lines.list())[i].string();
    const io::Value& result = (*member(entry, "results").list())[i];
    if (result.is_null()) continue;
    SCOPED_TRACE(name + ": " + io::in_quotes(line));
    const Encoding plain = tokenizer.encode_with_spans(line, false);
    EXPECT_EQ(character_offsets(line, plain), numbers(member(result, "offsets")));
    if (io::find(*result.table(), "ids") == nullptr) continue;
    EXPECT_EQ(wide(plain.ids), numbers(member(result, "ids")));
    EXPECT_EQ(tokenizer.encode(line), plain.ids);
    const Encoding full = tokenizer.encode_with_spans(line);
    EXPECT_EQ(wide(full.ids), numbers(member(result, "full")));
    EXPECT_EQ(character_offsets(line, full), numbers(member(result, "full_offsets")));
    EXPECT_EQ(tokenizer.decode(full.ids), *member(result, "text").string());
    EXPECT_EQ(tokenizer.decode(full.ids, false), *member(result, "full_text").string());
  }
}

// Compares all tokenizers of a golden file.
inline void expect_golden_file(const std::string& file) {
  const io::Value golden = read_golden_tokenizers(file);
  for (const io::Value& entry : *member(golden, "tokenizers").list()) {
    const auto tokenizer = HfTokenizer::parse(io::write_json(member(entry, "tokenizer"), false),
                                              *member(entry, "name").string());
    expect_golden(*tokenizer, entry, member(golden, "lines"));
  }
}

/// The entry with a name.
inline const io::Value& golden_entry(const io::Value& golden, std::string_view name) {
  for (const io::Value& entry : *member(golden, "tokenizers").list()) {
    if (*member(entry, "name").string() == name) return entry;
  }
  throw std::runtime_error("no such tokenizer");
}

}  // namespace heed::test
