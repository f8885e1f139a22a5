// How well word alignments agree with those of people: the alignment error rate (Och and Ney 2003).
// With A the links of a program, S the sure ones and P the possible ones of people (S among them),
//   precision = |A and P| / |A|,  recall = |A and S| / |S|,
//   AER = 1 - (|A and S| + |A and P|) / (|A| + |S|).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace heed::evaluation {

/// Word number `source` of one side goes with word number `target` of the other.
struct Link {
  std::int32_t source = 0;
  std::int32_t target = 0;
  bool sure = true;

  friend bool operator==(const Link&, const Link&) = default;
};

/// The links of one sentence, sorted, none twice.
using Links = std::vector<Link>;

/// Reads a file of alignments, plain or gzip, in one of two forms, told by its content. Pharaoh's
/// has a line for each sentence: 0-0 1-2 are sure links, 1?2, 1p2 and 1-2? possible ones. That of
/// Och and Ney has a line for each link: sentence (from 1), source, target, and S or P, S if left
/// out; it has as many sentences as the greatest of the numbers says. `first` is the number that
/// the file gives to a sentence's first word, 0 or 1.
std::vector<Links> read_alignments(const std::filesystem::path& path, std::int32_t first);

/// The same of a text in memory; `source` names it in messages.
std::vector<Links> parse_alignments(std::string_view text, std::string_view source,
                                    std::int32_t first);

struct AlignmentScore {
  double error_rate = 0;  ///< All from 0 to 1.
  double precision = 0;
  double recall = 0;
  std::int64_t links = 0;     ///< |A|
  std::int64_t sure = 0;      ///< |S|
  std::int64_t possible = 0;  ///< |P|
};

/// The score over all sentences together; in `found`, sure and possible links count alike.
AlignmentScore score_alignments(std::span<const Links> gold, std::span<const Links> found);

}  // namespace heed::evaluation
