#include "heed/io/tensor_source.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "heed/base/suggest.h"
#include "heed/io/paths.h"
#include "heed/io/shard_index.h"
#include "heed/io/value.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxIndexBytes = 64 << 20;

bool begins_with(const MappedFile& file, std::string_view text) {
  const auto bytes = file.bytes();
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
      .starts_with(text);
}

bool file_exists(const fs::path& path) {
  std::error_code ignored;  // opening the file will say what is wrong
  return fs::exists(path, ignored);
}

std::vector<fs::path> files_with(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> found = list_folder(folder);
  std::erase_if(found, [&](const fs::path& path) { return path.extension() != extension; });
  return found;
}

// A large model may be split over several GGUF files, each with a part of the tensors.
void check_whole(const GgufFile& file, const std::string& name) {
  const std::int64_t parts = file.metadata().integer("split.count").value_or(1);
  HEED_CHECK(parts <= 1,
             "[tensors] {}: it is one of {} parts of a model: join them into one file with "
             "llama-gguf-split --merge",
             name, parts);
}

// The file or index with the weights of a folder.
fs::path weights_in(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                           "pytorch_model.bin.index.json"}) {
    if (file_exists(folder / name)) return folder / name;
  }
  for (const char* extension : {".gguf", ".safetensors", ".bin"}) {
    const std::vector<fs::path> found = files_with(folder, extension);
    HEED_CHECK(found.size() <= 1, "[tensors] {}: there are {} files *{}, e.g. {} and {}: name one",
               folder.string(), found.size(), extension, found[0].filename().string(),
               found[1].filename().string());
    if (!found.empty()) return found[0];
  }
  fail(
      "[tensors] {}: the folder has no weights: expected model.safetensors, pytorch_model.bin, "
      "an index of one of them (*.index.json) or a file *.gguf",
      folder.string());
}

}  // namespace

TensorSource TensorSource::open(const fs::path& path, TensorSourceOptions options) {
  std::error_code ignored;  // opening the file will say what is wrong
  const fs::path file = fs::is_directory(path, ignored) ? weights_in(path) : path;
  const bool index = file.extension() == ".json";
  TensorSource source = index ? open_shards(file, options) : open_file(file, options);
  source.name_ = file.string();
  return source;
}

namespace {

// The size of the header comes first, and may have the first bytes of a pickle: 0x0280 is 640.
bool looks_like_safetensors(std::span<const std::byte> bytes) {
  constexpr std::size_t kSizeBytes = 8;
  return bytes.size() > kSizeBytes && bytes[kSizeBytes] == std::byte{'{'};
}

}  // namespace

TensorSource TensorSource::open_file(const fs::path& path, TensorSourceOptions options) {
  auto mapped = MappedFile::open(path);
  const auto bytes = mapped->bytes();
  const std::string name = path.string();
  HEED_CHECK(!begins_with(*mapped, "version https://git-lfs"),
             "[tensors] {}: it is a pointer of Git LFS, not the file itself: fetch it with git lfs "
             "pull",
             name);
  const auto read = [&] {
    if (begins_with(*mapped, "GGUF") || path.extension() == ".gguf") {
      const GgufFile file = GgufFile::parse(bytes, {options.allow_trailing_bytes}, name);
      check_whole(file, name);
      return TensorSource(file, name);
    }
    if (!looks_like_safetensors(bytes) && TorchFile::recognises(bytes))
      return TensorSource(TorchFile::parse(bytes, name), name);
    return TensorSource(SafetensorsFile::parse(bytes, {options.allow_trailing_bytes}, name), name);
  };
  TensorSource source = read();
  source.files_ = {std::move(mapped)};
  return source;
}

