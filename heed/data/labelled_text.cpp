#include "heed/data/labelled_text.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"
#include "heed/tensor/create.h"
#include "heed/tensor/padding.h"

namespace heed {
namespace {

struct LabelledLine {
  std::string_view label, text;
};

std::optional<LineFault> split(std::string_view line, LabelledLine& parts) {
  if (auto fault = find_fault(line, std::numeric_limits<std::size_t>::max())) return fault;
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || tab == 0) {
    return LineFault{BadLine::columns, "has no label and tab before its text"};
  }
  parts = {line.substr(0, tab), line.substr(tab + 1)};
  return find_fault(parts.text, std::numeric_limits<std::size_t>::max());
}

// Indices of labels: those given, or numbered by first appearance until the file is read.
class Labels {
 public:
  explicit Labels(const std::vector<std::string>& given) : fixed_(!given.empty()) {
    for (const std::string& name : given) numbers_.emplace(name, next());
  }
  std::optional<std::int32_t> number(std::string_view label) {
    const auto found = numbers_.find(label);
    if (found != numbers_.end()) return found->second;
    if (fixed_) return std::nullopt;
    return numbers_.emplace(label, next()).first->second;
  }
  // Sorts labels that were taken from the file, so that their indices do not depend on the order of
  // lines.
  std::vector<std::string> finish(std::vector<std::int32_t>& labels) {
    std::vector<std::string> names(numbers_.size());
    std::vector<std::int32_t> renumbered(numbers_.size());
    std::int32_t sorted = 0;
    for (const auto& [name, number] : numbers_) {
      const std::int32_t place = fixed_ ? number : sorted++;
      names[static_cast<std::size_t>(place)] = name;
      renumbered[static_cast<std::size_t>(number)] = place;
    }
    for (std::int32_t& label : labels) label = renumbered[static_cast<std::size_t>(label)];
    return names;
  }

 private:
  std::int32_t next() const { return static_cast<std::int32_t>(numbers_.size()); }

  bool fixed_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace

LabelledCorpus read_labelled(const std::filesystem::path& path, const Tokenizer& tokenizer,
                             const LabelledOptions& options) {
  io::LineReader reader(path);
  LabelledCorpus corpus;
  corpus.special = tokenizer.special();
  Labels labels(options.labels);
  for (std::string line; reader.next(line);) {
    LabelledLine parts;
    auto fault = split(line, parts);
    const auto label = fault ? std::nullopt : labels.number(parts.label);
    if (!fault && !label) {
      fault = LineFault{BadLine::columns,
                        fmt::format("has the unknown label {}", io::in_quotes(parts.label))};
    }
    if (fault) {
      corpus.bad.add(*fault, reader.place(), options.on_bad);
      continue;
    }
    std::vector<std::int32_t> tokens =
        options.read ? options.read(parts.text) : tokenizer.encode(parts.text);
    if (!options.read && options.begin) tokens.insert(tokens.begin(), corpus.special.begin);
    if (options.max_length > 0 && std::ssize(tokens) > options.max_length) {
      tokens.resize(static_cast<std::size_t>(options.max_length));
      ++corpus.cut;
    }
    corpus.texts.add(tokens);
    corpus.labels.push_back(*label);
  }
  corpus.names = labels.finish(corpus.labels);
  return corpus;
}

std::vector<std::string> read_labels(const std::filesystem::path& path, OnBad on_bad) {
  io::LineReader reader(path);
  std::set<std::string, std::less<>> labels;
  BadLines bad;
  for (std::string line; reader.next(line);) {
    LabelledLine parts;
    if (const auto fault = split(line, parts)) {
      bad.add(*fault, reader.place(), on_bad);
    } else {
      labels.emplace(parts.label);
    }
  }
  return {labels.begin(), labels.end()};
}

LabelledBatch make_batch(const LabelledCorpus& corpus, std::span<const std::int32_t> texts) {
  std::vector<std::span<const std::int32_t>> rows;
  Tensor labels = empty({static_cast<std::int64_t>(texts.size())}, DType::i64);
  std::int64_t* label = labels.mutable_data<std::int64_t>();
  for (const std::int32_t text : texts) {
    rows.push_back(corpus.texts[text]);
    *label++ = corpus.labels[static_cast<std::size_t>(text)];
  }
  PaddedRows padded = pad_rows(rows, corpus.special.padding);
  return {std::move(padded.tokens), std::move(padded.lengths), std::move(labels), padded.total};
}

std::vector<PairLength> lengths_of(const LabelledCorpus& corpus) {
  std::vector<PairLength> all;
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    all.push_back({static_cast<std::int32_t>(corpus.texts.length(i)), 0});
  }
  return all;
}

LabelledStream::LabelledStream(std::shared_ptr<const LabelledCorpus> corpus,
                               const BatchingOptions& options, std::size_t ahead)
    : EpochStream({.plan = [lengths = lengths_of(*corpus), options](
                               std::int64_t epoch) { return plan_epoch(lengths, options, epoch); },
                   .make = [corpus](std::span<const std::int32_t> rows,
                                    std::int64_t) { return make_batch(*corpus, rows); }},
                  ahead) {}

}  // namespace heed
