#include "heed/data/captioned_pictures.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"
#include "heed/io/lines.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& path) {
  io::LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

// "3,4,28,28" or "-"; false if it is neither.
bool parse_box(std::string_view text, std::optional<PixelBox>& box) {
  if (text == "-") return true;
  std::array<std::int64_t, 4> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ',')) return false;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] < 0 || numbers[i] > kMaxPictureSide) return false;
    at = next;
  }
  box = {numbers[0], numbers[1], numbers[2], numbers[3]};
  return at == end;
}

}  // namespace

std::vector<std::string> read_captions(const fs::path& path, std::int64_t pictures) {
  std::vector<std::string> captions = lines_of(path);
  HEED_CHECK(std::ssize(captions) == pictures,
             "[captions] {} has {} lines for {} pictures: there must be one for each",
             path.string(), captions.size(), pictures);
  for (std::size_t i = 0; i < captions.size(); ++i) {
    HEED_CHECK(!unicode::split_words(captions[i]).empty(),
               "[captions] {}:{} is empty: a caption must have words", path.string(), i + 1);
    HEED_CHECK(unicode::make_valid(captions[i]) == captions[i], "[captions] {}:{} is not UTF-8",
               path.string(), i + 1);
  }
  return captions;
}

CaptionedPictures read_captioned(const fs::path& pictures, const fs::path& captions) {
  CaptionedPictures data{.pictures = read_idx_pictures(pictures), .captions = {}};
  data.captions = read_captions(captions, data.pictures.size());
  return data;
}

// ---- boxes --------------------------------------------------------------------------------------

std::string boxes_line(const WordBoxes& boxes) {
  std::string line;
  for (const std::optional<PixelBox>& box : boxes) {
    if (!line.empty()) line += ' ';
    line += box ? fmt::format("{},{},{},{}", box->top, box->left, box->height, box->width) : "-";
  }
  return line;
}

std::vector<WordBoxes> read_boxes(const fs::path& path, const std::vector<std::string>& captions) {
  const std::vector<std::string> lines = lines_of(path);
  HEED_CHECK(lines.size() == captions.size(), "[boxes] {} has {} lines for {} captions",
             path.string(), lines.size(), captions.size());
  std::vector<WordBoxes> all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    WordBoxes& boxes = all.emplace_back();
    for (const std::string_view entry : unicode::split_words(lines[i])) {
      HEED_CHECK(parse_box(entry, boxes.emplace_back()),
                 "[boxes] {}:{} has '{}': an entry must be top,left,height,width or -",
                 path.string(), i + 1, entry);
    }
    const std::size_t words = unicode::split_words(captions[i]).size();
    HEED_CHECK(boxes.size() == words, "[boxes] {}:{} has {} entries, its caption {} words",
               path.string(), i + 1, boxes.size(), words);
  }
  return all;
}

double weight_inside(const std::vector<float>& weights, std::array<std::int64_t, 2> cells,
                     const PictureShape& shape, const PixelBox& box) {
  HEED_ASSERT(std::ssize(weights) == cells[0] * cells[1]);
  // The share of the i-th of n parts of a side that lies in [begin, begin + size).
  const auto share = [](std::int64_t i, std::int64_t n, std::int64_t side, std::int64_t begin,
                        std::int64_t size) {
    const double part = static_cast<double>(side) / static_cast<double>(n);
    const double from = std::max(part * static_cast<double>(i), static_cast<double>(begin));
    const double to =
        std::min(part * static_cast<double>(i + 1), static_cast<double>(begin + size));
    return std::max(0.0, to - from) / part;
  };
  double inside = 0.0;
  for (std::int64_t r = 0; r < cells[0]; ++r) {
    for (std::int64_t c = 0; c < cells[1]; ++c) {
      inside += weights[static_cast<std::size_t>(r * cells[1] + c)] *
                share(r, cells[0], shape.height, box.top, box.height) *
                share(c, cells[1], shape.width, box.left, box.width);
    }
  }
  return inside;
}

// ---- made pictures ------------------------------------------------------------------------------

