#include "heed/nn/packed_file.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/printable.h"
#include "heed/nn/block_file.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/pack_weights.h"
#include "heed/nn/weight.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using io::SafetensorsEntry;
using io::SafetensorsFile;

// visit() gives mutable references; here only handles are copied, so the const_cast is safe.
void each_packed(const Module& model,
                 FunctionRef<void(const std::string& name, const PackedWeight& weight)> f) {
  std::set<const PackedWeight*> seen;  // tied weights are visited once
  ParameterVisitor([&](const std::string& name, Weight& weight) {
    if (weight.packed && seen.insert(weight.packed.get()).second) f(name, *weight.packed);
  }).root(const_cast<Module&>(model));
}

bool is_finite(const kernels::BlockRow& row) {
  const auto is_number = [](std::uint16_t half) { return (half & 0x7c00) != 0x7c00; };
  return std::ranges::all_of(row.scales, is_number) && std::ranges::all_of(row.minima, is_number);
}

// ---- writing ------------------------------------------------------------------------------------

// The items of a file, and the memory that they refer to.
class Items {
 public:
  void add(const std::string& name, const Tensor& tensor) {
    items_.push_back(item_of(name, tensors_.emplace_back(contiguous_copy(tensor))));
  }
  void add(const std::string& name, const PackedWeight& weight) {
    if (weight.form() == PackedForm::int8) return add_int8(name, weight);
    if (weight.form() == PackedForm::int4) return add_blocks(name, weight);
    const DType dtype = weight.form() == PackedForm::bf16 ? DType::bf16 : DType::f32;
    add(name, cast_data(weight.matrix(), dtype));
  }
  const std::vector<io::SafetensorsItem>& all() const { return items_; }

 private:
  void add_int8(const std::string& name, const PackedWeight& weight) {
    const std::vector<float>& scales = scales_.emplace_back(weight.scales());
    const std::int64_t groups = kernels::scale_groups(weight.in());
    const auto bad = std::ranges::find_if_not(scales, [](float s) { return std::isfinite(s); });
    HEED_CHECK(bad == scales.end(),
               "[save] row {} of '{}' has NaN or infinity: it cannot be stored as int8",
               (bad - scales.begin()) / groups, name);
    const std::vector<std::int8_t>& integers = integers_.emplace_back(weight.integers());
    items_.push_back({name,
                      io::TensorType::I8,
                      {weight.out(), weight.in()},
                      std::as_bytes(std::span(integers))});
    items_.push_back({name + std::string(kScaleSuffix),
                      io::TensorType::F32,
                      {weight.out(), groups},
                      std::as_bytes(std::span(scales))});
    if (weight.remainders().empty()) return;
    items_.push_back({name + std::string(kRemainderSuffix),
                      io::TensorType::I8,
                      {weight.out(), weight.in()},
                      std::as_bytes(weight.remainders())});
  }

  void add_blocks(const std::string& name, const PackedWeight& weight) {
    const std::vector<BlockPart> parts = block_parts(weight.blocks(), weight.in());
    std::vector<std::byte*> at;
    for (const BlockPart& part : parts) {
      std::vector<std::byte>& bytes =
          bytes_.emplace_back(static_cast<std::size_t>(weight.out() * part.row_bytes()));
      at.push_back(bytes.data());
      items_.push_back(
          {name + std::string(part.suffix), part.type, {weight.out(), part.columns}, bytes});
    }
    const kernels::PackedMatrix matrix = weight.packed();
    kernels::BlockRow row(weight.blocks(), weight.in());
    for (std::int64_t i = 0; i < weight.out(); ++i) {
      kernels::unpack_blocks(matrix, i, row);
      HEED_CHECK(is_finite(row),
                 "[save] row {} of '{}' has NaN or infinity: it cannot be stored as int4", i, name);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        parts[p].store(row, at[p] + i * parts[p].row_bytes());
      }
    }
  }

  std::vector<io::SafetensorsItem> items_;
  std::list<std::vector<std::byte>> bytes_;
  std::list<Tensor> tensors_;
  std::list<std::vector<std::int8_t>> integers_;
  std::list<std::vector<float>> scales_;
};

// ---- reading ------------------------------------------------------------------------------------

// A matrix of the model and the names of the weights that share it.
struct TiedWeights {
  std::vector<std::string> names;
  std::vector<Weight*> weights;
};

