#include "heed/generation/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/lines.h"
#include "heed/io/printable.h"

namespace heed {
namespace {

constexpr std::string_view kNoSource = "NULL";  // explains targets that translate nothing
constexpr std::string_view kSpaces = " \t";

// The tokens of a tokenizer by their pieces; of equal pieces the first.
class Pieces {
 public:
  Pieces(const Tokenizer& tokenizer, const char* side) : side_(side) {
    for (std::int32_t id = 0; id < tokenizer.size(); ++id) ids_.emplace(tokenizer.piece(id), id);
  }
  std::int32_t find(const std::string& piece, const io::LineReader& reader) const {
    const auto found = ids_.find(piece);
    HEED_CHECK(found != ids_.end(),
               "[shortlist] {}: '{}' is not a {} token of the model: the list belongs to another "
               "vocabulary; make one with `heed shortlist`",
               reader.place(), io::printable(piece), side_);
    return found->second;
  }

 private:
  std::unordered_map<std::string, std::int32_t> ids_;
  const char* side_;
};

// The three fields of a line.
std::array<std::string_view, 3> split(std::string_view line, const io::LineReader& reader) {
  std::array<std::string_view, 3> fields;
  std::size_t count = 0;
  for (std::size_t begin = line.find_first_not_of(kSpaces); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    if (count < fields.size()) fields[count] = line.substr(begin, end - begin);
    ++count;
    begin = line.find_first_not_of(kSpaces, end);
  }
  HEED_CHECK(count == fields.size(),
             "[shortlist] {}: {} fields instead of 3: a line is \"target source probability\"",
             reader.place(), count);
  return fields;
}

double probability_of(std::string_view text, const io::LineReader& reader) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  HEED_CHECK(
      error == std::errc() && end == text.data() + text.size() && value >= 0.0 && value <= 1.0,
      "[shortlist] {}: '{}' is not a probability: it must be a number from 0 to 1", reader.place(),
      io::printable(text));
  return value;
}

bool has_space(std::string_view piece) {
  return piece.empty() || piece.find_first_of(" \t\r\n\v\f") != piece.npos;
}

}  // namespace

void ShortlistOptions::fields(io::Fields& field) {
  field("shortlist_best", best, "translations of each source token that are candidates",
        {.min = 1});
  field("shortlist_common", common, "tokens that are candidates in every sentence", {.min = 0});
}

Shortlist::Shortlist(std::vector<LexicalEntry> entries, const ShortlistOptions& options) {
  io::check_limits(options, "shortlist");
  std::ranges::stable_sort(entries, [](const LexicalEntry& a, const LexicalEntry& b) {
    return a.source != b.source ? a.source < b.source : a.probability > b.probability;
  });
  std::map<std::int32_t, double> sums;
  for (const LexicalEntry& entry : entries) sums[entry.target] += entry.probability;
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end = std::find_if(begin, entries.end(), [&](const LexicalEntry& entry) {
      return entry.source != begin->source;
    });
    // The tokens since the last one have no targets.
    starts_.resize(static_cast<std::size_t>(begin->source) + 1, std::ssize(targets_));
    const auto kept = begin + std::min<std::ptrdiff_t>(end - begin, options.best);
    std::transform(begin, kept, std::back_inserter(targets_),
                   [](const LexicalEntry& entry) { return entry.target; });
    starts_.push_back(std::ssize(targets_));
    ++known_;
    begin = end;
  }
  std::vector<std::pair<std::int32_t, double>> frequent(sums.begin(), sums.end());
  std::ranges::stable_sort(frequent, std::greater<>(), [](const auto& sum) { return sum.second; });
  frequent.resize(std::min(frequent.size(), static_cast<std::size_t>(options.common)));
  for (const auto& [token, sum] : frequent) common_.push_back(token);
  std::ranges::sort(common_);
}

std::optional<std::vector<std::int32_t>> Shortlist::candidates(
    std::span<const std::int32_t> sentence) const {
  std::vector<std::int32_t> all = common_;
  for (const std::int32_t token : sentence) {
    const auto at = static_cast<std::size_t>(token);
    if (token < 0 || at + 1 >= starts_.size() || starts_[at] == starts_[at + 1]) return {};
    all.insert(all.end(), targets_.begin() + starts_[at], targets_.begin() + starts_[at + 1]);
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

Shortlist load_shortlist(const std::filesystem::path& path, const Tokenizer& source,
                         const Tokenizer& target, const ShortlistOptions& options) {
  const Pieces sources(source, "source"), targets(target, "target");
  io::LineReader reader(path);
  std::vector<LexicalEntry> entries;
  for (std::string line; reader.next(line);) {
    const auto [to, from, probability] = split(line, reader);
    if (from == kNoSource) continue;
    entries.push_back({sources.find(std::string(from), reader),
                       targets.find(std::string(to), reader), probability_of(probability, reader)});
  }
  HEED_CHECK(!entries.empty(), "[shortlist] {} has no entries: make it with `heed shortlist`",
             reader.name());
  return {std::move(entries), options};
}

void save_shortlist(const std::filesystem::path& path, std::span<const LexicalEntry> entries,
                    const Tokenizer& source, const Tokenizer& target) {
  io::AtomicFile file(path);
  for (const auto& [from, to, probability] : entries) {
    const std::string source_piece = source.piece(from), target_piece = target.piece(to);
    if (has_space(source_piece) || has_space(target_piece)) continue;
    file.write(fmt::format("{} {} {:.6g}\n", target_piece, source_piece, probability));
  }
  file.commit();
}

}  // namespace heed
