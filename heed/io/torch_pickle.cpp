#include "heed/io/torch_pickle.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/pickle.h"
#include "heed/io/value.h"

namespace heed::io {
namespace {

constexpr int kMaxTorchDepth = 16;               // of nested dicts and lists
constexpr std::size_t kMaxTorchItems = 1 << 20;  // visited in all; dicts may share parts

// The globals of a file of tensors.
enum class TorchRole : std::uint8_t {
  dict,
  tensor_v1,
  tensor_v2,
  tensor_v3,
  parameter,
  storage,
  untyped_storage,
  dtype,
};
struct TorchGlobal {
  PickleGlobal global;
  TorchRole role;
  TensorType type = TensorType::U8;  // of a storage or dtype
};

constexpr PickleGlobal called(std::string_view module, std::string_view name) {
  return {module, name, PickleGlobal::Use::call};
}
constexpr TorchGlobal storage_of(std::string_view name, TensorType type) {
  return {{"torch", name}, TorchRole::storage, type};
}
constexpr TorchGlobal dtype_of_name(std::string_view name, TensorType type) {
  return {{"torch", name}, TorchRole::dtype, type};
}

constexpr TorchGlobal kTorchGlobals[] = {
    {{"collections", "OrderedDict", PickleGlobal::Use::dict}, TorchRole::dict},
    {called("torch._utils", "_rebuild_tensor"), TorchRole::tensor_v1},
    {called("torch._utils", "_rebuild_tensor_v2"), TorchRole::tensor_v2},
    {called("torch._utils", "_rebuild_tensor_v3"), TorchRole::tensor_v3},
    {called("torch._utils", "_rebuild_parameter"), TorchRole::parameter},
    {{"torch.storage", "UntypedStorage"}, TorchRole::untyped_storage},
    {{"torch", "UntypedStorage"}, TorchRole::untyped_storage},
    storage_of("FloatStorage", TensorType::F32),
    storage_of("DoubleStorage", TensorType::F64),
    storage_of("HalfStorage", TensorType::F16),
    storage_of("BFloat16Storage", TensorType::BF16),
    storage_of("CharStorage", TensorType::I8),
    storage_of("ShortStorage", TensorType::I16),
    storage_of("IntStorage", TensorType::I32),
    storage_of("LongStorage", TensorType::I64),
    storage_of("ByteStorage", TensorType::U8),
    storage_of("BoolStorage", TensorType::BOOL),
    storage_of("ComplexFloatStorage", TensorType::C64),
    storage_of("ComplexDoubleStorage", TensorType::C128),
    dtype_of_name("float32", TensorType::F32),
    dtype_of_name("float64", TensorType::F64),
    dtype_of_name("float16", TensorType::F16),
    dtype_of_name("bfloat16", TensorType::BF16),
    dtype_of_name("int8", TensorType::I8),
    dtype_of_name("int16", TensorType::I16),
    dtype_of_name("int32", TensorType::I32),
    dtype_of_name("int64", TensorType::I64),
    dtype_of_name("uint8", TensorType::U8),
    dtype_of_name("uint16", TensorType::U16),
    dtype_of_name("uint32", TensorType::U32),
    dtype_of_name("uint64", TensorType::U64),
    dtype_of_name("bool", TensorType::BOOL),
    dtype_of_name("complex64", TensorType::C64),
    dtype_of_name("complex128", TensorType::C128),
    dtype_of_name("float8_e4m3fn", TensorType::F8_E4M3),
    dtype_of_name("float8_e5m2", TensorType::F8_E5M2),
    dtype_of_name("float8_e8m0fnu", TensorType::F8_E8M0),
    dtype_of_name("float8_e4m3fnuz", TensorType::F8_E4M3FNUZ),
    dtype_of_name("float8_e5m2fnuz", TensorType::F8_E5M2FNUZ),
};

const std::vector<PickleGlobal>& torch_globals() {
  static const std::vector<PickleGlobal> globals = [] {
    std::vector<PickleGlobal> list;
    for (const TorchGlobal& g : kTorchGlobals) list.push_back(g.global);
    return list;
  }();
  return globals;
}

const TorchGlobal& torch_global(const PickleItem& item) {
  return kTorchGlobals[static_cast<std::size_t>(item.integer)];
}

// Turns calls into tensors and collects them by name.
class TorchTree {
 public:
  TorchTree(TorchPickle& result, std::string_view source) : result_(result), source_(source) {}

