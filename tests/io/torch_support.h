// Makes pickles of torch.save by hand, right and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/byte_builder.h"

namespace heed::io {

inline std::string pickle_text(std::string_view text) {
  return ByteBuilder().text("X").u32(static_cast<std::uint32_t>(text.size())).text(text).str();
}

inline std::string pickle_integer(std::int64_t value) {
  return ByteBuilder().u8(0x8a).u8(8).number(value).str();
}

inline std::string pickle_tuple(const std::vector<std::int64_t>& values) {
  std::string text = "(";
  for (const std::int64_t value : values) text += pickle_integer(value);
  return text + "t";
}

/// A tensor as torch.save describes it.
struct TorchParts {
  std::string storage_type = "FloatStorage";
  std::string key = "0";
  std::int64_t count = 6;
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape = {2, 3};
  std::vector<std::int64_t> strides = {3, 1};
};

inline std::string pickle_tensor(const TorchParts& p) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickle_text("storage") + "ctorch\n" +
         p.storage_type + "\n" + pickle_text(p.key) + pickle_text("cpu") + pickle_integer(p.count) +
         "tQ" + pickle_integer(p.offset) + pickle_tuple(p.shape) + pickle_tuple(p.strides) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

/// A pickle of a dict from names to opcodes of values.
inline std::string pickle_dict(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "\x80\x02}(";
  for (const auto& [name, value] : members) text += pickle_text(name) + value;
  return text + "u.";
}

}  // namespace heed::io
