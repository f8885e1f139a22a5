#include "heed/distributed/tensor_exchange.h"

#include <algorithm>
#include <cstring>

#include "heed/base/threads.h"
#include "heed/distributed/collectives.h"
#include "heed/kernels/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

std::vector<std::int64_t> sizes_of(const SumList& tensors) {
  std::vector<std::int64_t> sizes;
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.numel());
  return sizes;
}

std::byte* bytes_at(const Tensor& flat, std::int64_t element) {
  const auto size = static_cast<std::int64_t>(size_of(flat.dtype()));
  return const_cast<std::byte*>(flat.storage()->data()) + (flat.offset() + element) * size;
}

std::size_t byte_count(const Tensor& flat) {
  return static_cast<std::size_t>(flat.numel()) * size_of(flat.dtype());
}

// A view of elements [begin, begin + numel(shape)) of a flat tensor.
Tensor view_at(const Tensor& flat, std::int64_t begin, const Shape& shape) {
  return view::reshape(view::slice(flat, 0, begin, begin + numel(shape)), shape);
}

}  // namespace

void add_lists(SumList& a, SumList b, Wire wire) {
  HEED_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].defined()) a[i] = as_sent(a[i], wire);
    if (b[i].defined()) b[i] = as_sent(b[i], wire);
    if (!a[i].defined()) {
      a[i] = std::move(b[i]);
    } else if (b[i].defined()) {
      add_into(a[i], b[i]);
    }
  }
}

TensorExchange::TensorExchange(Communicator& ranks, const SumList& like, std::int64_t shards,
                               Wire wire)
    : ranks_(ranks),
      dtype_(like.empty() ? DType::f32 : like.front().dtype()),
      partition_(sizes_of(like), ranks.size()),
      shards_(shards),
      wire_(wire) {
  HEED_CHECK(wire == Wire::f32 || dtype_ == DType::f32,
             "[ranks] wire = bf16 for sums of {}: they must be f32", name_of(dtype_));
  for (const Tensor& tensor : like) {
    HEED_CHECK(tensor.dtype() == dtype_,
               "[ranks] tensors of {} and {} to add up: all must have one dtype", name_of(dtype_),
               name_of(tensor.dtype()));
    shapes_.push_back(tensor.shape());
  }
  HEED_CHECK(ranks.size() <= shards,
             "[ranks] {} ranks for {} shards: a shard is computed by one rank; start at most {} "
             "ranks, or set shards = {} (other shards give another model)",
             ranks.size(), shards, shards, ranks.size());
  for (int r = 0; r < ranks.size(); ++r) nodes_.push_back(nodes_of(r, ranks.size(), shards));
}

Tensor TensorExchange::empty_segment(int of_rank, DType dtype) const {
  return empty({partition_.segment(of_rank).size()}, dtype);
}

// Copies the parts of the tensors that a rank owns into one flat tensor; 0 for absent ones.
void TensorExchange::pack(const SumList& tensors, int of_rank, Tensor& segment) const {
  const ElementRange whole = partition_.segment(of_rank);
  const auto bytes = static_cast<std::int64_t>(size_of(dtype_));
  parallel_for(
      std::ssize(tensors), whole.size() * bytes / std::max<std::int64_t>(1, std::ssize(tensors)),
      [&](std::int64_t i) {
        const auto t = static_cast<std::size_t>(i);
        const ElementRange part = partition_.part(of_rank, t);
        if (part.empty()) return;
        std::byte* const to = bytes_at(segment, partition_.start(t) + part.begin - whole.begin);
        const auto count = static_cast<std::size_t>(part.size() * bytes);
        if (tensors[t].defined()) {
          std::memcpy(to, bytes_at(tensors[t], part.begin), count);
        } else {
          std::memset(to, 0, count);
        }
      });
}

void TensorExchange::send(std::vector<Outgoing>& sent, int to, const Tensor& flat) {
  if (flat.numel() == 0) return;
  sent.push_back({to, {bytes_at(flat, 0), byte_count(flat)}});
  bytes_sent_ += static_cast<std::int64_t>(byte_count(flat));
}