std::vector<TiedWeights> weights_of(Module& model) {
  std::vector<TiedWeights> all;
  std::map<ParameterKey, std::size_t> places;
  ParameterVisitor([&](const std::string& name, Weight& weight) {
    if (!weight.defined()) return;
    HEED_CHECK(!weight.packed, "[load] '{}' is packed: load into a model that is not", name);
    const auto [place, fresh] = places.try_emplace(key_of(weight.data), all.size());
    if (fresh) all.emplace_back();
    all[place->second].names.push_back(name);
    all[place->second].weights.push_back(&weight);
  }).root(model);
  return all;
}

// Finds the weights of a model in a file, and collects all problems before anything is changed.
class Plan {
 public:
  /// `stored` is the form that the file has; that of a plain file is f32.
  Plan(Module& model, const SafetensorsFile& file, PackedForm stored)
      : file_(file.keeper().get()), stored_(stored), choices_(model) {
    for (const SafetensorsEntry& entry : file.entries()) entries_.emplace(entry.name, &entry);
    for (TiedWeights& tied : weights_of(model)) find(tied);
  }

  void check(const std::string& source) const { check(source, problems_); }

  void pack(PackedForm form) const {
    for (const Source& source : sources_) {
      const auto packed = std::make_shared<const PackedWeight>(packed_from(source, form));
      for (Weight* const weight : source.weights) {
        weight->data = {};
        weight->packed = packed;
      }
    }
  }

  // The parameters that are not weights.
  void load_others(const Module& model, const SafetensorsFile& file,
                   const std::string& source) const {
    const LoadReport report = load_tensors(model.every_name(), file, {.strict = false});
    std::vector<std::string> problems;
    for (const std::string& name : report.missing) {
      problems.push_back(fmt::format("missing '{}'", name));
    }
    for (const std::string& name : report.unexpected) {
      if (used_.contains(name)) continue;
      problems.push_back(fmt::format("unexpected '{}'", io::printable(name)));
    }
    check(source, problems);
  }

 private:
  struct Source {
    std::vector<Weight*> weights;
    const SafetensorsEntry* matrix;
    const SafetensorsEntry* scales;              // of int8
    const SafetensorsEntry* remainders;          // of int8, or null
    std::optional<BlockForm> blocks = {};        // of int4
    std::vector<const SafetensorsEntry*> parts;  // of int4, as block_parts() names them
  };

  static void check(const std::string& source, const std::vector<std::string>& problems) {
    if (problems.empty()) return;
    constexpr std::size_t kShown = 12;
    const std::size_t shown = std::min(problems.size(), kShown);
    const auto end = problems.begin() + static_cast<std::ptrdiff_t>(shown);
    fail("[load] {} does not fit: {}{}", source, fmt::join(problems.begin(), end, "; "),
         shown < problems.size() ? fmt::format("; and {} more", problems.size() - shown) : "");
  }

  template <typename... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  const SafetensorsEntry* take(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return nullptr;
    used_.insert(name);
    return found->second;
  }

  void find(TiedWeights& tied) {
    Source source{.weights = tied.weights,
                  .matrix = nullptr,
                  .scales = nullptr,
                  .remainders = nullptr,
                  .parts = {}};
    std::string name = tied.names[0];
    for (const std::string& any : tied.names) {
      const SafetensorsEntry* const entry = take(any);
      if (entry == nullptr) continue;
      if (source.matrix != nullptr && !std::ranges::equal(source.matrix->bytes, entry->bytes)) {
        complain("'{}' and '{}' are tied here and differ in the file", name, any);
      }
      source.matrix = entry;
      name = any;
    }
    if (source.matrix == nullptr) return complain("missing '{}'", name);
    if (has_all(name, source)) sources_.push_back(std::move(source));
  }

  bool has_all(const std::string& name, Source& source) {
    if (stored_ == PackedForm::int4) return has_blocks(name, source);
    if (stored_ != PackedForm::int8) return has_matrix(name, source);
    return has_matrix(name, source) && has_scales(name, source) && fits_remainders(name, source);
  }

