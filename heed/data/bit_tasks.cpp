#include "heed/data/bit_tasks.h"

#include "heed/base/error.h"
#include "heed/data/shuffle.h"

namespace heed {
namespace {

constexpr std::int64_t kItem = 3;  // vectors of an item of recall

// Random numbers of one sequence, one after another.
class BitDraws {
 public:
  explicit BitDraws(const RandomStream& random) : random_(random) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + random_.below(next_++, static_cast<std::uint32_t>(high - low + 1));
  }
  std::string word(std::int64_t bits) {
    std::string text(static_cast<std::size_t>(bits), '0');
    for (char& bit : text) bit = random_.below(next_++, 2) == 1 ? '1' : '0';
    return text;
  }

 private:
  RandomStream random_;
  std::uint64_t next_ = 0;
};

std::string blank(std::int64_t bits) { return std::string(static_cast<std::size_t>(bits), '0'); }

BitSequence make_copy(const BitTaskOptions& options, BitDraws& draws) {
  BitSequence made{.input = {}, .output = {}, .has_output = true};
  const std::int64_t length = draws.between(options.min_length, options.max_length);
  for (std::int64_t i = 0; i < length; ++i) made.output.push_back(draws.word(options.bits));
  for (const std::string& word : made.output) made.input.push_back(word + "0");
  made.input.push_back(blank(options.bits) + "1");
  return made;
}

BitSequence make_repeat(const BitTaskOptions& options, BitDraws& draws) {
  BitSequence made = make_copy(options, draws);
  const std::vector<std::string> once = std::move(made.output);
  const std::int64_t repeats = draws.between(1, options.max_repeats);
  std::string& mark = made.input.back();
  for (std::int64_t i = 0; i < options.bits; ++i) {
    mark[static_cast<std::size_t>(i)] = (repeats >> i) % 2 == 1 ? '1' : '0';
  }
  made.output.clear();
  for (std::int64_t i = 0; i < repeats; ++i) {
    for (const std::string& word : once) made.output.push_back(word + "0");
  }
  made.output.push_back(blank(options.bits) + "1");
  return made;
}

BitSequence make_recall(const BitTaskOptions& options, BitDraws& draws) {
  BitSequence made{.input = {}, .output = {}, .has_output = true};
  const std::int64_t items = draws.between(options.min_length, options.max_length);
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < items * kItem; ++i) words.push_back(draws.word(options.bits));
  const auto add_item = [&](std::int64_t item) {
    for (std::int64_t i = item * kItem; i < (item + 1) * kItem; ++i) {
      made.input.push_back(words[static_cast<std::size_t>(i)] + "00");
    }
  };
  for (std::int64_t item = 0; item < items; ++item) {
    made.input.push_back(blank(options.bits) + "10");
    add_item(item);
  }
  const std::int64_t asked = draws.between(0, items - 2);
  made.input.push_back(blank(options.bits) + "01");
  add_item(asked);
  made.input.push_back(blank(options.bits) + "01");
  const auto from = words.begin() + (asked + 1) * kItem;
  made.output.assign(from, from + kItem);
  return made;
}

}  // namespace

BitSequence make_bit_sequence(const BitTaskOptions& options, std::int64_t number) {
  const std::int64_t least = options.task == BitTask::recall ? 2 : 1;
  HEED_CHECK(
      options.bits >= 1 && options.min_length >= least && options.max_length >= options.min_length,
      "[corpus] vectors of {} bits, lengths from {} to {}: there must be at least 1 bit and "
      "a length of {}, and the first length is the smaller one",
      options.bits, options.min_length, options.max_length, least);
  HEED_CHECK(options.task != BitTask::repeat ||
                 (options.max_repeats >= 1 &&
                  (options.bits >= 62 || options.max_repeats < (std::int64_t{1} << options.bits))),
             "[corpus] up to {} repetitions: {} bits can say from 1 to {}", options.max_repeats,
             options.bits, (std::int64_t{1} << std::min<std::int64_t>(options.bits, 62)) - 1);
  BitDraws draws(data_stream(options.seed, DataPurpose::bits, number));
  switch (options.task) {
    case BitTask::copy:
      return make_copy(options, draws);
    case BitTask::repeat:
      return make_repeat(options, draws);
    case BitTask::recall:
      break;
  }
  return make_recall(options, draws);
}

}  // namespace heed
