// heed embed: a filter from texts to vectors, one per line; or to the lines that are similar to
// given texts.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/text_filter.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/generation/embed.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"
#include "heed/io/json.h"
#include "heed/io/npy.h"

namespace heed::cli {
namespace {

struct EmbedFlags {
  ModelFlags model;
  FilterFlags files;
  std::string format;
  std::string similarity, similarity_file;
  std::optional<std::string> query_prompt;
  std::int64_t nearest = 0;
  std::vector<std::string> options, ordering;  // "key=value"

  bool compares() const { return !similarity.empty() || !similarity_file.empty(); }
};

// What becomes of lines and their vectors.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void add(const std::string& line, std::span<const float> vector) = 0;
  virtual void commit() = 0;
};

// ---- vectors ------------------------------------------------------------------------------------

class NpyReceiver : public Receiver {
 public:
  NpyReceiver(const std::string& path, std::int64_t columns) : file_(path, columns) {}
  void add(const std::string&, std::span<const float> vector) override {
    check_signals();
    file_.write(vector);
  }
  void commit() override { file_.commit(); }

 private:
  io::NpyFile file_;
};

class VectorReceiver : public Receiver {
 public:
  VectorReceiver(const std::string& path, std::string format)
      : output_(path), format_(std::move(format)) {}

  void add(const std::string& line, std::span<const float> vector) override {
    if (format_ == "raw") {
      const std::span<const std::byte> bytes = std::as_bytes(vector);
      output_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } else if (format_ == "tsv") {
      output_.write(fmt::format("{}\n", fmt::join(vector, "\t")));
    } else {
      output_.write(fmt::format("{{\"text\":{},\"vector\":[{}]}}\n", io::quote_json(line),
                                fmt::join(vector, ",")));
    }
  }
  void commit() override { output_.commit(); }

 private:
  Output output_;
  std::string format_;
};

// ---- similarities -------------------------------------------------------------------------------

// The texts that lines are compared with.
struct Queries {
  std::vector<std::string> texts;
  std::vector<std::vector<float>> vectors;
};

Queries read_queries(const EmbedFlags& flags, const TextEmbedder& embedder, EmbedOptions options) {
  Queries queries;
  if (!flags.similarity.empty()) queries.texts.push_back(flags.similarity);
  if (!flags.similarity_file.empty()) {
    TextLines lines(flags.similarity_file, flags.files.policy());
    for (std::string line; lines.next(line);) queries.texts.push_back(line);
  }
  HEED_CHECK(!queries.texts.empty(), "[embed] {} has no lines to compare with",
             flags.similarity_file);
  if (flags.query_prompt) options.prompt = flags.query_prompt;
  const Tensor vectors = embed_texts(embedder, queries.texts, options);
  const auto E = static_cast<std::size_t>(vectors.size(1));
  for (std::size_t i = 0; i < queries.texts.size(); ++i) {
    const std::span<const float> row = vectors.values<float>().subspan(i * E, E);
    queries.vectors.emplace_back(row.begin(), row.end());
  }
  return queries;
}

// The similarities of each line with all texts.
class SimilarityReceiver : public Receiver {
 public:
  SimilarityReceiver(const std::string& path, Queries queries, bool json)
      : output_(path), queries_(std::move(queries)), json_(json) {}

  void add(const std::string& line, std::span<const float> vector) override {
    std::vector<std::string> numbers;
    for (const std::vector<float>& query : queries_.vectors) {
      numbers.push_back(fmt::format("{:.4f}", cosine(query, vector)));
    }
    if (!json_) {
      output_.write(fmt::format("{}\t{}\n", fmt::join(numbers, "\t"), line));
      return;
    }
    output_.write(fmt::format("{{\"similarity\":[{}],\"text\":{}}}\n", fmt::join(numbers, ","),
                              io::quote_json(line)));
  }
  void commit() override { output_.commit(); }

 private:
  Output output_;
  Queries queries_;
  bool json_;
};

// The lines most similar to each text.
class NearestReceiver : public Receiver {
 public:
  NearestReceiver(const std::string& path, Queries queries, std::int64_t count, bool json)
      : output_(path),
        queries_(std::move(queries)),
        nearest_(queries_.vectors, count),
        json_(json) {}

  void add(const std::string& line, std::span<const float> vector) override {
    check_signals();
    nearest_.add(line, vector);
  }
  void commit() override {
    for (std::size_t q = 0; q < queries_.texts.size(); ++q) {
      for (const NearText& near : nearest_.found()[q])
        output_.write(line_of(queries_.texts[q], near));
    }
    output_.commit();
  }

 private:
  std::string line_of(const std::string& query, const NearText& near) const {
    if (!json_) {
      const bool several = queries_.texts.size() > 1;
      return fmt::format("{}{:.4f}\t{}\n", several ? query + "\t" : "", near.similarity, near.text);
    }
    return fmt::format("{{\"query\":{},\"similarity\":{:.4f},\"line\":{},\"text\":{}}}\n",
                       io::quote_json(query), near.similarity, near.number + 1,
                       io::quote_json(near.text));
  }

