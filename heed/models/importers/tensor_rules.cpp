#include "heed/models/importers/tensor_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/base/wildcard.h"
#include "heed/io/printable.h"
#include "heed/kernels/dequantize.h"
#include "heed/nn/pack_weights.h"
#include "heed/nn/weight.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/read.h"

namespace heed {
namespace {

constexpr std::string_view kPart = "{}";
constexpr std::size_t kToldProblems = 12;

// The parts of a name that `{}` stands for, in order; none if the name does not match.
std::optional<std::vector<std::string_view>> captures(std::string_view pattern,
                                                      std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = pattern.find(kPart); at != pattern.npos; at = pattern.find(kPart)) {
    if (!name.starts_with(pattern.substr(0, at))) return {};
    name.remove_prefix(at);
    pattern.remove_prefix(at + kPart.size());
    const std::size_t length = std::min(name.find('.'), name.size());
    if (length == 0) return {};
    parts.push_back(name.substr(0, length));
    name.remove_prefix(length);
  }
  if (name != pattern) return {};
  return parts;
}

std::string substituted(std::string_view pattern, const std::vector<std::string_view>& parts) {
  std::string name;
  for (const std::string_view part : parts) {
    const std::size_t at = pattern.find(kPart);
    HEED_ASSERT(at != pattern.npos);
    name += pattern.substr(0, at);
    name += part;
    pattern.remove_prefix(at + kPart.size());
  }
  return name += pattern;
}

// The shape that a parameter has in the file.
Shape foreign_shape(const Shape& ours, TensorForm form) {
  if (form == TensorForm::row) return Shape{1, ours[0]};
  if (form == TensorForm::grid_rows) return Shape{ours[0], 1, ours[1]};
  if (form == TensorForm::grid_columns) return Shape{1, ours[0], ours[1]};
  if (form == TensorForm::transposed && ours.rank() == 2) return Shape{ours[1], ours[0]};
  return ours;
}

double root_of_size(const Tensor& x) { return std::sqrt(static_cast<double>(x.numel())); }

Tensor to_ours(const Tensor& theirs, TensorForm form) {
  switch (form) {
    case TensorForm::as_is:
      return theirs;
    case TensorForm::transposed:
      return theirs.rank() == 2 ? contiguous_copy(transpose(theirs, 0, 1)) : theirs;
    case TensorForm::less_one:
      return theirs + 1.0;
    case TensorForm::times_root:
      return theirs * (1.0 / root_of_size(theirs));
    case TensorForm::row:
      return reshape(theirs, {theirs.numel()});
    case TensorForm::grid_rows:
    case TensorForm::grid_columns:
      return reshape(theirs, {theirs.size(0) * theirs.size(1), theirs.size(2)});
  }
  return theirs;
}

Tensor to_theirs(const Tensor& ours, TensorForm form) {
  switch (form) {
    case TensorForm::as_is:
      return ours;
    case TensorForm::transposed:
      return to_ours(ours, form);
    case TensorForm::less_one:
      return ours + -1.0;
    case TensorForm::times_root:
      return ours * root_of_size(ours);
    case TensorForm::row:
      return reshape(ours, {1, ours.numel()});
    case TensorForm::grid_rows:
    case TensorForm::grid_columns:
      return reshape(ours, foreign_shape(ours.shape(), form));
  }
  return ours;
}

// The form of weights that are not to be quantised: what a file has in fewer bits stays so. BF16
// gives the same results as f32; blocks are multiplied by x in 8 bits.
PackedForm kept_form(io::TensorType type) {
  if (type == io::TensorType::BF16) return PackedForm::bf16;
  return io::info(type).block > 1 ? PackedForm::int4 : PackedForm::f32;
}

// The source of every parameter, and all that does not fit.
class ImportPlan {
 public:
  ImportPlan(const Module& model, const TensorNames& names, const io::TensorSource& tensors)
      : tensors_(tensors) {
    const std::vector<NamedTensor> parameters = model.every_name();
    for (const NamedTensor& parameter : parameters) find_source(parameter, names);
    for (const NamedTensor& parameter : parameters) note_missing(parameter, names);
    note_unused(names);
  }

  void check() const {
    if (problems_.empty()) return;
    const std::size_t shown = std::min(problems_.size(), kToldProblems);
    const auto end = problems_.begin() + static_cast<std::ptrdiff_t>(shown);
    fail("[import] {} does not fit its config: {}{}", tensors_.name(),
         fmt::join(problems_.begin(), end, "; "),
         shown < problems_.size() ? fmt::format("; and {} more", problems_.size() - shown) : "");
  }