namespace {

constexpr std::size_t kQuarters = 4;

struct Template {
  std::array<std::string_view, kQuarters> places;  // in reading order
  std::array<std::string_view, 10> digits;
};

constexpr Template kEnglish{
    {"top left", "top right", "bottom left", "bottom right"},
    {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}};
constexpr Template kChinese{{"左上", "右上", "左下", "右下"},
                            {"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"}};

// The word for a class: digits are written out, other names stay as they are.
std::string word_of(const std::string& name, CaptionLanguage language) {
  const Template& words = language == CaptionLanguage::en ? kEnglish : kChinese;
  const bool is_digit = name.size() == 1 && name[0] >= '0' && name[0] <= '9';
  HEED_CHECK(is_digit || language == CaptionLanguage::en,
             "[captions] the class '{}' has no Chinese word: only the digits 0 to 9 have; use "
             "English captions",
             name);
  HEED_CHECK(unicode::split_words(name).size() == 1,
             "[captions] the class '{}' is not one word: rename it", name);
  return is_digit ? std::string(words.digits[static_cast<std::size_t>(name[0] - '0')]) : name;
}

// Appends words, and their box to the last of them if `named`.
void say(ComposedPicture& made, std::string_view words, const std::optional<PixelBox>& box = {}) {
  if (!made.caption.empty()) made.caption += ' ';
  made.caption += words;
  made.boxes.resize(unicode::split_words(made.caption).size());
  made.boxes.back() = box;
}

void say_part(ComposedPicture& made, CaptionLanguage language, const std::string& word,
              std::size_t quarter, const PixelBox& box) {
  const bool is_first = made.caption.empty();
  if (language == CaptionLanguage::zh) {
    if (!is_first) say(made, "，");
    say(made, kChinese.places[quarter]);
    say(made, "是");
    say(made, word, box);
    return;
  }
  if (!is_first) say(made, "and");
  say(made, std::string_view("aeiou").find(word[0]) != std::string_view::npos ? "an" : "a");
  say(made, word, box);
  say(made, "at the");
  say(made, kEnglish.places[quarter]);
}

// Copies the pixels of a picture of the set to a place of another one.
void paste(const PictureSet& set, std::int64_t index, const PixelBox& box, Picture& to) {
  const std::span<const std::uint8_t> from = set.picture(index);
  for (std::int64_t line = 0; line < set.shape.channels * box.height; ++line) {
    const std::int64_t channel = line / box.height, row = line % box.height;
    const std::int64_t at = (channel * to.shape.height + box.top + row) * to.shape.width + box.left;
    std::copy_n(from.begin() + line * box.width, box.width, to.bytes.begin() + at);
  }
}

}  // namespace

ComposedPicture compose_picture(const PictureSet& set, const ComposeOptions& options,
                                std::int64_t number) {
  const auto [channels, height, width] = set.shape;
  const std::int64_t canvas = options.canvas > 0 ? options.canvas : 2 * std::max(height, width);
  const std::int64_t half = canvas / 2;
  HEED_CHECK(half >= std::max(height, width) && canvas <= kMaxPictureSide,
             "[captions] a canvas of {} pixels has quarters of {}: pictures of {} x {} do not fit; "
             "give at least {}",
             canvas, half, height, width, 2 * std::max(height, width));
  HEED_CHECK(options.most >= 1 && std::cmp_less_equal(options.most, kQuarters),
             "[captions] {} pictures in one: there are 1 to {} quarters", options.most, kQuarters);
  const RandomStream random = data_stream(options.seed, DataPurpose::captions, number);
  std::uint64_t next = 0;
  const auto draw = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random.below(next++, static_cast<std::uint32_t>(bound)));
  };
  std::array<std::size_t, kQuarters> quarters = {0, 1, 2, 3};
  for (std::size_t i = kQuarters; i > 1; --i) {
    std::swap(quarters[i - 1], quarters[static_cast<std::size_t>(draw(std::int64_t(i)))]);
  }
  const auto count = static_cast<std::size_t>(1 + draw(options.most));
  std::array<bool, kQuarters> is_taken{};
  for (std::size_t i = 0; i < count; ++i) is_taken[quarters[i]] = true;
  ComposedPicture made{.picture = {{channels, canvas, canvas}, {}}, .caption = {}, .boxes = {}};
  made.picture.bytes.assign(static_cast<std::size_t>(made.picture.shape.bytes()), 0);
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
    if (!is_taken[quarter]) continue;
    const std::int64_t index = draw(set.size());
    const PixelBox box{
        .top = half * static_cast<std::int64_t>(quarter / 2) + draw(half - height + 1),
        .left = half * static_cast<std::int64_t>(quarter % 2) + draw(half - width + 1),
        .height = height,
        .width = width};
    paste(set, index, box, made.picture);
    const auto label = static_cast<std::size_t>(set.labels[static_cast<std::size_t>(index)]);
    say_part(made, options.language, word_of(set.names[label], options.language), quarter, box);
  }
  return made;
}

}  // namespace heed
