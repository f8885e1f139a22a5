// The alignment error rate (Och and Ney 2003): how well word alignments agree with those of human
// annotators. With A the links of a program, S the sure and P the possible links of the annotators
// (P includes S),
//   precision = |A and P| / |A|,  recall = |A and S| / |S|,
//   AER = 1 - (|A and S| + |A and P|) / (|A| + |S|).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace heed::evaluation {

/// A link between word `source` of the source sentence and word `target` of the target sentence.
struct Link {
  std::int32_t source = 0;
  std::int32_t target = 0;
  bool sure = true;

  friend bool operator==(const Link&, const Link&) = default;
};

/// The links of one sentence, sorted, without duplicates.
using Links = std::vector<Link>;

/// Reads a file of alignments, plain or gzip, in one of two formats; the content decides which. The
/// Pharaoh format has one line per sentence: 0-0 1-2 are sure links; 1?2, 1p2 and 1-2? are possible
/// ones. The format of Och and Ney has one line per link: sentence (from 1), source, target, and S
/// or P (default S); the greatest sentence number is the number of sentences. `first` is the number
/// of the first word of a sentence in the file, 0 or 1.
std::vector<Links> read_alignments(const std::filesystem::path& path, std::int32_t first);

/// The same for a text in memory; `source` names it in messages.
std::vector<Links> parse_alignments(std::string_view text, std::string_view source,
                                    std::int32_t first);

/// Alignment error rate, precision and recall, and the numbers of links.
struct AlignmentScore {
  double error_rate = 0;  ///< All from 0 to 1.
  double precision = 0;
  double recall = 0;
  std::int64_t links = 0;     ///< |A|
  std::int64_t sure = 0;      ///< |S|
  std::int64_t possible = 0;  ///< |P|
};

/// The score over all sentences together. All links in `found` count alike, sure or possible.
AlignmentScore score_alignments(std::span<const Links> gold, std::span<const Links> found);

}  // namespace heed::evaluation