// The sums of all nodes of all ranks, over the segment of this rank.
std::vector<std::vector<TensorExchange::SegmentSum>> TensorExchange::exchange_segments(
    const std::vector<SumList>& of_nodes) {
  const std::size_t tensors = partition_.tensors();
  std::vector<char> present;
  for (const SumList& node : of_nodes) {
    for (const Tensor& tensor : node) present.push_back(tensor.defined() ? 1 : 0);
  }
  std::vector<std::size_t> counts;
  for (const auto& nodes : nodes_) counts.push_back(nodes.size() * tensors);
  const std::vector<char> all = gather_values(ranks_, std::span<const char>(present), counts);

  std::vector<std::vector<SegmentSum>> sums(nodes_.size());
  const DType wire = wire_ == Wire::bf16 ? DType::bf16 : dtype_;
  std::vector<Tensor> packed;  // alive until they are sent
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  auto flags = all.begin();
  for (int r = 0; r < ranks_.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    for (std::size_t n = 0; n < nodes_[at].size(); ++n) {
      const bool is_own = r == ranks_.rank();
      SegmentSum sum{empty_segment(ranks_.rank(), is_own ? dtype_ : wire),
                     {flags, flags + static_cast<std::ptrdiff_t>(tensors)}};
      flags += static_cast<std::ptrdiff_t>(tensors);
      if (is_own) {
        pack(of_nodes[n], r, sum.values);
      } else if (sum.values.numel() > 0) {
        received.push_back({r, {bytes_at(sum.values, 0), byte_count(sum.values)}});
      }
      sums[at].push_back(std::move(sum));
    }
    if (r == ranks_.rank()) continue;
    for (const SumList& node : of_nodes) {
      Tensor segment = empty_segment(r, dtype_);
      pack(node, r, segment);
      packed.push_back(cast_data(segment, wire));
      send(sent, r, packed.back());
    }
  }
  ranks_.exchange(sent, received);
  for (auto& of_rank : sums) {
    for (SegmentSum& sum : of_rank) sum.values = cast_data(sum.values, dtype_);
  }
  return sums;
}

void TensorExchange::add_segments(SegmentSum& a, SegmentSum b) const {
  const auto everything = [](const SegmentSum& sum) {
    return std::ranges::all_of(sum.present, [](char flag) { return flag != 0; });
  };
  a.values = as_sent(a.values, wire_);
  b.values = as_sent(b.values, wire_);
  if (everything(a) && everything(b)) return add_into(a.values, b.values);
  const ElementRange whole = partition_.segment(ranks_.rank());
  for (std::size_t t = 0; t < partition_.tensors(); ++t) {
    const ElementRange part = partition_.part(ranks_.rank(), t);
    if (b.present[t] != 0 && !part.empty()) {
      const std::int64_t begin = partition_.start(t) + part.begin - whole.begin;
      Tensor to = view_at(a.values, begin, {part.size()});
      const Tensor from = view_at(b.values, begin, {part.size()});
      a.present[t] != 0 ? add_into(to, from) : copy_into(to, from);
    }
    a.present[t] = a.present[t] | b.present[t];
  }
}

SumList TensorExchange::sum(std::vector<SumList> of_nodes) {
  HEED_ASSERT(of_nodes.size() == nodes().size());
  if (ranks_.size() == 1) return std::move(of_nodes.front());
  std::vector<std::vector<SegmentSum>> sums = exchange_segments(of_nodes);
  of_nodes.clear();
  const auto find = [&](const ShardRange& node) -> SegmentSum* {
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      const auto at = std::ranges::find(nodes_[r], node);
      if (at != nodes_[r].end()) return &sums[r][static_cast<std::size_t>(at - nodes_[r].begin())];
    }
    return nullptr;
  };
  const SegmentSum total = tree_sum<SegmentSum>(
      {0, shards_}, [&](const ShardRange& node) { return find(node) != nullptr; },
      [&](const ShardRange& node) { return std::move(*find(node)); },
      [&](SegmentSum& a, SegmentSum b) { add_segments(a, std::move(b)); });
  if (!flat_.defined()) flat_ = empty({partition_.total()}, dtype_);
  const ElementRange own = partition_.segment(ranks_.rank());
  if (!own.empty())
    std::memcpy(bytes_at(flat_, own.begin), bytes_at(total.values, 0), byte_count(total.values));
  SumList list(partition_.tensors());
  for (std::size_t t = 0; t < list.size(); ++t) {
    if (total.present[t] != 0) list[t] = view_at(flat_, partition_.start(t), shapes_[t]);
  }
  return list;
}

