#include "heed/io/torch_file.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "heed/io/byte_reader.h"
#include "heed/io/pickle.h"
#include "heed/io/torch_pickle.h"
#include "heed/io/value.h"
#include "heed/io/zip.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the storages are little endian");

constexpr std::string_view kZipMagic = "PK\x03\x04";
// The pickle of the magic number 0x1950a86a20f9469cfc6c.
constexpr std::string_view kOldMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
constexpr std::int64_t kOldVersion = 1001;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The entries of all tensors, given the bytes of each storage.
std::vector<TensorEntry> torch_entries(const TorchPickle& pickle,
                                       const std::vector<std::span<const std::byte>>& storages) {
  std::vector<TensorEntry> entries;
  for (const TorchTensor& tensor : pickle.tensors) {
    const std::int64_t size = info(tensor.type).block_bytes;
    std::int64_t count = numel(tensor.shape) == 0 ? 0 : 1;
    for (int i = 0; i < tensor.shape.rank() && count > 0; ++i) {
      count += (tensor.shape[i] - 1) * tensor.strides[i];
    }
    const auto bytes = storages[tensor.storage].subspan(
        static_cast<std::size_t>(tensor.offset * size), static_cast<std::size_t>(count * size));
    entries.push_back({tensor.name, tensor.type, tensor.shape, tensor.strides, bytes});
  }
  return entries;
}

class TorchZipReader {
 public:
  TorchZipReader(std::span<const std::byte> file, std::string_view source)
      : file_(file), source_(source), archive_(ZipArchive::parse(file, "torch", source)) {}

  std::vector<TensorEntry> run() const {
    const ZipEntry& data = find_pickle();
    const std::string prefix(data.name.substr(0, data.name.size() - kPickleName.size()));
    check_byte_order(prefix);
    archive_.check_crc(data);
    const auto base = static_cast<std::size_t>(data.bytes.data() - file_.data());
    const TorchPickle pickle = read_torch_pickle(data.bytes, source_, base);
    HEED_CHECK(pickle.size == data.bytes.size(),
               "[torch] {}: {} bytes follow the pickle in entry {}", source_,
               data.bytes.size() - pickle.size, in_quotes(data.name));
    std::vector<std::span<const std::byte>> storages;
    for (const TorchStorage& storage : pickle.storages) {
      storages.push_back(storage_bytes(prefix, storage));
    }
    return torch_entries(pickle, storages);
  }

 private:
  static constexpr std::string_view kPickleName = "data.pkl";

  // archive/data.pkl, where the name of the folder differs from file to file.
  const ZipEntry& find_pickle() const {
    const ZipEntry* found = nullptr;
    for (const ZipEntry& entry : archive_.entries()) {
      if (entry.name.ends_with("/constants.pkl") || entry.name == "constants.pkl") {
        fail(
            "[torch] {}: it is a TorchScript program ({}): heed reads state dicts; save "
            "module.state_dict() with torch.save",
            source_, in_quotes(entry.name));
      }
      const bool here =
          entry.name == kPickleName || (entry.name.ends_with("/data.pkl") &&
                                        std::count(entry.name.begin(), entry.name.end(), '/') == 1);
      if (!here) continue;
      HEED_CHECK(!found, "[torch] {}: entries {} and {} are both the pickle", source_,
                 in_quotes(found->name), in_quotes(entry.name));
      found = &entry;
    }
    HEED_CHECK(found,
               "[torch] {}: the zip archive has no entry data.pkl: is it a file of "
               "torch.save?",
               source_);
    return *found;
  }

  void check_byte_order(const std::string& prefix) const {
    const ZipEntry* order = archive_.find(prefix + "byteorder");
    HEED_CHECK(!order || as_text(order->bytes) == "little",
               "[torch] {}: the byte order is {}: heed reads little endian", source_,
               in_quotes(as_text(order->bytes)));
  }

  std::span<const std::byte> storage_bytes(const std::string& prefix,
                                           const TorchStorage& storage) const {
    const std::string name = prefix + "data/" + storage.key;
    const ZipEntry* entry = archive_.find(name);
    HEED_CHECK(entry, "[torch] {}: the zip archive has no entry {}: the file is damaged", source_,
               in_quotes(name));
    HEED_CHECK(entry->bytes.size() == storage.bytes,
               "[torch] {}: entry {} has {} bytes, {} elements of {} need {}", source_,
               in_quotes(name), entry->bytes.size(), storage.count, info(storage.type).name,
               storage.bytes);
    return entry->bytes;
  }