  bool has_blocks(const std::string& name, Source& source) {
    const auto named = [&](std::string_view suffix) { return name + std::string(suffix); };
    const std::optional<io::TensorType> type = io::find_tensor_type(source.matrix->dtype_name);
    if (type) {
      source.blocks = stored_blocks(
          *type, [&](std::string_view suffix) { return entries_.contains(named(suffix)); });
    }
    const bool is_plain = source.matrix->dtype && is_floating(*source.matrix->dtype);
    if (!source.blocks && is_plain) return has_matrix(name, source);
    if (!source.blocks) {
      complain("'{}' is {} in the file and must be U8, I8, BF16 or F32", name,
               source.matrix->dtype_name);
      return false;
    }
    const Shape& shape = source.weights[0]->data.shape();
    for (const BlockPart& part : block_parts(*source.blocks, shape[1])) {
      const SafetensorsEntry* const entry = take(named(part.suffix));
      const Shape expected{shape[0], part.columns};
      const std::string_view expected_type = io::info(part.type).name;
      if (entry == nullptr) {
        complain("missing '{}'", named(part.suffix));
        return false;
      }
      if (entry->dtype_name != expected_type || entry->shape != expected) {
        complain("'{}' is {} {} in the file and must be {} {}", named(part.suffix),
                 entry->dtype_name, to_string(entry->shape), expected_type, to_string(expected));
        return false;
      }
      source.parts.push_back(entry);
    }
    return true;
  }

  bool has_matrix(const std::string& name, const Source& source) {
    const SafetensorsEntry& entry = *source.matrix;
    const Shape& shape = source.weights[0]->data.shape();
    if (entry.shape != shape) {
      complain("'{}' is {} in the file, {} here", name, to_string(entry.shape), to_string(shape));
      return false;
    }
    if (!has_type(entry)) {
      complain("'{}' is {} in the file and must be {}", name, entry.dtype_name, type_names());
      return false;
    }
    if (stored_ != PackedForm::int8) return true;
    const auto bad = std::ranges::find(entry.bytes, std::byte{0x80});
    forget(entry);
    if (bad == entry.bytes.end()) return true;
    complain("'{}' has -128 as its integer {}: they must be from -127 to 127", name,
             bad - entry.bytes.begin());
    return false;
  }

  bool has_type(const SafetensorsEntry& entry) const {
    if (stored_ == PackedForm::int8) return entry.dtype_name == "I8";
    if (stored_ == PackedForm::bf16) return entry.dtype_name == "BF16";
    return entry.dtype && is_floating(*entry.dtype);
  }
  std::string_view type_names() const {
    if (stored_ == PackedForm::int8) return "I8";
    return stored_ == PackedForm::bf16 ? "BF16" : "F32, F64 or BF16";
  }

  void forget(const SafetensorsEntry& entry) const {
    if (file_ != nullptr) file_->forget(entry.bytes);
  }

  bool has_scales(const std::string& weight, Source& source) {
    const std::string name = weight + std::string(kScaleSuffix);
    const std::int64_t groups = kernels::scale_groups(source.matrix->shape[1]);
    const Shape shape{source.matrix->shape[0], groups};
    source.scales = take(name);
    if (source.scales == nullptr) {
      complain("missing '{}'", name);
      return false;
    }
    if (source.scales->dtype_name != "F32" || source.scales->shape != shape) {
      complain("'{}' is {} {} in the file and must be F32 {}", name, source.scales->dtype_name,
               to_string(source.scales->shape), to_string(shape));
      return false;
    }
    const float* const values = reinterpret_cast<const float*>(source.scales->bytes.data());
    const float* const end = values + shape[0] * groups;
    const float* const bad =
        std::find_if(values, end, [](float s) { return !std::isfinite(s) || s < 0.0f; });
    if (bad == end) return true;
    complain("'{}' has the scale {} in row {}: scales are finite and not negative", name, *bad,
             (bad - values) / groups);
    return false;
  }

  // Remainders are read if the model uses them and the file has them.
  bool fits_remainders(const std::string& weight, Source& source) {
    if (!std::ranges::any_of(source.weights, &Weight::refined)) return true;
    const std::string name = weight + std::string(kRemainderSuffix);
    source.remainders = take(name);
    if (source.remainders == nullptr || (source.remainders->dtype_name == "I8" &&
                                         source.remainders->shape == source.matrix->shape)) {
      return true;
    }
    complain("'{}' is {} {} in the file and must be I8 {}", name, source.remainders->dtype_name,
             to_string(source.remainders->shape), to_string(source.matrix->shape));
    return false;
  }

