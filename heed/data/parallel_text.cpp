#include "heed/data/parallel_text.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

// The column of a line, from 1; nullopt if the line has fewer.
std::optional<std::string_view> column(std::string_view line, int number) {
  for (int skipped = 1; skipped < number; ++skipped) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

}  // namespace

ParallelText::ParallelText(const std::filesystem::path& source, const std::filesystem::path& target,
                           const ParallelTextOptions& options)
    : options_(options), source_(source), target_(std::in_place, target) {
  HEED_CHECK(source != "-" || target != "-",
             "[text] source and target cannot both be standard input: name a file for one");
}

ParallelText::ParallelText(const std::filesystem::path& table, const TextColumns& columns,
                           const ParallelTextOptions& options)
    : options_(options), source_(table), columns_(columns) {
  HEED_CHECK(columns.source >= 1 && columns.target >= 1 && columns.source != columns.target,
             "[text] columns {} and {} of {}: they count from 1 and must differ", columns.source,
             columns.target, source_.name());
}

bool ParallelText::next(TextPair& pair) {
  while (read_lines()) {
    ++report_.lines;
    pair.line = source_.line_number();
    pair.source = source_line_;
    pair.target = target_line_;
    if (!target_ && !split_columns(pair)) continue;
    if (!accept(pair.source, source_.place())) continue;
    if (!accept(pair.target, target_ ? target_->place() : source_.place())) continue;
    ++report_.kept;
    return true;
  }
  return false;
}

bool ParallelText::read_lines() {
  const bool source = source_.next(source_line_);
  if (!target_) return source;
  const bool target = target_->next(target_line_);
  if (source != target) {
    source ? count_unmatched(source_, *target_) : count_unmatched(*target_, source_);
  }
  return source && target;
}

bool ParallelText::split_columns(TextPair& pair) {
  const auto source = column(source_line_, columns_.source);
  const auto target = column(source_line_, columns_.target);
  if (source && target) {
    pair.source = *source;
    pair.target = *target;
    return true;
  }
  const auto tabs = std::count(source_line_.begin(), source_line_.end(), '\t');
  const int needed = std::max(columns_.source, columns_.target);
  report_.bad.add({BadLine::columns, fmt::format("has {} column{} between tabs, not {}", tabs + 1,
                                                 tabs == 0 ? "" : "s", needed)},
                  source_.place(), options_.on_bad);
  return false;
}

bool ParallelText::accept(std::string_view line, const std::string& place) {
  const auto fault = find_fault(line, options_.max_line_bytes);
  if (fault) report_.bad.add(*fault, place, options_.on_bad);
  return !fault;
}

// Called once, after one extra line of the longer file was read.
void ParallelText::count_unmatched(io::LineReader& longer, const io::LineReader& shorter) {
  const std::int64_t common = shorter.line_number();
  HEED_CHECK(options_.on_bad == OnBad::skip,
             "[text] {} has {} lines, {} has more: a sentence and its translation must have the "
             "same line number; fix the files, or use the first {} with on_bad = \"skip\"",
             shorter.name(), common, longer.name(), common);
  for (std::string line; longer.next(line);) {
  }
  report_.unmatched = longer.line_number() - common;
  report_.longer = longer.name();
}

std::string describe(const TextReport& report) {
  std::string text = fmt::format("{} lines, {} kept", report.lines, report.kept);
  if (report.bad.total() > 0) text += ", " + report.bad.describe();
  if (report.unmatched > 0) {
    text += fmt::format(", {} more lines in {} not used", report.unmatched, report.longer);
  }
  return text;
}

}  // namespace heed