  std::span<const std::byte> file_;
  std::string_view source_;
  ZipArchive archive_;
};

class OldTorchReader {
 public:
  OldTorchReader(std::span<const std::byte> file, std::string_view source)
      : file_(file), source_(source), at_(kOldMagic.size()) {}

  std::vector<TensorEntry> run() {
    const Pickle version = plain_pickle();
    HEED_CHECK(version.root().kind == PickleKind::integer && version.root().integer == kOldVersion,
               "[torch] {}: byte {}: the version of the file must be {}", source_, kOldMagic.size(),
               kOldVersion);
    check_machine(plain_pickle());
    const TorchPickle pickle = read_torch_pickle(file_.subspan(at_), source_, at_);
    at_ += pickle.size;
    const Pickle keys = plain_pickle();
    return torch_entries(pickle, read_storages(pickle, keys.root()));
  }

 private:
  Pickle plain_pickle() {
    Pickle pickle(file_.subspan(at_), {}, source_, at_);
    at_ += pickle.size();
    return pickle;
  }

  void check_machine(const Pickle& pickle) const {
    if (pickle.root().kind != PickleKind::dict) return;
    const std::vector<PickleItem>& items = pickle.root().node->items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const bool big = items[i].kind == PickleKind::text && items[i].text() == "little_endian" &&
                       items[i + 1].kind == PickleKind::boolean && items[i + 1].integer == 0;
      HEED_CHECK(!big, "[torch] {}: the file is big endian: heed reads little endian", source_);
    }
  }

  // Each storage in the order of the keys: its element count, then its bytes.
  std::vector<std::span<const std::byte>> read_storages(const TorchPickle& pickle,
                                                        const PickleItem& keys) {
    HEED_CHECK(keys.kind == PickleKind::list,
               "[torch] {}: the storage keys before byte {} are {}, expected a list", source_, at_,
               describe(keys.kind));
    std::map<std::string_view, std::size_t> wanted;
    for (std::size_t i = 0; i < pickle.storages.size(); ++i) wanted[pickle.storages[i].key] = i;
    std::vector<std::span<const std::byte>> storages(pickle.storages.size());
    ByteReader reader(file_.subspan(at_), "torch", source_, at_);
    for (const PickleItem& key : keys.node->items) {
      const auto found = key.kind == PickleKind::text ? wanted.find(key.text()) : wanted.end();
      if (found == wanted.end()) {
        reader.refuse(
            "a storage follows here that no tensor uses, or that is listed twice: {}",
            key.kind == PickleKind::text ? in_quotes(key.text()) : std::string(describe(key.kind)));
      }
      const TorchStorage& storage = pickle.storages[found->second];
      const std::size_t byte = reader.file_byte();
      const auto count = reader.number<std::int64_t>("the size of a storage");
      if (count != storage.count) {
        reader.refuse_at(byte, "storage {} has {} elements here and {} in the pickle",
                         in_quotes(storage.key), count, storage.count);
      }
      storages[found->second] =
          reader.take(storage.bytes, fmt::format("storage {}", in_quotes(storage.key)));
      wanted.erase(found);
    }
    HEED_CHECK(wanted.empty(), "[torch] {}: storage {} is not in the file", source_,
               in_quotes(wanted.begin()->first));
    HEED_CHECK(reader.left() == 0, "[torch] {}: {} bytes follow the last storage", source_,
               reader.left());
    return storages;
  }

  std::span<const std::byte> file_;
  std::string_view source_;
  std::size_t at_;
};

}  // namespace

TorchFile TorchFile::open(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  TorchFile file = parse(mapped->bytes(), path.string());
  file.keeper_ = std::move(mapped);
  return file;
}

TorchFile TorchFile::parse(std::span<const std::byte> bytes, std::string_view source) {
  TorchFile file;
  if (as_text(bytes).starts_with(kZipMagic)) {
    file.entries_ = TorchZipReader(bytes, source).run();
  } else {
    HEED_CHECK(as_text(bytes).starts_with(kOldMagic),
               "[torch] {}: it begins neither like a zip archive nor like an old file of "
               "torch.save: is it a PyTorch file?",
               source);
    file.entries_ = OldTorchReader(bytes, source).run();
  }
  HEED_CHECK(!file.entries_.empty(), "[torch] {}: it has no tensors", source);
  return file;
}

bool TorchFile::recognises(std::span<const std::byte> bytes) {
  const std::string_view text = as_text(bytes);
  return text.starts_with(kZipMagic) ||
         (text.size() >= 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5);
}

}  // namespace heed::io
