// The strict reader. It checks, in order: the magic and the version, the metadata, each tensor of
// the table alone, all tensors together.
#include "heed/io/gguf.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "heed/io/value.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF data is little endian");

constexpr std::uint64_t kMaxGgufTensors = 1 << 17;  // real files have a few thousand
constexpr std::uint64_t kMaxGgufNameBytes = 1024;   // llama.cpp allows 63
constexpr std::uint64_t kDefaultGgufAlignment = 32;
constexpr std::uint64_t kMaxGgufAlignment = 1 << 20;

// The types by their number in the file. Numbers 4, 5, 31 to 33 and 36 to 38 belonged to types that
// llama.cpp has removed.
struct NumberedType {
  std::uint32_t number;
  TensorType type;
};
constexpr NumberedType kGgufTensorTypes[] = {
    {0, TensorType::F32},     {1, TensorType::F16},      {2, TensorType::Q4_0},
    {3, TensorType::Q4_1},    {6, TensorType::Q5_0},     {7, TensorType::Q5_1},
    {8, TensorType::Q8_0},    {9, TensorType::Q8_1},     {10, TensorType::Q2_K},
    {11, TensorType::Q3_K},   {12, TensorType::Q4_K},    {13, TensorType::Q5_K},
    {14, TensorType::Q6_K},   {15, TensorType::Q8_K},    {16, TensorType::IQ2_XXS},
    {17, TensorType::IQ2_XS}, {18, TensorType::IQ3_XXS}, {19, TensorType::IQ1_S},
    {20, TensorType::IQ4_NL}, {21, TensorType::IQ3_S},   {22, TensorType::IQ2_S},
    {23, TensorType::IQ4_XS}, {24, TensorType::I8},      {25, TensorType::I16},
    {26, TensorType::I32},    {27, TensorType::I64},     {28, TensorType::F64},
    {29, TensorType::IQ1_M},  {30, TensorType::BF16},    {34, TensorType::TQ1_0},
    {35, TensorType::TQ2_0},  {39, TensorType::MXFP4},   {40, TensorType::NVFP4},
    {41, TensorType::Q1_0},
};

class GgufReader {
 public:
  GgufReader(std::span<const std::byte> file, GgufOptions options, std::string_view source)
      : file_(file), options_(options), source_(source), reader_(file, "gguf", source) {}

  void run() {
    read_version();
    const auto tensors = reader_.number<std::uint64_t>("the number of tensors");
    const auto keys = reader_.number<std::uint64_t>("the number of metadata keys");
    if (tensors > kMaxGgufTensors) {
      reader_.refuse_at(8, "{} tensors: the limit is {}", tensors, kMaxGgufTensors);
    }
    metadata = GgufMetadata(reader_, keys);
    read_alignment();
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor();
    check_names();
    place_tensors();
  }

  std::uint32_t version = 0;
  GgufMetadata metadata;
  std::vector<TensorEntry> entries;

 private:
  // What the table says about the place of a tensor.
  struct Place {
    std::uint64_t offset;  // from the start of the data
    std::uint64_t size;
    std::size_t byte;  // of its line in the table
  };

  void read_version() {
    const std::string_view magic = reader_.text(4, "the magic");
    if (magic != "GGUF") {
      reader_.refuse_at(0, "the file begins with {}, not with \"GGUF\": is it a GGUF file?",
                        in_quotes(magic));
    }
    version = reader_.number<std::uint32_t>("the version");
    if (version == 2 || version == 3) return;
    const bool swapped = version != 0 && (version & 0xffff) == 0;
    reader_.refuse_at(
        4, "{}: heed reads versions 2 and 3, little endian{}",
        swapped ? std::string("the file is big endian") : fmt::format("the version is {}", version),
        version == 1 ? "; convert the file again with a current llama.cpp" : "");
  }

  void read_alignment() {
    const auto value = metadata.integer("general.alignment");
    if (!value) return;
    const bool valid = *value > 0 && *value <= static_cast<std::int64_t>(kMaxGgufAlignment) &&
                       std::has_single_bit(static_cast<std::uint64_t>(*value));
    HEED_CHECK(valid, "[gguf] {}: general.alignment is {}: it must be a power of 2 up to {}",
               source_, *value, kMaxGgufAlignment);
    alignment_ = static_cast<std::uint64_t>(*value);
  }

  template <typename... Args>
  [[noreturn]] void refuse(const TensorEntry& entry, const Place& place,
                           fmt::format_string<Args...> format, Args&&... args) const {
    fail("[gguf] {}: tensor {} (table, byte {}): {}", source_, in_quotes(entry.name), place.byte,
         fmt::format(format, std::forward<Args>(args)...));
  }

