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
#include "heed/nn/checkpoint_file.h"
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

// ---- writing ------------------------------------------------------------------------------------

// The items of a file, and the memory that they refer to.
class Items {
 public:
  void add(const std::string& name, const Tensor& tensor) {
    items_.push_back(item_of(name, tensors_.emplace_back(contiguous_copy(tensor))));
  }
  void add(const std::string& name, const PackedWeight& weight) {
    if (weight.form() == PackedForm::int8) return add_int8(name, weight);
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
  }

  std::vector<io::SafetensorsItem> items_;
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
  Plan(Module& model, const SafetensorsFile& file, PackedForm form) : form_(form) {
    for (const SafetensorsEntry& entry : file.entries()) entries_.emplace(entry.name, &entry);
    for (TiedWeights& tied : weights_of(model)) find(tied);
  }

  void check(const std::string& source) const { check(source, problems_); }

  void pack() const {
    for (const Source& source : sources_) {
      const auto packed = std::make_shared<const PackedWeight>(packed_from(source));
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
    const SafetensorsEntry* scales;  // of int8
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
    Source source{.weights = tied.weights, .matrix = nullptr, .scales = nullptr};
    std::string name = tied.names[0];
    for (const std::string& any : tied.names) {
      const SafetensorsEntry* const entry = take(any);
      if (entry == nullptr) continue;
      if (source.matrix != nullptr) complain("'{}' and '{}' are tied: store one", name, any);
      source.matrix = entry;
      name = any;
    }
    if (source.matrix == nullptr) return complain("missing '{}'", name);
    if (has_matrix(name, source) && (form_ != PackedForm::int8 || has_scales(name, source))) {
      sources_.push_back(std::move(source));
    }
  }

  bool has_matrix(const std::string& name, const Source& source) {
    const SafetensorsEntry& entry = *source.matrix;
    const std::string_view type = form_ == PackedForm::int8 ? "I8" : "BF16";
    const Shape& shape = source.weights[0]->data.shape();
    if (entry.shape != shape) {
      complain("'{}' is {} in the file, {} here", name, to_string(entry.shape), to_string(shape));
      return false;
    }
    if (entry.dtype_name != type) {
      complain("'{}' is {} in the file and must be {}", name, entry.dtype_name, type);
      return false;
    }
    const auto bad = std::ranges::find(entry.bytes, std::byte{0x80});
    if (form_ != PackedForm::int8 || bad == entry.bytes.end()) return true;
    complain("'{}' has -128 as its integer {}: they must be from -127 to 127", name,
             bad - entry.bytes.begin());
    return false;
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

  PackedWeight packed_from(const Source& source) const {
    const SafetensorsEntry& entry = *source.matrix;
    if (form_ == PackedForm::int8) {
      return PackedWeight(
          QuantizedMatrix{.out = entry.shape[0],
                          .in = entry.shape[1],
                          .integers = reinterpret_cast<const std::int8_t*>(entry.bytes.data()),
                          .scales = reinterpret_cast<const float*>(source.scales->bytes.data())});
    }
    // The view ends with this call, so its keeper owns nothing.
    const std::shared_ptr<const void> keeper(std::shared_ptr<void>(), &entry);
    return {borrow(entry.bytes.data(), DType::bf16, entry.shape, keeper), form_};
  }

  PackedForm form_;
  std::map<std::string, const SafetensorsEntry*, std::less<>> entries_;
  std::set<std::string, std::less<>> used_;
  std::vector<Source> sources_;
  std::vector<std::string> problems_;
};

}  // namespace

std::optional<PackedForm> packed_form(const Module& model) {
  std::optional<PackedForm> form;
  each_packed(model, [&](const std::string&, const PackedWeight& weight) {
    if (!form) form = weight.form();
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

void load_packed(Module& model, const io::SafetensorsFile& file, PackedForm form) {
  HEED_ASSERT(form != PackedForm::f32);
  const std::string source = file.keeper() ? file.keeper()->path().string() : "the file";
  const Plan plan(model, file, form);
  plan.check(source);
  plan.pack();
  plan.load_others(model, file, source);
}

}  // namespace heed
