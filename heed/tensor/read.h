// Tensors from files of weights (io/tensor_source.h): in place where the file has them as heed
// computes with them, converted otherwise.
#pragma once

#include <string_view>

#include "heed/io/tensor_source.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// How floating tensors are read.
struct ReadOptions {
  bool keep_bf16 = false;  ///< BF16 stays bf16; otherwise it becomes f32.
};

/// The tensor of that name. Floating and quantised types become f32 (see ReadOptions); I32, I64, U8
/// and BOOL keep their type; other types throw heed::Error. If the file has the elements row-major,
/// aligned and in that type, the tensor is a read-only view of the mapped file, which it keeps
/// alive. Otherwise it is a contiguous copy.
Tensor read_tensor(const io::TensorSource& source, std::string_view name, ReadOptions options = {});

/// The tensor of an entry of the source.
Tensor read_tensor(const io::TensorSource& source, const io::TensorEntry& entry,
                   ReadOptions options = {});

}  // namespace heed