TensorSource TensorSource::open_shards(const fs::path& path, TensorSourceOptions options) {
  const ShardIndex index = parse_shard_index(read_file(path, kMaxIndexBytes), path.string());
  TensorSource all;
  all.name_ = path.string();
  for (std::size_t i = 0; i < index.files.size(); ++i) {
    const fs::path file = path.parent_path() / index.files[i];
    if (!file_exists(file)) {
      const auto first = std::find_if(index.tensors.begin(), index.tensors.end(),
                                      [&](const auto& tensor) { return tensor.second == i; });
      fail("[shards] {}: the file {} is missing: it has tensor {}", path.string(), file.string(),
           in_quotes(first->first));
    }
    all.add(open_file(file, options));
  }
  all.sort_names();
  for (std::size_t i = 1; i < all.by_name_.size(); ++i) {
    const TensorEntry& a = all.entries_[all.by_name_[i - 1]];
    const TensorEntry& b = all.entries_[all.by_name_[i]];
    HEED_CHECK(a.name != b.name, "[shards] {}: tensor {} is in two files, {} and {}", path.string(),
               in_quotes(a.name), index.files[a.file], index.files[b.file]);
  }
  for (const auto& [name, file] : index.tensors) {
    const TensorEntry* entry = all.lookup(name);
    HEED_CHECK(entry && entry->file == file, "[shards] {}: tensor {} is not in {}{}", path.string(),
               in_quotes(name), index.files[file],
               entry ? fmt::format(" but in {}", index.files[entry->file]) : "");
  }
  HEED_CHECK(index.tensors.size() == all.entries_.size(),
             "[shards] {}: the files have {} tensors, weight_map has {}: {} is not listed",
             path.string(), all.entries_.size(), index.tensors.size(), [&] {
               std::vector<std::string_view> listed;
               for (const auto& [name, file] : index.tensors) listed.push_back(name);
               std::sort(listed.begin(), listed.end());
               for (const TensorEntry& e : all.entries_) {
                 if (!std::binary_search(listed.begin(), listed.end(), e.name)) {
                   return in_quotes(e.name);
                 }
               }
               return std::string();
             }());
  return all;
}

TensorSource::TensorSource(const SafetensorsFile& file, std::string_view source)
    : name_(source), format_("safetensors"), texts_(file.metadata()) {
  for (const SafetensorsEntry& e : file.entries()) {
    const auto type = find_tensor_type(e.dtype_name);
    HEED_ASSERT(type);  // the list of types includes those of safetensors
    entries_.push_back({e.name, *type, e.shape, row_major(e.shape), e.bytes});
  }
  files_ = {file.keeper()};
  sort_names();
}

TensorSource::TensorSource(const GgufFile& file, std::string_view source)
    : name_(source),
      format_("GGUF"),
      entries_(file.entries()),
      files_{file.keeper()},
      gguf_(file.metadata()) {
  sort_names();
}

TensorSource::TensorSource(const TorchFile& file, std::string_view source)
    : name_(source), format_("PyTorch"), entries_(file.entries()), files_{file.keeper()} {
  sort_names();
}

void TensorSource::add(TensorSource part) {
  format_ = part.format_;
  if (texts_.empty()) texts_ = std::move(part.texts_);
  for (TensorEntry& entry : part.entries_) {
    entry.file += files_.size();
    entries_.push_back(std::move(entry));
  }
  files_.insert(files_.end(), part.files_.begin(), part.files_.end());
}

void TensorSource::join(TensorSource other, std::string_view prefix) {
  for (TensorEntry& entry : other.entries_) entry.name.insert(0, prefix);
  add(std::move(other));
  sort_names();
}

void TensorSource::sort_names() {
  by_name_.clear();
  for (std::uint32_t i = 0; i < entries_.size(); ++i) by_name_.push_back(i);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return entries_[a].name < entries_[b].name; });
  const auto list = [](const Dims& dims) { return std::vector(dims.begin(), dims.end()); };
  using Sizes = std::vector<std::int64_t>;
  std::map<std::tuple<const std::byte*, TensorType, Sizes, Sizes>, std::int64_t> first;
  tied_.assign(entries_.size(), -1);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const TensorEntry& e = entries_[i];
    if (e.bytes.empty()) continue;
    const auto [same, fresh] =
        first.try_emplace({e.bytes.data(), e.type, list(e.shape), list(e.strides)}, i);
    if (!fresh) tied_[i] = same->second;
  }
}

const TensorEntry* TensorSource::lookup(std::string_view name) const {
  const auto it = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::uint32_t i, std::string_view wanted) { return entries_[i].name < wanted; });
  const bool found = it != by_name_.end() && entries_[*it].name == name;
  return found ? &entries_[*it] : nullptr;
}

const TensorEntry& TensorSource::find(std::string_view name) const {
  if (const TensorEntry* entry = lookup(name)) return *entry;
  std::vector<std::string_view> names;
  for (const TensorEntry& e : entries_) names.push_back(e.name);
  const std::string_view guess = nearest(name, names);
  fail("[tensors] {}: no tensor {} among {}{}", name_, in_quotes(name), names.size(),
       guess.empty() ? "" : fmt::format(": did you mean {}?", in_quotes(guess)));
}

const TensorEntry* TensorSource::tied_to(const TensorEntry& entry) const {
  const auto i = static_cast<std::size_t>(&entry - entries_.data());
  HEED_ASSERT(i < entries_.size());
  return tied_[i] < 0 ? nullptr : &entries_[static_cast<std::size_t>(tied_[i])];
}

}  // namespace heed::io
