// The writer: checks the items, then writes length, header and data to a sink (a file or memory).
#include <algorithm>
#include <cstring>

#include "heed/base/threads.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/io/safetensors_format.h"

namespace heed::io {
namespace {

using detail::kLengthBytes;
using Sink = FunctionRef<void(std::span<const std::byte>)>;

void check_items(std::span<const SafetensorsItem> items) {
  std::vector<std::string_view> names;
  for (const SafetensorsItem& item : items) {
    HEED_CHECK(!item.name.empty(), "[safetensors] a tensor of shape {} has no name",
               to_string(item.shape));
    HEED_CHECK(item.name != detail::kMetadataKey,
               "[safetensors] a tensor cannot be named {}: this name is reserved for the metadata",
               item.name);
    const TensorTypeInfo& type = info(item.type);
    HEED_CHECK(detail::find_format_dtype(type.name) != nullptr,
               "[safetensors] tensor {}: the format has no type {}", in_quotes(item.name),
               type.name);
    HEED_CHECK(byte_count(item.shape, item.type) == item.bytes.size(),
               "[safetensors] tensor {}: {} bytes given for {} {}", in_quotes(item.name),
               item.bytes.size(), type.name, to_string(item.shape));
    HEED_CHECK(item.type != TensorType::BOOL || !detail::find_bad_bool(item.bytes),
               "[safetensors] tensor {}: a bool is neither 0 nor 1", in_quotes(item.name));
    names.push_back(item.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  HEED_CHECK(twice == names.end(), "[safetensors] two tensors are named {}", in_quotes(*twice));
}

// Large elements first. The header ends at a multiple of 8 and gaps are not allowed, so in this
// order each tensor begins at a multiple of its element size.
std::vector<std::size_t> data_order(std::span<const SafetensorsItem> items) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return info(items[a].type).block_bytes > info(items[b].type).block_bytes;
  });
  return order;
}

Value integers(std::span<const std::int64_t> numbers) {
  Value::List list;
  for (const std::int64_t n : numbers) list.push_back({n});
  return {std::move(list)};
}

std::string header_text(std::span<const SafetensorsItem> items, std::span<const std::size_t> order,
                        const Metadata& metadata) {
  std::vector<std::int64_t> begins(items.size());
  std::int64_t end = 0;
  for (const std::size_t i : order) {
    begins[i] = end;
    end += static_cast<std::int64_t>(items[i].bytes.size());
  }
  Value::Table header;
  if (!metadata.empty()) {
    Value::Table texts;
    for (const auto& [key, text] : metadata) texts.push_back({key, {text}});
    header.push_back({std::string(detail::kMetadataKey), {std::move(texts)}});
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto size = static_cast<std::int64_t>(items[i].bytes.size());
    const std::int64_t offsets[] = {begins[i], begins[i] + size};
    header.push_back({items[i].name,
                      {Value::Table{{"dtype", {std::string(info(items[i].type).name)}},
                                    {"shape", integers(items[i].shape.span())},
                                    {"data_offsets", integers(offsets)}}}});
  }
  std::string text = write_json({std::move(header)}, false);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  HEED_CHECK(text.size() <= detail::kMaxHeaderBytes,
             "[safetensors] the header of {} tensors has {} bytes: readers take at most {}",
             items.size(), text.size(), detail::kMaxHeaderBytes);
  return text;
}

// Everything has been checked before the first byte is written.
void emit(std::span<const SafetensorsItem> items, const std::string& header,
          std::span<const std::size_t> order, Sink sink) {
  const std::uint64_t length = header.size();
  sink(std::as_bytes(std::span(&length, 1)));
  sink(std::as_bytes(std::span(header)));
  for (const std::size_t i : order) sink(items[i].bytes);
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsItem> items,
                       const Metadata& metadata) {
  check_items(items);
  const std::vector<std::size_t> order = data_order(items);
  const std::string header = header_text(items, order, metadata);
  AtomicFile file(path);
  emit(items, header, order, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

std::vector<std::byte> safetensors_bytes(std::span<const SafetensorsItem> items,
                                         const Metadata& metadata) {
  check_items(items);
  const std::vector<std::size_t> order = data_order(items);
  std::vector<std::byte> out;
  emit(items, header_text(items, order, metadata), order, [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  });
  return out;
}

}  // namespace heed::io
