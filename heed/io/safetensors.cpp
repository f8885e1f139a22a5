// The strict reader. It checks, in order: the header length, the JSON, each tensor alone, all
// ranges together.
#include "heed/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "heed/base/suggest.h"
#include "heed/io/json.h"
#include "heed/io/safetensors_format.h"

namespace heed::io {
namespace {

using detail::FormatDType;
using detail::kLengthBytes;
using detail::kMaxHeaderBytes;
using detail::kMetadataKey;

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Reads the header of one file; positions in messages count from the start of the file.
class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, SafetensorsOptions options, std::string_view source)
      : file_(file), options_(options), source_(source) {}

  void run() {
    const std::string_view text = header_text();
    const Value header = parse(text);
    data_ = file_.subspan(kLengthBytes + text.size());
    for (const Member& member : *header.table()) {
      if (member.key == kMetadataKey) {
        read_metadata(member.value);
      } else {
        read_tensor(member);
      }
    }
    check_tiling();
  }

  std::vector<SafetensorsEntry> entries;
  Metadata metadata;

 private:
  std::string_view header_text() const {
    HEED_CHECK(file_.size() >= kLengthBytes,
               "[safetensors] {}: {} bytes long: even an empty file has {} bytes of header length",
               source_, file_.size(), kLengthBytes);
    std::uint64_t length = 0;
    std::memcpy(&length, file_.data(), kLengthBytes);
    HEED_CHECK(length <= kMaxHeaderBytes,
               "[safetensors] {}: the header length at byte 0 is {}, the limit is {}: is it "
               "a safetensors file?",
               source_, length, kMaxHeaderBytes);
    HEED_CHECK(length <= file_.size() - kLengthBytes,
               "[safetensors] {}: the header ends at byte {}, the file at byte {}: it is cut off",
               source_, kLengthBytes + length, file_.size());
    const auto* text = reinterpret_cast<const char*>(file_.data() + kLengthBytes);
    return {text, static_cast<std::size_t>(length)};
  }

  Value parse(std::string_view text) const {
    HEED_CHECK(text.starts_with('{'),
               "[safetensors] {}: the header at byte {} does not begin with {{: is it a "
               "safetensors file?",
               source_, kLengthBytes);
    try {
      return parse_json(text, source_);
    } catch (const ParseError& e) {
      fail("[safetensors] {}: the header is invalid at byte {}: {}", source_,
           kLengthBytes + e.position.byte, e.reason);
    }
  }

  // Throws an error about a value in the header, which belongs to a tensor (or to the metadata).
  template <typename... Args>
  [[noreturn]] void refuse(std::string_view name, const Value& value,
                           fmt::format_string<Args...> format, Args&&... args) const {
    fail("[safetensors] {}: tensor {} (header, byte {}): {}", source_, in_quotes(name),
         kLengthBytes + value.position.byte, fmt::format(format, std::forward<Args>(args)...));
  }

  void read_metadata(const Value& value) {
    if (!value.table()) refuse(kMetadataKey, value, "metadata must be an object of strings");
    for (const Member& member : *value.table()) {
      if (!member.value.string()) {
        refuse(kMetadataKey, member.value, "{} must be a string, found {}", in_quotes(member.key),
               describe(member.value));
      }
      metadata.emplace(member.key, *member.value.string());
    }
  }

  void read_tensor(const Member& member) {
    const std::string& name = member.key;
    if (!member.value.table())
      refuse(name, member.value, "found {}, expected an object with dtype, shape and data_offsets",
             describe(member.value));
    for (const Member& m : *member.value.table()) {
      if (m.key != "dtype" && m.key != "shape" && m.key != "data_offsets") {
        refuse(name, m.value, "unknown key {}: a tensor has dtype, shape and data_offsets",
               in_quotes(m.key));
      }
    }
    const FormatDType& dtype = read_dtype(name, get(member, "dtype"));
    const Value& shape_value = get(member, "shape");
    const Shape shape = read_shape(name, shape_value);
    const auto size = detail::byte_count(shape, dtype.bits);
    if (!size) {
      refuse(name, shape_value, "shape {} of {} overflows or does not fill whole bytes",
             to_string(shape), dtype.name);
    }
    const Value& offsets = get(member, "data_offsets");
    const Range range = read_range(name, offsets);
    if (range.end - range.begin != *size) {
      refuse(name, offsets, "data_offsets [{}, {}] hold {} bytes, shape {} of {} needs {}",
             range.begin, range.end, range.end - range.begin, to_string(shape), dtype.name, *size);
    }
    const auto bytes = data_.subspan(range.begin, *size);
    entries.push_back({name, dtype.name, dtype.dtype, shape, bytes});
    ranges_.push_back(range);
    check_data(entries.back());
  }

  const Value& get(const Member& tensor, std::string_view key) const {
    const Value* value = io::find(*tensor.value.table(), key);
    if (!value) refuse(tensor.key, tensor.value, "{} is missing", key);
    return *value;
  }

  const FormatDType& read_dtype(std::string_view name, const Value& value) const {
    if (!value.string()) refuse(name, value, "dtype must be a string, found {}", describe(value));
    const FormatDType* dtype = detail::find_format_dtype(*value.string());
    if (!dtype) {
      refuse(name, value, "unknown dtype {}: heed reads {}", in_quotes(*value.string()),
             detail::supported_dtypes());
    }
    return *dtype;
  }

  Shape read_shape(std::string_view name, const Value& value) const {
    if (!value.list()) refuse(name, value, "shape must be a list, found {}", describe(value));
    if (value.list()->size() > kMaxRank) {
      refuse(name, value, "shape has {} dimensions: at most {} are supported", value.list()->size(),
             kMaxRank);
    }
    Shape shape;
    for (const Value& size : *value.list())
      shape.push_back(read_count(name, "a size in shape", size));
    return shape;
  }