  void read_tensor() {
    TensorEntry entry;
    Place place{0, 0, reader_.file_byte()};
    const auto length = reader_.number<std::uint64_t>("the length of a tensor's name");
    if (length == 0 || length > kMaxGgufNameBytes) {
      reader_.refuse_at(place.byte, "the name of tensor {} has {} bytes: 1 to {} are allowed",
                        entries.size(), length, kMaxGgufNameBytes);
    }
    entry.name = reader_.text(length, "the name of a tensor");
    read_shape(entry, place);
    const auto number = reader_.number<std::uint32_t>("the type of a tensor");
    const auto* type = std::find_if(std::begin(kGgufTensorTypes), std::end(kGgufTensorTypes),
                                    [&](const NumberedType& t) { return t.number == number; });
    if (type == std::end(kGgufTensorTypes)) {
      refuse(entry, place, "its type is {}, a number that heed does not know", number);
    }
    entry.type = type->type;
    place.offset = reader_.number<std::uint64_t>("the offset of a tensor");
    const auto size = byte_count(entry.shape, entry.type);
    if (!size) {
      refuse(entry, place, "shape {} of {} overflows or does not fill whole blocks of {} elements",
             to_string(entry.shape), info(entry.type).name, info(entry.type).block);
    }
    entry.strides = row_major(entry.shape);
    place.size = *size;
    entries.push_back(std::move(entry));
    places_.push_back(place);
  }

  void read_shape(TensorEntry& entry, const Place& place) {
    const auto rank = reader_.number<std::uint32_t>("the rank of a tensor");
    if (rank > kMaxRank) {
      refuse(entry, place, "it has {} dimensions: at most {} are supported", rank, kMaxRank);
    }
    entry.shape = Dims::filled(static_cast<int>(rank), 0);
    for (int i = static_cast<int>(rank) - 1; i >= 0; --i) {  // the file has the fastest axis first
      const auto size = reader_.number<std::uint64_t>("a size of a tensor");
      if (size >> 63 != 0) refuse(entry, place, "a size is {}: the limit is 2^63 - 1", size);
      entry.shape[i] = static_cast<std::int64_t>(size);
    }
  }

  void check_names() const {
    std::vector<std::size_t> order = positions();
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(std::string_view(entries[a].name), a) <
             std::pair(std::string_view(entries[b].name), b);
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (entries[order[i - 1]].name == entries[order[i]].name) {
        refuse(entries[order[i]], places_[order[i]], "the name occurs twice; first at byte {}",
               places_[order[i - 1]].byte);
      }
    }
  }

  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> order(entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    return order;
  }

  // The data begins at the next multiple of the alignment. Sorted by offset, each tensor begins
  // where the padding of the one before ends.
  void place_tensors() {
    if (entries.empty()) return;
    const std::uint64_t begin = aligned(reader_.at());
    const std::uint64_t size = begin <= file_.size() ? file_.size() - begin : 0;
    std::vector<std::size_t> order = positions();
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(places_[a].offset, places_[a].size) <
             std::pair(places_[b].offset, places_[b].size);
    });
    std::uint64_t end = 0;  // of the tensor before
    std::string before = "the table";
    for (const std::size_t i : order) {
      const Place& place = places_[i];
      TensorEntry& entry = entries[i];
      if (place.offset % alignment_ != 0) {
        refuse(entry, place, "its offset {} is not a multiple of the alignment {}", place.offset,
               alignment_);
      }
      if (place.offset > size || place.size > size - place.offset) {
        refuse(entry, place,
               "{} bytes at offset {} reach beyond the data, which has {} bytes: the file is cut "
               "off",
               place.size, place.offset, size);
      }
      if (place.offset < end) {
        refuse(entry, place, "its data begins at byte {}, inside {}, which ends at byte {}",
               begin + place.offset, before, begin + end);
      }
      if (place.offset != aligned(end)) {
        refuse(entry, place, "bytes {} to {} between {} and its data belong to no tensor",
               begin + aligned(end), begin + place.offset, before);
      }
      // A file without data may end before the data would begin.
      if (place.size != 0) entry.bytes = file_.subspan(begin + place.offset, place.size);
      end = place.offset + place.size;
      before = fmt::format("tensor {}", in_quotes(entry.name));
    }
    HEED_CHECK(size <= aligned(end) || options_.allow_trailing_bytes,
               "[gguf] {}: {} bytes follow {}, which ends at byte {}; set allow_trailing_bytes to "
               "accept them",
               source_, size - end, before, begin + end);
  }

  // The next multiple of the alignment; a position in a file is far below 2^63.
  std::uint64_t aligned(std::uint64_t at) const {
    return (at + alignment_ - 1) / alignment_ * alignment_;
  }

  std::span<const std::byte> file_;
  GgufOptions options_;
  std::string_view source_;
  ByteReader reader_;
  std::uint64_t alignment_ = kDefaultGgufAlignment;
  std::vector<Place> places_;  // of entries
};

}  // namespace

GgufFile GgufFile::open(const std::filesystem::path& path, GgufOptions options) {
  auto mapped = MappedFile::open(path);
  GgufFile file = parse(mapped->bytes(), options, path.string());
  file.keeper_ = std::move(mapped);
  return file;
}

GgufFile GgufFile::parse(std::span<const std::byte> bytes, GgufOptions options,
                         std::string_view source) {
  GgufReader reader(bytes, options, source);
  reader.run();
  GgufFile file;
  file.version_ = reader.version;
  file.metadata_ = std::move(reader.metadata);
  file.entries_ = std::move(reader.entries);
  return file;
}

}  // namespace heed::io