  Tensor read(const Tensor& parameter) const {
    const Source& source = sources_.at(key_of(parameter));
    const io::TensorEntry& entry = *source.entry;
    Tensor ours = to_ours(read_tensor(tensors_, entry), source.form);
    const bool is_copy = ours.storage()->data() != entry.bytes.data();
    if (is_copy) forget(entry);
    return ours;
  }

  PackedWeight read_packed(const Tensor& parameter, PackedForm form, PackOptions how) const {
    const Source& source = sources_.at(key_of(parameter));
    const io::TensorEntry& entry = *source.entry;
    const bool by_rows = entry.type == io::TensorType::F32 || kernels::can_dequantize(entry.type);
    if (by_rows && entry.row_major() && source.form == TensorForm::as_is) {
      return {StoredMatrix{.type = entry.type,
                           .out = entry.shape[0],
                           .in = entry.shape[1],
                           .bytes = entry.bytes,
                           .file = tensors_.files()[entry.file].get()},
              form == PackedForm::f32 ? kept_form(entry.type) : form, how};
    }
    PackedWeight packed(to_ours(read_tensor(tensors_, entry), source.form), form, how);
    forget(entry);
    return packed;
  }

 private:
  struct Source {
    const io::TensorEntry* entry;
    TensorForm form;
  };

  void forget(const io::TensorEntry& entry) const {
    if (const auto& file = tensors_.files()[entry.file]) file->forget(entry.bytes);
  }

  // A bare model lacks the prefix.
  const io::TensorEntry* lookup(std::string_view name, std::string_view prefix) const {
    const io::TensorEntry* const whole = lookup(name);
    if (whole != nullptr || prefix.empty() || !name.starts_with(prefix)) return whole;
    return lookup(name.substr(prefix.size()));
  }

  // Norms that were converted from TensorFlow have "gamma" and "beta".
  const io::TensorEntry* lookup(std::string_view name) const {
    const io::TensorEntry* const entry = tensors_.lookup(name);
    const auto with_end = [&](std::string_view now, std::string_view former) {
      if (!name.ends_with(now)) return static_cast<const io::TensorEntry*>(nullptr);
      const std::string_view begin = name.substr(0, name.size() - now.size());
      return tensors_.lookup(fmt::format("{}{}", begin, former));
    };
    if (entry != nullptr) return entry;
    const io::TensorEntry* const weight = with_end("Norm.weight", "Norm.gamma");
    return weight != nullptr ? weight : with_end("Norm.bias", "Norm.beta");
  }

  void find_source(const NamedTensor& parameter, const TensorNames& names) {
    for (const ForeignName& theirs : foreign_names(names, parameter.name)) {
      const io::TensorEntry* const entry = lookup(theirs.name, names.prefix);
      if (entry == nullptr) continue;
      used_.insert(entry);
      const auto [source, fresh] =
          sources_.try_emplace(key_of(parameter.tensor), Source{entry, theirs.form});
      if (fresh) check_entry(parameter, source->second);  // else another name of the parameter
    }
  }

  void check_entry(const NamedTensor& parameter, const Source& source) {
    const io::TensorEntry* const entry = source.entry;
    const Shape expected = foreign_shape(parameter.tensor.shape(), source.form);
    if (entry->shape != expected) {
      complain("tensor '{}' is {}, expected {}", io::printable(entry->name),
               to_string(entry->shape), to_string(expected));
    }
    const std::optional<DType> dtype = io::info(entry->type).dtype;
    const bool readable = dtype ? is_floating(*dtype) : kernels::can_dequantize(entry->type);
    if (!readable) {
      complain("tensor '{}' is {}, which heed does not read as weights", io::printable(entry->name),
               io::info(entry->type).name);
    }
  }

  void note_missing(const NamedTensor& parameter, const TensorNames& names) {
    if (sources_.contains(key_of(parameter.tensor))) return;
    const std::optional<ForeignName> theirs = foreign_name(names, parameter.name);
    HEED_CHECK(theirs, "[import] no rule says where parameter '{}' is in {}", parameter.name,
               tensors_.name());
    const std::string_view guess = nearest_unused(theirs->name);
    complain("tensor '{}' {} is missing{}", theirs->name,
             to_string(foreign_shape(parameter.tensor.shape(), theirs->form)),
             guess.empty() ? "" : fmt::format(" (there is '{}')", io::printable(guess)));
  }