  std::int64_t read_count(std::string_view name, std::string_view what, const Value& value) const {
    if (!value.integer() || *value.integer() < 0) {
      refuse(name, value, "{} must be an integer from 0 to 2^63 - 1, found {}", what,
             describe(value));
    }
    return *value.integer();
  }

  Range read_range(std::string_view name, const Value& value) const {
    if (!value.list() || value.list()->size() != 2) {
      refuse(name, value, "data_offsets must be a list of two integers");
    }
    const auto bound = [&](std::size_t i) {
      return static_cast<std::uint64_t>(read_count(name, "a data offset", (*value.list())[i]));
    };
    const Range range{bound(0), bound(1)};
    if (range.begin > range.end) {
      refuse(name, value, "data_offsets [{}, {}] end before they begin", range.begin, range.end);
    }
    if (range.end > data_.size()) {
      refuse(name, value,
             "data_offsets [{}, {}] reach beyond the data, which has {} bytes: the file is cut off",
             range.begin, range.end, data_.size());
    }
    return range;
  }

  std::size_t file_byte(std::span<const std::byte> part) const {
    return static_cast<std::size_t>(part.data() - file_.data());
  }

  void check_data(const SafetensorsEntry& entry) const {
    if (!entry.dtype) return;
    const std::size_t size = size_of(*entry.dtype);
    const std::size_t byte = file_byte(entry.bytes);
    const bool aligned = reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % size == 0;
    HEED_CHECK(
        aligned || entry.bytes.empty(),
        "[safetensors] {}: the data of tensor {} begins at byte {}, not at a multiple of {}: "
        "it cannot be read in place; save the file again with a current safetensors library",
        source_, in_quotes(entry.name), byte, size);
    if (entry.dtype != DType::boolean) return;
    if (const auto bad = detail::find_bad_bool(entry.bytes)) {
      fail("[safetensors] {}: tensor {} is BOOL and holds {} at byte {}: only 0 and 1 are allowed",
           source_, in_quotes(entry.name), static_cast<int>(entry.bytes[*bad]), byte + *bad);
    }
  }

  // The sorted ranges must cover the data from the first byte to the last, without gaps or
  // overlaps.
  void check_tiling() const {
    std::vector<std::size_t> order(entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(ranges_[a].begin, ranges_[a].end) <
             std::pair(ranges_[b].begin, ranges_[b].end);
    });
    const std::size_t data_byte = file_.size() - data_.size();
    std::uint64_t expected = 0;
    std::string before = "the header";
    for (const std::size_t i : order) {
      const std::string name = fmt::format("tensor {}", in_quotes(entries[i].name));
      HEED_CHECK(ranges_[i].begin >= expected,
                 "[safetensors] {}: {} begins at byte {}, inside {}, which ends at byte {}",
                 source_, name, data_byte + ranges_[i].begin, before, data_byte + expected);
      HEED_CHECK(ranges_[i].begin == expected,
                 "[safetensors] {}: bytes {} to {} between {} and {} belong to no tensor", source_,
                 data_byte + expected, data_byte + ranges_[i].begin, before, name);
      expected = ranges_[i].end;
      before = name;
    }
    HEED_CHECK(expected == data_.size() || options_.allow_trailing_bytes,
               "[safetensors] {}: {} bytes follow {}, which ends at byte {}; set "
               "allow_trailing_bytes to accept them",
               source_, data_.size() - expected, before, data_byte + expected);
  }

  std::span<const std::byte> file_;
  std::span<const std::byte> data_;
  SafetensorsOptions options_;
  std::string_view source_;
  std::vector<Range> ranges_;  // of entries, within data_
};

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path,
                                      SafetensorsOptions options) {
  auto mapped = MappedFile::open(path);
  SafetensorsFile file = parse(mapped->bytes(), options, path.string());
  file.keeper_ = std::move(mapped);
  return file;
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, SafetensorsOptions options,
                                       std::string_view source) {
  HeaderReader reader(bytes, options, source);
  reader.run();
  SafetensorsFile file;
  file.source_ = source;
  file.entries_ = std::move(reader.entries);
  file.metadata_ = std::move(reader.metadata);
  for (std::uint32_t i = 0; i < file.entries_.size(); ++i) file.by_name_.push_back(i);
  std::sort(file.by_name_.begin(), file.by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return file.entries_[a].name < file.entries_[b].name;
  });
  return file;
}

const SafetensorsEntry* SafetensorsFile::lookup(std::string_view name) const {
  const auto it = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::uint32_t i, std::string_view wanted) { return entries_[i].name < wanted; });
  const bool found = it != by_name_.end() && entries_[*it].name == name;
  return found ? &entries_[*it] : nullptr;
}

const SafetensorsEntry& SafetensorsFile::find(std::string_view name) const {
  const SafetensorsEntry* entry = lookup(name);
  if (!entry) {
    std::vector<std::string_view> names;
    for (const SafetensorsEntry& e : entries_) names.push_back(e.name);
    const std::string_view guess = nearest(name, names);
    fail("[safetensors] {}: no tensor {} among {}{}", source_, in_quotes(name), names.size(),
         guess.empty() ? "" : fmt::format(": did you mean {}?", in_quotes(guess)));
  }
  HEED_CHECK(entry->dtype,
             "[safetensors] {}: tensor {} is {}, which heed does not compute with: it reads {}",
             source_, in_quotes(name), entry->dtype_name, detail::supported_dtypes());
  return *entry;
}

}  // namespace heed::io
