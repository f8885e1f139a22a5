#include "heed/generation/attention_file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/examine.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/io/safetensors_stream.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

// The part of a sentence that is written.
struct Entry {
  std::int64_t number = 0;
  std::vector<std::string> source, target, target_read;
  Tensor encoder, decoder, cross;  // [L, H, Tq, Tk]
};

constexpr std::array<std::pair<std::string_view, Tensor Entry::*>, 3> kTensors = {
    {{"encoder", &Entry::encoder}, {"decoder", &Entry::decoder}, {"cross", &Entry::cross}}};
constexpr std::array<std::pair<std::string_view, std::vector<std::string> Entry::*>, 3> kTokens = {
    {{"source", &Entry::source}, {"target", &Entry::target}, {"target_read", &Entry::target_read}}};

Tensor stack_layers(const std::vector<LayerWeights>& layers, Tensor LayerWeights::*which) {
  std::vector<Tensor> all;
  for (const LayerWeights& layer : layers) {
    if (!(layer.*which).defined()) return {};
    all.push_back(squeeze(layer.*which, 0));  // [H, Tq, Tk]
  }
  return all.empty() ? Tensor{} : contiguous_copy(stack(all, 0));  // [L, H, Tq, Tk]
}

std::string piece(const Tokenizer& tokenizer, std::int32_t id) {
  return unicode::make_valid(tokenizer.piece(id));
}

Entry entry_of(const Translator& translator, const Translated& translated) {
  const NoGrad no_grad;
  Entry entry;
  entry.number = translated.number;
  if (translator.is_empty(translated.source) || translated.found.empty()) return entry;
  const std::vector<std::int32_t>& tokens = translated.found[0].hypothesis.tokens;
  const Tokenizer &from = *translator.source(), &to = *translator.target();
  for (const std::int32_t id : translated.source) entry.source.push_back(piece(from, id));
  entry.target_read.push_back(piece(to, translator.frame().start));
  for (const std::int32_t id : tokens) entry.target.push_back(piece(to, id));
  for (const CopiedToken& one : translated.found[0].hypothesis.copied) {
    entry.target[static_cast<std::size_t>(one.at)] = unicode::make_valid(one.word);
  }
  entry.target_read.insert(entry.target_read.end(), entry.target.begin(), entry.target.end());
  const bool has_end = edges_of(translator, translated.found[0].hypothesis).target_after > 0;
  if (has_end) {
    entry.target.push_back(piece(to, translator.format().ends.front()));
  } else {
    entry.target_read.pop_back();  // a result of the maximum length
  }
  const std::optional<ModelWeights>& observed = translated.found[0].hypothesis.weights;
  HEED_CHECK(observed,
             "[attention] the translation was not observed: set TranslateOptions::observed");
  const ModelWeights& weights = *observed;
  entry.encoder = stack_layers(weights.encoder, &LayerWeights::self);  // [L, H, S, S]
  entry.decoder = stack_layers(weights.decoder, &LayerWeights::self);  // [L, H, T, T]
  entry.cross = stack_layers(weights.decoder, &LayerWeights::cross);   // [L, H, T, S]
  return entry;
}

io::Value::Table tokens_of(const Entry& entry) {
  io::Value::Table table;
  for (const auto& [name, member] : kTokens) {
    io::Value::List list;
    for (const std::string& text : entry.*member) list.push_back({text});
    table.push_back({std::string(name), {std::move(list)}});
  }
  return table;
}

// Numbers with the fewest digits that read back exactly, with brackets for each axis.
void write_numbers(std::string& out, const Tensor& x, int axis, const float*& data) {
  if (axis == x.rank()) {
    HEED_CHECK(std::isfinite(*data), "[attention] a weight is {}: JSON has no such number", *data);
    fmt::format_to(std::back_inserter(out), "{}", *data++);
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < x.size(axis); ++i) {
    if (i > 0) out += ',';
    write_numbers(out, x, axis + 1, data);
  }
  out += ']';
}

}  // namespace

class AttentionFile::Form {
 public:
  virtual ~Form() = default;
  virtual void add(const Entry& entry) = 0;
  virtual void commit() = 0;
};

namespace {

class SafetensorsForm : public AttentionFile::Form {
 public:
  explicit SafetensorsForm(const std::filesystem::path& path) : stream_(path) {}

  void add(const Entry& entry) override {
    for (const auto& [name, member] : kTensors) {
      const Tensor& x = entry.*member;
      if (!x.defined()) continue;
      stream_.add({fmt::format("{}.{}", entry.number, name), io::TensorType::F32, x.shape(),
                   std::as_bytes(x.values<float>())});
    }
    metadata_[std::to_string(entry.number)] = io::write_json({tokens_of(entry)}, false);
  }
  void commit() override { stream_.commit(metadata_); }

 private:
  io::SafetensorsStream stream_;
  io::Metadata metadata_;
};

class JsonForm : public AttentionFile::Form {
 public:
  explicit JsonForm(const std::filesystem::path& path) : file_(path) {
    file_.write("{\"sentences\": [");
  }

  void add(const Entry& entry) override {
    io::Value::Table about = tokens_of(entry);
    about.insert(about.begin(), {"number", {entry.number}});
    std::string line = io::write_json({std::move(about)}, false);
    line.pop_back();  // the closing bracket comes after the weights
    for (const auto& [name, member] : kTensors) {
      const Tensor& x = entry.*member;
      fmt::format_to(std::back_inserter(line), ",\"{}\":", name);
      if (!x.defined()) {
        line += "null";
        continue;
      }
      const float* data = x.data<float>();
      write_numbers(line, x, 0, data);
    }
    file_.write((std::exchange(is_first_, false) ? "\n" : ",\n") + line + "}");
  }
  void commit() override {
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  io::AtomicFile file_;
  bool is_first_ = true;
};

}  // namespace

AttentionFile::AttentionFile(const std::filesystem::path& path) {
  const std::filesystem::path ending = path.extension();
  HEED_CHECK(ending == ".safetensors" || ending == ".json",
             "[attention] {}: weights go to a file that ends in .safetensors or .json",
             path.string());
  if (ending == ".json") {
    form_ = std::make_unique<JsonForm>(path);
  } else {
    form_ = std::make_unique<SafetensorsForm>(path);
  }
}

AttentionFile::~AttentionFile() = default;

void AttentionFile::add(const Translator& translator, const Translated& translated) {
  form_->add(entry_of(translator, translated));
}

void AttentionFile::commit() { form_->commit(); }

}  // namespace heed