  static const std::int8_t* integers_of(const SafetensorsEntry& entry) {
    return reinterpret_cast<const std::int8_t*>(entry.bytes.data());
  }

  PackedWeight blocks_from(const Source& source) const {
    const Shape& shape = source.weights[0]->data.shape();
    const std::vector<BlockPart> parts = block_parts(*source.blocks, shape[1]);
    const auto read = [&](std::int64_t row, kernels::BlockRow& to) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].restore(source.parts[i]->bytes.data() + row * parts[i].row_bytes(), to);
      }
    };
    PackedWeight packed(
        BlockMatrix{.out = shape[0], .in = shape[1], .blocks = *source.blocks, .read = read});
    for (const SafetensorsEntry* const part : source.parts) forget(*part);
    return packed;
  }

  PackedWeight packed_from(const Source& source, PackedForm form) const {
    if (source.blocks) return blocks_from(source);
    const SafetensorsEntry& entry = *source.matrix;
    if (stored_ == PackedForm::int4) {  // a weight beside others that are blocks
      form = entry.dtype == DType::bf16 ? PackedForm::bf16 : PackedForm::f32;
    }
    const std::int64_t out = entry.shape[0], in = entry.shape[1];
    if (stored_ == PackedForm::int8) {
      PackedWeight packed(
          QuantizedMatrix{.out = out,
                          .in = in,
                          .integers = integers_of(entry),
                          .scales = reinterpret_cast<const float*>(source.scales->bytes.data())});
      forget(entry);
      if (source.remainders != nullptr) {
        packed.keep_remainders({integers_of(*source.remainders), source.remainders->bytes.size()});
        forget(*source.remainders);
      }
      return packed;
    }
    if (entry.dtype == DType::f64) {
      // The view ends with this call, so its keeper owns nothing.
      const std::shared_ptr<const void> keeper(std::shared_ptr<void>(), &entry);
      const Tensor wide = borrow(entry.bytes.data(), DType::f64, entry.shape, keeper);  // [out, in]
      return {cast_data(wide, DType::f32), form, choices_.of(*source.weights[0])};
    }
    return {StoredMatrix{.type = io::tensor_type_of(*entry.dtype),
                         .out = out,
                         .in = in,
                         .bytes = entry.bytes,
                         .file = file_},
            form, choices_.of(*source.weights[0])};
  }

  const io::MappedFile* file_;
  PackedForm stored_;
  PackChoices choices_;
  std::map<std::string, const SafetensorsEntry*, std::less<>> entries_;
  std::set<std::string, std::less<>> used_;
  std::vector<Source> sources_;
  std::vector<std::string> problems_;
};

}  // namespace

std::optional<PackedForm> packed_form(const Module& model) {
  std::optional<PackedForm> form;
  each_packed(model, [&](const std::string&, const PackedWeight& weight) {
    if (!form || weight.form() == PackedForm::int4) form = weight.form();
  });
  return form;
}

void save_packed(const Module& model, const std::filesystem::path& path,
                 const io::Metadata& metadata) {
  Items items;
  for (const NamedTensor& named : model.named_parameters()) items.add(named.name, named.tensor);
  each_packed(
      model, [&](const std::string& name, const PackedWeight& weight) { items.add(name, weight); });
  io::Metadata all = metadata;
  all.emplace("format", "pt");  // required by the Python loaders of Hugging Face
  io::write_safetensors(path, items.all(), all);
}

namespace {

void load_weights(Module& model, const io::SafetensorsFile& file, PackedForm stored,
                  PackedForm form) {
  const std::string source = file.keeper() ? file.keeper()->path().string() : "the file";
  const Plan plan(model, file, stored);
  plan.check(source);
  plan.pack(form);
  plan.load_others(model, file, source);
}

}  // namespace

void load_packed(Module& model, const io::SafetensorsFile& file, PackedForm form) {
  HEED_ASSERT(form != PackedForm::f32);
  load_weights(model, file, form, form);
}

void load_and_pack(Module& model, const io::SafetensorsFile& file, PackedForm form) {
  load_weights(model, file, PackedForm::f32, form);
}

}  // namespace heed
