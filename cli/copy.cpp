// heed copy: what a model of algorithmic tasks writes after sequences of bits.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/bit_sequences.h"
#include "heed/training/copying_job.h"

namespace heed::cli {
namespace {

struct CopyFlags {
  ModelFlags model;
  FilterFlags filter;
  std::int64_t length = 20;
  std::int64_t batch = 64;
};

// Collects sequences, and writes a line for each when there are enough for a batch.
class BitWriter {
 public:
  BitWriter(const BitMachine& machine, const CopyFlags& flags)
      : machine_(machine),
        flags_(flags),
        widths_{machine.model->inputs(), machine.model->outputs()},
        output_(flags.filter.output) {}

  void add(const std::string& line, const std::string& place) {
    BitSequence sequence;
    if (const auto fault = parse_bits(line, widths_, sequence)) {
      if (flags_.filter.policy() == OnBadLine::stop) fail("[copy] {} {}", place, fault->what);
      sequence = {};  // an empty line, so that lines keep their numbers
    }
    waiting_.push_back(std::move(sequence));
    if (std::ssize(waiting_) == flags_.batch) flush();
  }
  void flush() {
    check_signals();
    std::vector<const BitSequence*> known;
    for (const BitSequence& one : waiting_) {
      if (!one.input.empty()) known.push_back(&one);
    }
    std::vector<std::string> lines;
    if (!known.empty()) lines = written(known);
    std::size_t next = 0;
    for (const BitSequence& one : waiting_) {
      output_.write(one.input.empty() ? "\n" : lines[next++]);
    }
    waiting_.clear();
  }
  void finish() {
    output_.commit();
    if (judged_ == 0) return;
    const auto judged = static_cast<double>(judged_);
    print_note(fmt::format("accuracy {:.2f} %, {} of {} sequences; {:.3f} wrong bits a sequence",
                           100.0 * static_cast<double>(right_) / judged, right_, judged_,
                           static_cast<double>(errors_) / judged));
  }

 private:
  // A line of vectors for each sequence.
  std::vector<std::string> written(const std::vector<const BitSequence*>& sequences) {
    const BitBatch batch = make_batch(sequences, widths_, flags_.length);
    const Tensor bits = written_bits(*machine_.model, batch.input);  // [B, T, O]
    const std::vector<std::int64_t> wrong = wrong_bits(bits, batch);
    const std::span<const float> values = bits.values<float>();
    const auto T = static_cast<std::size_t>(bits.size(1));
    const auto O = static_cast<std::size_t>(widths_.output);
    std::vector<std::string> lines;
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const BitSequence& one = *sequences[b];
      const std::size_t begin = one.input.size();
      const std::size_t count =
          one.has_output ? one.output.size() : static_cast<std::size_t>(flags_.length);
      std::string line;
      for (std::size_t t = begin; t < begin + count; ++t) {
        if (!line.empty()) line += ' ';
        for (std::size_t i = 0; i < O; ++i) line += values[(b * T + t) * O + i] > 0 ? '1' : '0';
      }
      lines.push_back(line + "\n");
      if (!one.has_output) continue;
      ++judged_;
      right_ += wrong[b] == 0 ? 1 : 0;
      errors_ += wrong[b];
    }
    return lines;
  }

  const BitMachine& machine_;
  const CopyFlags& flags_;
  BitWidths widths_;
  Output output_;
  std::vector<BitSequence> waiting_;
  std::int64_t judged_ = 0, right_ = 0, errors_ = 0;
};

void copy_all(const CopyFlags& flags) {
  flags.model.set_threads();
  const BitMachine machine = load_bit_machine(flags.model.folder, flags.model.form());
  TextLines lines(flags.filter.input, flags.filter.policy());
  BitWriter writer(machine, flags);
  feed_lines(
      lines, [&](const std::string& line) { writer.add(line, lines.place()); },
      [&] { writer.flush(); });
  writer.finish();
}

}  // namespace

void add_copy(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("copy", "Continue sequences of bits with a model of algorithmic tasks");
  const auto flags = std::make_shared<CopyFlags>();
  add_model_flags(*verb, flags->model, "the folder of a model of algorithmic tasks");
  add_filter_flags(*verb, flags->filter,
                   "sequences, a line each: vectors of 0 and 1 to read; with \"output\" and the "
                   "right vectors after them, wrong bits are counted");
  verb->add_option("--length", flags->length, "vectors to write for a line without output")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  verb->add_option("--batch", flags->batch, "sequences computed together")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->capture_default_str();
  verb->callback([flags] { run_filter([&] { copy_all(*flags); }); });
}

}  // namespace heed::cli