  // A hostile file may lack very many tensors; only the first of them are told.
  std::string_view nearest_unused(std::string_view name) const {
    if (problems_.size() >= kToldProblems) return {};
    std::vector<std::string_view> others;
    for (const io::TensorEntry& entry : tensors_.entries()) {
      if (!used_.contains(&entry)) others.push_back(entry.name);
    }
    return nearest(name, others);
  }

  void note_unused(const TensorNames& names) {
    for (const io::TensorEntry& entry : tensors_.entries()) {
      const io::TensorEntry* const tied = tensors_.tied_to(entry);
      if (used_.contains(&entry) || (tied != nullptr && used_.contains(tied))) continue;
      std::string_view name = entry.name;
      if (name.starts_with(names.prefix)) name.remove_prefix(names.prefix.size());
      const bool known = std::ranges::any_of(
          names.unused, [&](std::string_view pattern) { return matches_wildcard(pattern, name); });
      if (!known) {
        complain("tensor '{}' {} is not part of this model", io::printable(entry.name),
                 to_string(entry.shape));
      }
    }
  }

  template <typename... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  const io::TensorSource& tensors_;
  std::map<ParameterKey, Source> sources_;
  std::set<const io::TensorEntry*> used_;
  std::vector<std::string> problems_;
};

// Replaces the weights by packed ones; what they were made with is added to `old`.
void pack_imported(Module& model, const ImportPlan& plan, PackedForm form,
                   std::vector<Tensor>& old) {
  const PackChoices choices(model);
  std::map<ParameterKey, std::shared_ptr<const PackedWeight>> made;  // tied ones stay tied
  ParameterVisitor([&](const std::string&, Weight& weight) {
    if (!weight.data.defined()) return;
    auto& packed = made[key_of(weight.data)];
    if (!packed) {
      packed = std::make_shared<const PackedWeight>(
          plan.read_packed(weight.data, form, choices.of(weight)));
    }
    old.push_back(std::exchange(weight.data, {}));
    weight.packed = packed;
  }).root(model);
}

}  // namespace

std::vector<ForeignName> foreign_names(const TensorNames& names, std::string_view ours) {
  std::vector<ForeignName> all;
  for (const TensorRule& rule : names.rules) {
    if (const auto parts = captures(rule.ours, ours)) {
      all.push_back({substituted(rule.theirs, *parts), rule.form});
    }
  }
  return all;
}

std::optional<ForeignName> foreign_name(const TensorNames& names, std::string_view ours) {
  std::vector<ForeignName> all = foreign_names(names, ours);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

void import_parameters(Module& model, const TensorNames& names, const io::TensorSource& tensors,
                       std::optional<PackedForm> form) {
  const NoGrad no_grad;
  const ImportPlan plan(model, names, tensors);
  plan.check();
  std::vector<Tensor> old;  // kept until the end, so that no new tensor gets their address
  if (form) pack_imported(model, plan, *form, old);
  std::map<ParameterKey, Tensor> made;  // tied parameters stay tied
  const auto replace = [&](const std::string&, Tensor& parameter) {
    const ParameterKey key = key_of(parameter);
    const auto found = made.find(key);
    if (found != made.end()) {
      parameter = found->second;
      return;
    }
    old.push_back(parameter);
    parameter = made.emplace(key, plan.read(parameter)).first->second;
  };
  const auto ignore = [](Module&) {};
  ParameterVisitor(replace, ignore).root(model);
}

std::vector<NamedTensor> export_parameters(const Module& model, const TensorNames& names) {
  const NoGrad no_grad;
  const std::vector<NamedTensor> parameters = model.named_parameters();
  // Two rules may give one parameter the same name: T5 has two forms of its last norm.
  std::map<std::string, std::set<std::string_view>> users;  // of each name of theirs
  for (const NamedTensor& parameter : parameters) {
    for (const ForeignName& theirs : foreign_names(names, parameter.name)) {
      users[theirs.name].insert(parameter.name);
    }
  }
  std::vector<NamedTensor> all;
  for (const NamedTensor& parameter : parameters) {
    const std::vector<ForeignName> theirs = foreign_names(names, parameter.name);
    const auto own = std::ranges::find_if(
        theirs, [&](const auto& name) { return users[name.name].size() == 1; });
    HEED_CHECK(own != theirs.end(), "[export] the other format has no name for parameter '{}'",
               parameter.name);
    all.push_back({own->name, to_theirs(parameter.tensor, own->form)});
  }
  return all;
}

}  // namespace heed
