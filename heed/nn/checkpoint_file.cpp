#include "heed/nn/checkpoint_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "heed/base/suggest.h"
#include "heed/io/printable.h"
#include "heed/nn/packed_file.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using io::SafetensorsEntry;
using io::SafetensorsFile;

// The file's tensors by name, after the prefix is removed and the renames are applied.
using Entries = std::map<std::string, const SafetensorsEntry*, std::less<>>;

std::string renamed(std::string name, const Rename& rename) {
  if (rename.from.empty()) return name;
  for (std::size_t at = name.find(rename.from); at != name.npos;) {
    const std::size_t end = at + rename.from.size();
    const bool whole = (at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.');
    if (whole) name.replace(at, rename.from.size(), rename.to);
    at = name.find(rename.from, at + (whole ? rename.to.size() : 1));
  }
  return name;
}

Entries entries_of(const SafetensorsFile& file, const LoadOptions& options) {
  Entries entries;
  for (const SafetensorsEntry& entry : file.entries()) {
    if (!entry.name.starts_with(options.prefix)) continue;
    std::string name = entry.name.substr(options.prefix.size());
    for (const Rename& rename : options.rename) name = renamed(std::move(name), rename);
    const auto [other, fresh] = entries.try_emplace(name, &entry);
    HEED_CHECK(fresh, "[load] '{}' and '{}' are both '{}' after renaming: change the rename list",
               io::printable(other->second->name), io::printable(entry.name), io::printable(name));
  }
  return entries;
}

bool convertible(DType from, DType to) {
  return from == to || (is_floating(from) && is_floating(to));
}

// Maps each tensor of the file to its destination and collects all problems before anything is
// changed.
class Plan {
 public:
  Plan(std::span<const NamedTensor> tensors, const Entries& entries) {
    std::set<std::string_view> used;
    for (const NamedTensor& named : tensors) {
      const auto found = entries.find(named.name);
      if (found == entries.end()) continue;
      used.insert(found->first);
      match(named, *found->second);
    }
    for (const NamedTensor& named : tensors) {
      if (!sources_.contains(key_of(named.tensor))) report_.missing.push_back(named.name);
    }
    for (const auto& [name, entry] : entries) {
      if (!used.contains(name)) report_.unexpected.push_back(name);
    }
  }

  void check(std::string_view source, bool strict) const {
    std::vector<std::string> problems = problems_;
    if (strict) {
      for (const std::string& name : report_.missing) problems.push_back(missing_text(name));
      for (const std::string& name : report_.unexpected) {
        problems.push_back(fmt::format("unexpected '{}'", io::printable(name)));
      }
    }
    if (problems.empty()) return;
    constexpr std::size_t kShown = 12;
    const std::size_t shown = std::min(problems.size(), kShown);
    const auto end = problems.begin() + static_cast<std::ptrdiff_t>(shown);
    fail("[load] {} does not fit, nothing was loaded: {}{}", source,
         fmt::join(problems.begin(), end, "; "),
         shown < problems.size() ? fmt::format("; and {} more", problems.size() - shown) : "");
  }

  void copy() const {
    for (const auto& [key, source] : sources_) {
      const SafetensorsEntry& entry = *source.entry;
      if (entry.bytes.empty()) continue;
      // The view ends with this call, so its keeper owns nothing and does not keep the file alive.
      const std::shared_ptr<const void> keeper(std::shared_ptr<void>(), &entry);
      Tensor to = source.to;
      copy_into(to, borrow(entry.bytes.data(), *entry.dtype, entry.shape, keeper));
    }
  }

  LoadReport report() && { return std::move(report_); }

 private:
  struct Source {
    std::string_view name;
    Tensor to;
    const SafetensorsEntry* entry;
  };

  template <typename... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void match(const NamedTensor& named, const SafetensorsEntry& entry) {
    const Tensor& x = named.tensor;
    if (entry.shape != x.shape()) {
      complain("'{}' is {} in the file, {} here", named.name, to_string(entry.shape),
               to_string(x.shape()));
    }
    if (!entry.dtype || !convertible(*entry.dtype, x.dtype())) {
      complain("'{}' is {} in the file and cannot become {}", named.name, entry.dtype_name,
               name_of(x.dtype()));
    }
    if (x.storage()->read_only()) complain("'{}' is read-only here", named.name);
    const auto [first, fresh] = sources_.try_emplace(key_of(x), Source{named.name, x, &entry});
    const std::span<const std::byte> other = first->second.entry->bytes;
    if (!fresh && !std::equal(other.begin(), other.end(), entry.bytes.begin(), entry.bytes.end())) {
      complain("'{}' and '{}' are tied here and differ in the file", first->second.name,
               named.name);
    }
  }

  std::string missing_text(const std::string& name) const {
    const std::vector<std::string_view> others(report_.unexpected.begin(),
                                               report_.unexpected.end());
    const std::string_view guess = nearest(name, others);
    return guess.empty()
               ? fmt::format("missing '{}'", name)
               : fmt::format("missing '{}' (the file has '{}')", name, io::printable(guess));
  }

  std::map<ParameterKey, Source> sources_;
  std::vector<std::string> problems_;
  LoadReport report_;
};

}  // namespace

io::SafetensorsItem item_of(const std::string& name, const Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype());
  const std::byte* const first =
      tensor.storage()->data() + tensor.offset() * static_cast<std::int64_t>(size);
  return {name,
          io::tensor_type_of(tensor.dtype()),
          tensor.shape(),
          {first, static_cast<std::size_t>(tensor.numel()) * size}};
}

void save_tensors(std::span<const NamedTensor> tensors, const std::filesystem::path& path,
                  const io::Metadata& metadata) {
  std::vector<Tensor> packed;  // keeps the copies of strided tensors alive
  std::vector<io::SafetensorsItem> items;
  for (const NamedTensor& named : tensors) {
    items.push_back(item_of(named.name, packed.emplace_back(contiguous_copy(named.tensor))));
  }
  io::write_safetensors(path, items, metadata);
}

LoadReport load_tensors(std::span<const NamedTensor> tensors, const SafetensorsFile& file,
                        const LoadOptions& options) {
  const Entries entries = entries_of(file, options);
  Plan plan(tensors, entries);
  plan.check(file.keeper() ? file.keeper()->path().string() : "the file", options.strict);
  plan.copy();
  return std::move(plan).report();
}

void save_parameters(const Module& module, const std::filesystem::path& path,
                     const io::Metadata& metadata) {
  HEED_CHECK(!packed_form(module), "[save] the weights are packed: write them with save_packed()");
  io::Metadata all = metadata;
  all.emplace("format", "pt");  // required by the Python loaders of Hugging Face
  save_tensors(module.named_parameters(), path, all);
}

LoadReport load_parameters(Module& module, const std::filesystem::path& path,
                           const LoadOptions& options) {
  return load_tensors(module.every_name(), SafetensorsFile::open(path), options);
}

}  // namespace heed