  Output output_;
  Queries queries_;
  NearestTexts nearest_;
  bool json_;
};

// ---- the verb -----------------------------------------------------------------------------------

// The format that was given, or the one that the name of the output tells.
std::string format_of(const EmbedFlags& flags) {
  if (!flags.format.empty()) return flags.format;
  if (flags.compares()) return flags.files.output.ends_with(".jsonl") ? "jsonl" : "tsv";
  for (const char* const format : {"npy", "raw", "tsv"}) {
    if (flags.files.output.ends_with(fmt::format(".{}", format))) return format;
  }
  return "jsonl";
}

std::unique_ptr<Receiver> make_receiver(const EmbedFlags& flags, const TextEmbedder& embedder,
                                        const EmbedOptions& options) {
  const std::string format = format_of(flags);
  const std::string& output = flags.files.output;
  if (flags.compares()) {
    HEED_CHECK(format == "tsv" || format == "jsonl",
               "[embed] --format {} is for vectors: similarities are written as tsv or jsonl",
               format);
    Queries queries = read_queries(flags, embedder, options);
    const bool json = format == "jsonl";
    if (flags.nearest == 0) {
      return std::make_unique<SimilarityReceiver>(output, std::move(queries), json);
    }
    return std::make_unique<NearestReceiver>(output, std::move(queries), flags.nearest, json);
  }
  HEED_CHECK(flags.nearest == 0,
             "[embed] --nearest needs texts to compare with: give --similarity or "
             "--similarity-file");
  if (format != "npy") return std::make_unique<VectorReceiver>(output, format);
  HEED_CHECK(output != "-",
             "[embed] --format npy begins with the number of lines, which is known at the end: "
             "write it to a file with --output");
  return std::make_unique<NpyReceiver>(output, embedder.model->vector_size());
}

struct Line {
  std::string text;
  ReadText tokens;
  std::int64_t size() const { return tokens.size(); }
};
struct LineVector {
  std::string text;
  std::vector<float> vector;
};

void embed_lines(const EmbedFlags& flags) {
  EmbedOptions options;
  io::set_fields(options, flags.options);
  OrderingOptions ordering;
  io::set_fields(ordering, flags.ordering);  // reports mistakes before the model is read
  flags.model.set_threads();
  const TextEmbedder embedder = load_text_embedder(flags.model.folder, flags.model.form());
  TextLines lines(flags.files.input, flags.files.policy());
  const std::unique_ptr<Receiver> receiver = make_receiver(flags, embedder, options);

  filter_texts<Line, LineVector>(
      lines, ordering,
      {.read =
           [&](const std::string& line, const std::string&) {
             return Line{line, read_text(embedder, line, options)};
           },
       .compute =
           [&](const std::vector<Line>& batch) {
             std::vector<ReadText> texts;
             for (const Line& line : batch) texts.push_back(line.tokens);
             const Tensor vectors = embed(embedder, texts, options);  // [B, E]
             const auto E = static_cast<std::size_t>(vectors.size(1));
             std::vector<LineVector> results;
             for (std::size_t b = 0; b < batch.size(); ++b) {
               const std::span<const float> row = vectors.values<float>().subspan(b * E, E);
               results.push_back({batch[b].text, {row.begin(), row.end()}});
             }
             return results;
           },
       .write = [&](const LineVector& found) { receiver->add(found.text, found.vector); }});
  receiver->commit();
}

}  // namespace

void add_embed(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("embed", "Turn texts into vectors, or compare them");
  const auto flags = std::make_shared<EmbedFlags>();
  add_model_flags(*verb, flags->model, "the folder of a sentence encoder");
  add_filter_flags(*verb, flags->files, "the texts, one a line");
  verb->add_option("--format", flags->format,
                   "jsonl (text and vector), npy (a NumPy matrix of f32), raw (f32 without header) "
                   "or tsv; by default as the name of the output ends, else jsonl")
      ->check(CLI::IsMember({"jsonl", "npy", "raw", "tsv"}));
  CLI::Option* const one = verb->add_option("--similarity", flags->similarity,
                                            "write the cosine of each line with this text instead");
  verb->add_option("--similarity-file", flags->similarity_file,
                   "the same with several texts, one a line")
      ->excludes(one);
  verb->add_option("-k,--nearest", flags->nearest,
                   "write only so many lines, the most similar first; 0: all in their order")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--query-prompt", flags->query_prompt,
                   "prompt of the texts to compare with; by default as --prompt");
  add_config_flags(*verb, io::list_fields(EmbedOptions{}), flags->options);
  add_config_flags(*verb, io::list_fields(OrderingOptions{}), flags->ordering);
  verb->callback([flags] { run_filter([&] { embed_lines(*flags); }); });
}

}  // namespace heed::cli