double TensorExchange::sum_of_squares(const SumList& sum, std::size_t count) {
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks_.size(); ++r) {
    std::size_t pieces = 0;
    for (std::size_t t = 0; t < count; ++t) {
      if (sum[t].defined()) pieces += Partition::pieces(partition_.part(r, t)).size();
    }
    counts.push_back(pieces);
  }
  std::vector<double> own;
  for (std::size_t t = 0; t < count; ++t) {
    if (!sum[t].defined()) continue;
    visit_float("norm", dtype_, [&](auto zero) {
      using T = decltype(zero);
      for (const ElementRange& piece : Partition::pieces(partition_.part(ranks_.rank(), t))) {
        own.push_back(kernels::sum_of_squares(sum[t].data<T>() + piece.begin, piece.size()));
      }
    });
  }
  double squares = 0.0;
  for (const double piece : gather_values(ranks_, std::span<const double>(own), counts)) {
    squares += piece;
  }
  return squares;
}

void TensorExchange::share(SumList& tensors) {
  if (ranks_.size() == 1) return;
  Tensor own = empty_segment(ranks_.rank(), dtype_);
  pack(tensors, ranks_.rank(), own);
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  for (int r = 0; r < ranks_.size(); ++r) {
    if (r == ranks_.rank()) continue;
    send(sent, r, own);
    const ElementRange segment = partition_.segment(r);
    if (segment.empty()) continue;
    received.push_back({r,
                        {bytes_at(flat_, segment.begin),
                         static_cast<std::size_t>(segment.size()) * size_of(dtype_)}});
  }
  ranks_.exchange(sent, received);
  const auto bytes = static_cast<std::int64_t>(size_of(dtype_));
  parallel_for(
      std::ssize(tensors), bytes * partition_.total() / std::ssize(tensors), [&](std::int64_t i) {
        const auto t = static_cast<std::size_t>(i);
        const ElementRange mine = partition_.part(ranks_.rank(), t);
        const auto take = [&](std::int64_t begin, std::int64_t end) {
          if (begin >= end) return;
          std::memcpy(bytes_at(tensors[t], begin), bytes_at(flat_, partition_.start(t) + begin),
                      static_cast<std::size_t>((end - begin) * bytes));
        };
        take(0, mine.empty() ? tensors[t].numel() : mine.begin);
        if (!mine.empty()) take(mine.end, tensors[t].numel());
      });
}

Tensor TensorExchange::gather(std::size_t tensor, const Tensor& part) {
  const bool is_first = ranks_.is_first();
  Tensor whole = is_first ? empty({numel(shapes_[tensor])}, dtype_) : Tensor();
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  if (!is_first) send(sent, 0, part);
  for (int r = 0; is_first && r < ranks_.size(); ++r) {
    const ElementRange range = partition_.part(r, tensor);
    if (range.empty()) continue;
    const auto count = static_cast<std::size_t>(range.size()) * size_of(dtype_);
    if (r == 0) {
      std::memcpy(bytes_at(whole, range.begin), bytes_at(part, 0), count);
    } else {
      received.push_back({r, {bytes_at(whole, range.begin), count}});
    }
  }
  ranks_.exchange(sent, received);
  return is_first ? view::reshape(whole, shapes_[tensor]) : Tensor();
}

}  // namespace heed
