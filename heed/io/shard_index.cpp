#include "heed/io/shard_index.h"

#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/io/json.h"

namespace heed::io {
namespace {

constexpr std::size_t kMaxShards = 10'000;

bool plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace

ShardIndex parse_shard_index(std::string_view json, std::string_view source) {
  const Value root = parse_json(json, source);
  HEED_CHECK(root.table(), "[shards] {}: the index must be an object, found {}", source,
             describe(root));
  const Value* map = find(*root.table(), "weight_map");
  HEED_CHECK(map, "[shards] {}: weight_map is missing", source);
  HEED_CHECK(map->table(), "[shards] {}: weight_map must be an object, found {}",
             to_string(source, map->position), describe(*map));
  std::set<std::string_view> files;
  for (const Member& member : *map->table()) {
    const std::string* file = member.value.string();
    HEED_CHECK(file && plain_file_name(*file),
               "[shards] {}: the file of tensor {} must be the name of a file in the same folder, "
               "found {}",
               to_string(source, member.value.position), in_quotes(member.key),
               describe(member.value));
    files.insert(*file);
  }
  HEED_CHECK(!files.empty(), "[shards] {}: weight_map is empty", source);
  HEED_CHECK(files.size() <= kMaxShards, "[shards] {}: {} files: the limit is {}", source,
             files.size(), kMaxShards);
  ShardIndex index;
  index.files.assign(files.begin(), files.end());
  for (const Member& member : *map->table()) {
    const auto file =
        std::lower_bound(index.files.begin(), index.files.end(), *member.value.string());
    index.tensors.emplace_back(member.key, file - index.files.begin());
  }
  return index;
}

}  // namespace heed::io
