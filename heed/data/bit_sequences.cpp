#include "heed/data/bit_sequences.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

LineFault bit_fault(std::string what) { return {BadLine::columns, std::move(what)}; }

// A word must have the bits of the first, or `width` if that is not 0.
std::optional<LineFault> add_word(std::string_view word, std::int64_t width,
                                  std::vector<std::string>& words) {
  if (word.find_first_not_of("01") != word.npos) {
    return bit_fault(
        fmt::format("has {} where a vector of 0 and 1 is expected", io::in_quotes(word)));
  }
  const std::int64_t wanted = width > 0 || words.empty() ? width : std::ssize(words[0]);
  if (wanted > 0 && std::ssize(word) != wanted) {
    return bit_fault(fmt::format("has the vector {} of {} bits: there must be {}",
                                 io::in_quotes(word), word.size(), wanted));
  }
  words.emplace_back(word);
  return {};
}

void write_bits(const std::vector<std::string>& words, float* to) {
  for (const std::string& word : words) {
    for (const char bit : word) *to++ = bit == '1' ? 1.0f : 0.0f;
  }
}

std::int64_t steps_of(const BitSequence& sequence, std::int64_t length) {
  return std::ssize(sequence.input) + (sequence.has_output ? std::ssize(sequence.output) : length);
}

}  // namespace

std::optional<LineFault> parse_bits(std::string_view line, const BitWidths& widths,
                                    BitSequence& sequence) {
  sequence = {};
  if (auto found = find_fault(line, std::numeric_limits<std::size_t>::max())) return found;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) break;
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    line.remove_prefix(word.size());
    if (word == "output" && !sequence.has_output) {
      sequence.has_output = true;
      continue;
    }
    auto& words = sequence.has_output ? sequence.output : sequence.input;
    const std::int64_t width = sequence.has_output ? widths.output : widths.input;
    if (auto found = add_word(word, width, words)) return found;
  }
  if (sequence.input.empty()) return bit_fault("has no vector to read");
  return {};
}

std::string bits_line(const BitSequence& sequence) {
  std::string line = fmt::format("{}", fmt::join(sequence.input, " "));
  if (sequence.has_output) line += " output";
  for (const std::string& word : sequence.output) line += " " + word;
  return line;
}

BitCorpus read_bits(const std::filesystem::path& path, const BitWidths& widths, OnBad on_bad) {
  io::LineReader reader(path);
  BitCorpus corpus{.widths = widths};
  BitSequence sequence;
  for (std::string line; reader.next(line);) {
    auto found = parse_bits(line, corpus.widths, sequence);
    if (!found && sequence.output.empty()) {
      found = bit_fault("has no \"output\" with the vectors to write");
    }
    if (found) {
      corpus.bad.add(*found, reader.place(), on_bad);
      continue;
    }
    corpus.widths = {std::ssize(sequence.input[0]), std::ssize(sequence.output[0])};
    corpus.sequences.push_back(std::move(sequence));
  }
  return corpus;
}

BitBatch make_batch(std::span<const BitSequence* const> sequences, const BitWidths& widths,
                    std::int64_t length) {
  const std::int64_t B = std::ssize(sequences), I = widths.input, O = widths.output;
  std::int64_t T = 0;
  for (const BitSequence* const one : sequences) T = std::max(T, steps_of(*one, length));
  BitBatch batch{.input = zeros({B, T, I}), .output = zeros({B, T, O}), .counts = zeros({B, T, 1})};
  for (std::int64_t b = 0; b < B; ++b) {
    const BitSequence& one = *sequences[static_cast<std::size_t>(b)];
    const std::int64_t read = std::ssize(one.input), all = steps_of(one, length);
    write_bits(one.input, batch.input.mutable_data<float>() + b * T * I);
    write_bits(one.output, batch.output.mutable_data<float>() + (b * T + read) * O);
    std::fill_n(batch.counts.mutable_data<float>() + b * T + read, all - read, 1.0f);
    batch.steps += all;
    batch.bits += (all - read) * O;
  }
  return batch;
}

BitBatch make_batch(const BitCorpus& corpus, std::span<const std::int32_t> sequences) {
  std::vector<const BitSequence*> all;
  for (const std::int32_t i : sequences) {
    all.push_back(&corpus.sequences[static_cast<std::size_t>(i)]);
  }
  return make_batch(all, corpus.widths);
}

std::vector<PairLength> lengths_of(const BitCorpus& corpus) {
  std::vector<PairLength> all;
  for (const BitSequence& one : corpus.sequences) {
    all.push_back({static_cast<std::int32_t>(steps_of(one, 0)), 0});
  }
  return all;
}

BitStream::BitStream(std::shared_ptr<const BitCorpus> corpus, const BatchingOptions& options,
                     std::size_t ahead)
    : EpochStream({.plan = [lengths = lengths_of(*corpus), options](
                               std::int64_t epoch) { return plan_epoch(lengths, options, epoch); },
                   .make = [corpus](std::span<const std::int32_t> rows,
                                    std::int64_t) { return make_batch(*corpus, rows); }},
                  ahead) {}

}  // namespace heed
