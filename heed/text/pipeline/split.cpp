#include "heed/text/pipeline/split.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace heed::pipeline {
namespace {

constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kBehaviors = {
    {{"removed", SplitBehavior::removed},
     {"isolated", SplitBehavior::isolated},
     {"mergedwithprevious", SplitBehavior::merged_with_previous},
     {"mergedwithnext", SplitBehavior::merged_with_next},
     {"contiguous", SplitBehavior::contiguous}}};

// Joins a delimiter to the part before it, unless that is a delimiter too.
void merge_with_previous(std::vector<Match>& parts) {
  std::size_t out = 0;
  bool after_match = false;
  for (const Match& part : parts) {
    if (part.matched && !after_match && out > 0) {
      parts[out - 1].end = part.end;
    } else {
      parts[out++] = part;
    }
    after_match = part.matched;
  }
  parts.resize(out);
}

void merge_with_next(std::vector<Match>& parts) {
  std::vector<Match> reversed;
  bool before_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->matched && !before_match && !reversed.empty()) {
      reversed.back().begin = part->begin;
    } else {
      reversed.push_back(*part);
    }
    before_match = part->matched;
  }
  parts.assign(reversed.rbegin(), reversed.rend());
}

void join_contiguous(std::vector<Match>& parts) {
  std::size_t out = 0;
  for (const Match& part : parts) {
    if (out > 0 && parts[out - 1].matched == part.matched) {
      parts[out - 1].end = part.end;
    } else {
      parts[out++] = part;
    }
  }
  parts.resize(out);
}

}  // namespace

SplitBehavior read_behavior(const JsonNode& node) {
  std::string name;
  for (const char c : node.text()) {
    if (c != '_') name += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  for (const auto& [known, behavior] : kBehaviors) {
    if (name == known) return behavior;
  }
  node.refuse("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

void apply_behavior(SplitBehavior behavior, std::vector<Match>& parts) {
  switch (behavior) {
    case SplitBehavior::removed:
      std::erase_if(parts, [](const Match& part) { return part.matched; });
      break;
    case SplitBehavior::isolated:
      break;
    case SplitBehavior::merged_with_previous:
      merge_with_previous(parts);
      break;
    case SplitBehavior::merged_with_next:
      merge_with_next(parts);
      break;
    case SplitBehavior::contiguous:
      join_contiguous(parts);
      break;
  }
}

}  // namespace heed::pipeline