  void collect(const std::string& name, const PickleItem& item, int depth) {
    HEED_CHECK(++visited_ <= kMaxTorchItems, "[torch] {}: more than {} values", source_,
               kMaxTorchItems);
    switch (item.kind) {
      case PickleKind::call:
        add(name, read_tensor(name, item));
        return;
      case PickleKind::persistent:
        storage_at(name, item);  // checked; it is no tensor
        return;
      case PickleKind::dict:
      case PickleKind::list:
      case PickleKind::tuple:
        break;
      default:
        return;
    }
    HEED_CHECK(depth < kMaxTorchDepth, "[torch] {}: {} is nested more than {} deep", source_,
               in_quotes(name), kMaxTorchDepth);
    const std::vector<PickleItem>& items = item.node->items;
    if (item.kind == PickleKind::dict) {
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        collect(joined(name, key_text(name, items[i])), items[i + 1], depth + 1);
      }
    } else {
      for (std::size_t i = 0; i < items.size(); ++i) {
        collect(joined(name, fmt::format("{}", i)), items[i], depth + 1);
      }
    }
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(const std::string& name, const PickleItem& item,
                           fmt::format_string<Args...> format, Args&&... args) const {
    fail("[torch] {}: tensor {} (pickle, byte {}): {}", source_, in_quotes(name), item.node->byte,
         fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string joined(const std::string& prefix, const std::string& key) {
    return prefix.empty() ? key : prefix + "." + key;
  }

  std::string key_text(const std::string& name, const PickleItem& key) const {
    if (key.kind == PickleKind::text) return std::string(key.text());
    HEED_CHECK(key.kind == PickleKind::integer,
               "[torch] {}: a key in the dict {} is {}: expected a string or an integer", source_,
               in_quotes(name), describe(key.kind));
    return fmt::format("{}", key.integer);
  }

  void add(const std::string& name, TorchTensor tensor) {
    HEED_CHECK(names_.insert(name).second, "[torch] {}: tensor {} occurs twice", source_,
               in_quotes(name));
    tensor.name = name;
    result_.tensors.push_back(std::move(tensor));
  }

  TorchTensor read_tensor(const std::string& name, const PickleItem& call) {
    const TorchRole role = torch_global(call.node->items[0]).role;
    const std::vector<PickleItem>& arguments = call.node->items[1].node->items;
    if (role == TorchRole::parameter) {
      const bool nested = !arguments.empty() && arguments[0].kind == PickleKind::call &&
                          torch_global(arguments[0].node->items[0]).role != TorchRole::parameter;
      if (!nested) refuse(name, call, "a parameter must hold a tensor");
      return read_tensor(name, arguments[0]);
    }
    const std::size_t required = role == TorchRole::tensor_v1   ? 4
                                 : role == TorchRole::tensor_v2 ? 6
                                                                : 7;
    if (arguments.size() < required) {
      refuse(name, call, "it is made from {} arguments, expected {}", arguments.size(), required);
    }
    TorchTensor tensor{};
    if (arguments[0].kind != PickleKind::persistent) {
      refuse(name, call, "its storage is {}", describe(arguments[0].kind));
    }
    tensor.storage = storage_at(name, arguments[0]);
    tensor.type = result_.storages[tensor.storage].type;
    if (role == TorchRole::tensor_v3) {
      const PickleItem& dtype = arguments[6];
      if (dtype.kind != PickleKind::global || torch_global(dtype).role != TorchRole::dtype) {
        refuse(name, call, "its dtype is {}", describe(dtype.kind));
      }
      tensor.type = torch_global(dtype).type;
    }
    tensor.offset = count_at(name, call, "its offset", arguments[1]);
    tensor.shape = dims_at(name, call, "its shape", arguments[2]);
    tensor.strides = dims_at(name, call, "its strides", arguments[3]);
    check_view(name, call, tensor);
    return tensor;
  }

  std::int64_t count_at(const std::string& name, const PickleItem& call, std::string_view what,
                        const PickleItem& item) const {
    if (item.kind != PickleKind::integer || item.integer < 0) {
      refuse(name, call, "{} must be an integer from 0 to 2^63 - 1, found {}", what,
             item.kind == PickleKind::integer ? fmt::format("{}", item.integer)
                                              : std::string(describe(item.kind)));
    }
    return item.integer;
  }

  Dims dims_at(const std::string& name, const PickleItem& call, std::string_view what,
               const PickleItem& item) const {
    if (item.kind != PickleKind::tuple) {
      refuse(name, call, "{} must be a tuple, found {}", what, describe(item.kind));
    }
    const std::vector<PickleItem>& sizes = item.node->items;
    if (sizes.size() > kMaxRank) {
      refuse(name, call, "it has {} dimensions: at most {} are supported", sizes.size(), kMaxRank);
    }
    Dims dims;
    for (const PickleItem& size : sizes) dims.push_back(count_at(name, call, what, size));
    return dims;
  }

  // ('storage', type, key, location, count), in old files with a sixth item that is None.
  std::size_t storage_at(const std::string& name, const PickleItem& item) {
    const PickleItem& id = item.node->items[0];
    const bool known = id.kind == PickleKind::tuple && id.node->items.size() >= 5 &&
                       id.node->items.size() <= 6 && id.node->items[0].kind == PickleKind::text &&
                       id.node->items[0].text() == "storage";
    if (!known) refuse(name, item, "its storage is not named by ('storage', type, key, …)");
    const std::vector<PickleItem>& parts = id.node->items;
    const bool typed = parts[1].kind == PickleKind::global &&
                       (torch_global(parts[1]).role == TorchRole::storage ||
                        torch_global(parts[1]).role == TorchRole::untyped_storage);
    if (!typed || parts[2].kind != PickleKind::text) {
      refuse(name, item, "the type of its storage is {} and the key is {}", describe(parts[1].kind),
             describe(parts[2].kind));
    }
    if (parts.size() == 6 && parts[5].kind != PickleKind::none) {
      refuse(name, item,
             "its storage is a view of another one: save the file again with a "
             "current PyTorch");
    }
    TorchStorage storage{std::string(parts[2].text()), torch_global(parts[1]).type,
                         count_at(name, item, "the size of its storage", parts[4])};
    const auto bytes = byte_count({storage.count}, storage.type);
    if (!bytes) refuse(name, item, "its storage has {} elements: too many", storage.count);
    storage.bytes = *bytes;
    const auto [found, fresh] = by_key_.try_emplace(storage.key, result_.storages.size());
    if (fresh) {
      result_.storages.push_back(std::move(storage));
    } else {
      const TorchStorage& first = result_.storages[found->second];
      if (first.type != storage.type || first.count != storage.count) {
        refuse(name, item, "storage {} has {} elements of {} here and {} of {} before",
               in_quotes(storage.key), storage.count, info(storage.type).name, first.count,
               info(first.type).name);
      }
    }
    return found->second;
  }

  // Every index must lie within the storage. A view may not repeat elements so often that it is
  // larger than its storage, because it is copied when it is read.
  void check_view(const std::string& name, const PickleItem& call, TorchTensor& tensor) const {
    const TorchStorage& storage = result_.storages[tensor.storage];
    const std::int64_t size = info(tensor.type).block_bytes;
    const auto count = static_cast<std::int64_t>(storage.bytes) / size;
    const auto bytes = byte_count(tensor.shape, tensor.type);
    if (tensor.shape.rank() != tensor.strides.rank() || !bytes) {
      refuse(name, call, "shape {} and strides {} do not fit together or overflow",
             to_string(tensor.shape), to_string(tensor.strides));
    }
    std::int64_t last = tensor.offset;  // the index of the last element
    bool overflow = false;
    for (int i = 0; i < tensor.shape.rank(); ++i) {
      std::int64_t step = 0;
      overflow |= __builtin_mul_overflow(std::max<std::int64_t>(tensor.shape[i] - 1, 0),
                                         tensor.strides[i], &step) ||
                  __builtin_add_overflow(last, step, &last);
    }
    const bool empty = *bytes == 0;
    const bool inside = empty ? tensor.offset <= count : !overflow && last < count;
    if (!inside || static_cast<std::int64_t>(*bytes) / size > count) {
      refuse(name, call,
             "shape {} with strides {} at offset {} reaches beyond its storage {}, which has {} "
             "elements",
             to_string(tensor.shape), to_string(tensor.strides), tensor.offset,
             in_quotes(storage.key), count);
    }
    const Strides plain = row_major(tensor.shape);
    bool same = true;
    for (int i = 0; i < plain.rank(); ++i) {
      same &= tensor.shape[i] <= 1 || tensor.strides[i] == plain[i];
    }
    if (same || empty) tensor.strides = plain;
  }

  TorchPickle& result_;
  std::string_view source_;
  std::size_t visited_ = 0;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, std::size_t, std::less<>> by_key_;
};

}  // namespace

TorchPickle read_torch_pickle(std::span<const std::byte> bytes, std::string_view source,
                              std::size_t base) {
  const Pickle pickle(bytes, torch_globals(), source, base);
  TorchPickle result;
  result.size = pickle.size();
  TorchTree(result, source).collect("", pickle.root(), 0);
  return result;
}

}  // namespace heed::io
