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

// The channel of a bucket; 0 is that of all other messages.
int channel_of(std::size_t bucket) { return static_cast<int>(bucket) + 1; }

// A view of elements [begin, begin + numel(shape)) of a flat tensor.
Tensor view_at(const Tensor& flat, std::int64_t begin, const Shape& shape) {
  return view::reshape(view::slice(flat, 0, begin, begin + numel(shape)), shape);
}

}  // namespace

Tensor add_sums(Tensor a, Tensor b, Wire wire) {
  if (a.defined()) a = as_sent(a, wire);
  if (b.defined()) b = as_sent(b, wire);
  if (!a.defined()) return b;
  if (b.defined()) add_into(a, b);
  return a;
}

void add_lists(SumList& a, SumList b, Wire wire) {
  HEED_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = add_sums(std::move(a[i]), std::move(b[i]), wire);
  }
}

TensorExchange::TensorExchange(Communicator& ranks, const SumList& like,
                               const TensorExchangeConfig& config)
    : ranks_(ranks),
      dtype_(like.empty() ? DType::f32 : like.front().dtype()),
      partition_(sizes_of(like), ranks.size(), config.bucket),
      shards_(config.shards),
      wire_(config.wire) {
  HEED_CHECK(wire_ == Wire::f32 || dtype_ == DType::f32,
             "[ranks] wire = bf16 for sums of {}: they must be f32", name_of(dtype_));
  for (const Tensor& tensor : like) {
    HEED_CHECK(tensor.dtype() == dtype_,
               "[ranks] tensors of {} and {} to add up: all must have one dtype", name_of(dtype_),
               name_of(tensor.dtype()));
    shapes_.push_back(tensor.shape());
  }
  HEED_CHECK(ranks.size() <= shards_,
             "[ranks] {} ranks for {} shards: a shard is computed by one rank; start at most {} "
             "ranks, or set shards = {} (other shards give another model)",
             ranks.size(), shards_, shards_, ranks.size());
  for (int r = 0; r < ranks.size(); ++r) {
    nodes_.push_back(nodes_of(r, ranks.size(), shards_));
    for (const ShardRange& node : nodes_.back()) {
      all_nodes_.push_back({node, nodes_.size() - 1, &node - nodes_.back().data()});
    }
  }
}

// ---- sums ---------------------------------------------------------------------------------------

std::optional<std::size_t> TensorExchange::number_of(const ShardRange& node) const {
  const auto at = std::ranges::lower_bound(all_nodes_, node.begin, {}, &RankNode::begin);
  if (at == all_nodes_.end() || at->node != node) return {};
  return static_cast<std::size_t>(at - all_nodes_.begin());
}

// Makes room for the messages of a sum.
void TensorExchange::begin() {
  is_given_.assign(partition_.tensors(), 0);
  present_.assign(nodes().size() * partition_.tensors(), 0);
  if (ranks_.size() == 1) {
    alone_.assign(partition_.tensors(), {});
    return;
  }
  under_way_.resize(partition_.buckets());
  for (std::size_t b = 0; b < under_way_.size(); ++b) {
    const std::int64_t own = partition_.segment(b, ranks_.rank()).size();
    under_way_[b].given = empty({std::ssize(nodes()) * partition_.range(b).size()}, wire_dtype());
    under_way_[b].own = empty({std::ssize(nodes()) * own}, dtype_);
    under_way_[b].received = empty({std::ssize(all_nodes_) * own}, wire_dtype());
    under_way_[b].missing = partition_.first_tensor(b + 1) - partition_.first_tensor(b);
  }
}

// The room for what a rank is given of a bucket.
Tensor TensorExchange::message_to(std::size_t bucket, int rank) const {
  if (rank == ranks_.rank()) return under_way_[bucket].own;
  const ElementRange segment = partition_.segment(bucket, rank);
  const std::int64_t begin = segment.begin - partition_.range(bucket).begin;
  return view_at(under_way_[bucket].given, std::ssize(nodes()) * begin,
                 {std::ssize(nodes()) * segment.size()});
}

// The room for some nodes of another rank.
Tensor TensorExchange::message_from(std::size_t bucket, std::size_t first_node,
                                    std::size_t nodes) const {
  const std::int64_t own = partition_.segment(bucket, ranks_.rank()).size();
  return view_at(under_way_[bucket].received, static_cast<std::int64_t>(first_node) * own,
                 {static_cast<std::int64_t>(nodes) * own});
}

// Copies what a rank owns of a tensor into the message to it; 0 for an absent one.
void TensorExchange::give_part(int owner, std::size_t tensor, std::size_t node, const Tensor& sum) {
  const ElementRange part = partition_.part(owner, tensor);
  if (part.empty()) return;
  const std::size_t b = partition_.bucket_of(tensor);
  const ElementRange segment = partition_.segment(b, owner);
  const Tensor message = message_to(b, owner);
  std::byte* const to =
      bytes_at(message, static_cast<std::int64_t>(node) * segment.size() +
                            partition_.start(tensor) + part.begin - segment.begin);
  const std::size_t count = static_cast<std::size_t>(part.size()) * size_of(message.dtype());
  if (!sum.defined()) {
    std::memset(to, 0, count);
    return;
  }
  const Tensor from = view_at(view::reshape(sum, {sum.numel()}), part.begin, {part.size()});
  std::memcpy(to, bytes_at(cast_data(from, message.dtype()), 0), count);
}

void TensorExchange::put(std::size_t tensor, std::span<const Tensor> of_nodes) {
  HEED_ASSERT(of_nodes.size() == nodes().size());
  if (is_given_.empty()) begin();
  HEED_ASSERT(is_given_[tensor] == 0);
  if (ranks_.size() == 1) {
    alone_[tensor] = of_nodes.front();
    is_given_[tensor] = 1;
    return;
  }
  const std::int64_t bytes = numel(shapes_[tensor]) * static_cast<std::int64_t>(size_of(dtype_));
  const ElementRange owners = partition_.owners(tensor);
  parallel_for(owners.size(), bytes / std::max<std::int64_t>(1, owners.size()),
               [&](std::int64_t i) {
                 for (std::size_t n = 0; n < of_nodes.size(); ++n) {
                   give_part(static_cast<int>(owners.begin + i), tensor, n, of_nodes[n]);
                 }
               });
  for (std::size_t n = 0; n < of_nodes.size(); ++n) {
    present_[n * partition_.tensors() + tensor] = of_nodes[n].defined() ? 1 : 0;
  }
  is_given_[tensor] = 1;
  const std::size_t bucket = partition_.bucket_of(tensor);
  if (--under_way_[bucket].missing == 0) start(bucket);
}

void TensorExchange::put_rest() {
  const SumList absent(nodes().size());
  for (std::size_t t = 0; t < partition_.tensors(); ++t) {
    if (is_given_.empty() || is_given_[t] == 0) put(t, absent);
  }
}

void TensorExchange::start(std::size_t bucket) {
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  std::size_t node = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    const std::size_t nodes = nodes_[static_cast<std::size_t>(r)].size(), first = node;
    node += nodes;
    if (r == ranks_.rank()) continue;
    const Tensor to = message_to(bucket, r), from = message_from(bucket, first, nodes);
    if (to.numel() > 0) {
      sent.push_back({r, {bytes_at(to, 0), byte_count(to)}, channel_of(bucket)});
      bytes_sent_ += static_cast<std::int64_t>(byte_count(to));
    }
    if (from.numel() > 0) {
      received.push_back({r, {bytes_at(from, 0), byte_count(from)}, channel_of(bucket)});
    }
  }
  under_way_[bucket].transfer = ranks_.start(sent, received);
}

SumList TensorExchange::take_sum() {
  HEED_ASSERT(std::ranges::all_of(is_given_, [](char given) { return given != 0; }));
  is_given_.clear();
  if (ranks_.size() == 1) return std::move(alone_);
  std::vector<std::size_t> counts;
  for (const auto& nodes : nodes_) counts.push_back(nodes.size() * partition_.tensors());
  const std::vector<char> present = gather_values(ranks_, std::span<const char>(present_), counts);
  // As they began: those of the last layers first.
  for (std::size_t b = under_way_.size(); b-- > 0;) under_way_[b].transfer->complete();
  if (!flat_.defined()) flat_ = empty({partition_.total()}, dtype_);
  std::vector<char> in_sum(partition_.tensors());
  for (std::size_t b = 0; b < under_way_.size(); ++b) add_up(b, present, in_sum);
  under_way_.clear();
  SumList list(partition_.tensors());
  for (std::size_t t = 0; t < list.size(); ++t) {
    if (in_sum[t] != 0) list[t] = view_at(flat_, partition_.start(t), shapes_[t]);
  }
  return list;
}

// Adds the nodes of all ranks over this rank's segment of a bucket. `present` has the flags of all
// nodes of all ranks; `in_sum` gets those of the sum.
void TensorExchange::add_up(std::size_t bucket, std::span<const char> present,
                            std::vector<char>& in_sum) {
  const ElementRange own = partition_.segment(bucket, ranks_.rank());
  const std::size_t first = partition_.first_tensor(bucket),
                    tensors = partition_.first_tensor(bucket + 1) - first;
  const auto leaf = [&](const ShardRange& node) -> SegmentSum {
    const std::size_t number = *number_of(node);
    const auto flags = present.subspan(number * partition_.tensors() + first, tensors);
    const RankNode& place = all_nodes_[number];
    const Tensor values = place.rank == rank() ? view_at(under_way_[bucket].own,
                                                         place.index * own.size(), {own.size()})
                                               : message_from(bucket, number, 1);
    return {cast_data(values, dtype_), {flags.begin(), flags.end()}};
  };
  const SegmentSum total = tree_sum<SegmentSum>(
      {0, shards_}, [&](const ShardRange& node) { return number_of(node).has_value(); }, leaf,
      [&](SegmentSum& a, SegmentSum b) { add_segments(bucket, a, std::move(b)); });
  std::ranges::copy(total.present, in_sum.begin() + static_cast<std::ptrdiff_t>(first));
  if (own.empty()) return;
  std::memcpy(bytes_at(flat_, own.begin), bytes_at(total.values, 0), byte_count(total.values));
}

void TensorExchange::add_segments(std::size_t bucket, SegmentSum& a, SegmentSum b) const {
  const auto everything = [](const SegmentSum& sum) {
    return std::ranges::all_of(sum.present, [](char flag) { return flag != 0; });
  };
  a.values = as_sent(a.values, wire_);
  b.values = as_sent(b.values, wire_);
  if (everything(a) && everything(b)) return add_into(a.values, b.values);
  const ElementRange whole = partition_.segment(bucket, ranks_.rank());
  const std::size_t first = partition_.first_tensor(bucket);
  for (std::size_t i = 0; i < a.present.size(); ++i) {
    const ElementRange part = partition_.part(ranks_.rank(), first + i);
    if (b.present[i] != 0 && !part.empty()) {
      const std::int64_t begin = partition_.start(first + i) + part.begin - whole.begin;
      Tensor to = view_at(a.values, begin, {part.size()});
      const Tensor from = view_at(b.values, begin, {part.size()});
      a.present[i] != 0 ? add_into(to, from) : copy_into(to, from);
    }
    a.present[i] = a.present[i] | b.present[i];
  }
}

SumList TensorExchange::sum(std::vector<SumList> of_nodes) {
  HEED_ASSERT(of_nodes.size() == nodes().size());
  SumList one(of_nodes.size());
  for (std::size_t t = 0; t < partition_.tensors(); ++t) {
    for (std::size_t n = 0; n < of_nodes.size(); ++n) one[n] = std::move(of_nodes[n][t]);
    put(t, one);
  }
  return take_sum();
}

double TensorExchange::sum_of_squares(const SumList& sum, std::size_t count) {
  std::vector<std::size_t> counts(nodes_.size());
  std::vector<double> own;
  for (std::size_t t = 0; t < count; ++t) {
    if (!sum[t].defined()) continue;
    const ElementRange owners = partition_.owners(t);
    for (std::int64_t r = owners.begin; r < owners.end; ++r) {
      counts[static_cast<std::size_t>(r)] +=
          Partition::count_pieces(partition_.part(static_cast<int>(r), t));
    }
    visit_float("norm", dtype_, [&](auto zero) {
      using T = decltype(zero);
      for (const ElementRange& piece : Partition::pieces(partition_.part(ranks_.rank(), t))) {
        own.push_back(kernels::sum_of_squares(sum[t].data<T>() + piece.begin, piece.size()));
      }
    });
  }
  const std::vector<double> all = gather_values(ranks_, std::span<const double>(own), counts);
  // The pieces of each rank follow each other; they are added in the order of the tensors.
  std::vector<std::size_t> next(counts.size());
  for (std::size_t r = 1; r < next.size(); ++r) next[r] = next[r - 1] + counts[r - 1];
  double squares = 0.0;
  for (std::size_t t = 0; t < count; ++t) {
    if (!sum[t].defined()) continue;
    const ElementRange owners = partition_.owners(t);
    for (std::int64_t r = owners.begin; r < owners.end; ++r) {
      const std::size_t pieces = Partition::count_pieces(partition_.part(static_cast<int>(r), t));
      for (std::size_t i = 0; i < pieces; ++i) squares += all[next[static_cast<std::size_t>(r)]++];
    }
  }
  return squares;
}

// ---- parameters ---------------------------------------------------------------------------------

void TensorExchange::share(SumList& tensors) {
  if (ranks_.size() == 1) return;
  const auto bytes = static_cast<std::int64_t>(size_of(dtype_));
  const auto for_each_tensor = [&](FunctionRef<void(std::size_t, const ElementRange&)> f) {
    parallel_for(std::ssize(tensors), bytes * partition_.total() / std::ssize(tensors),
                 [&](std::int64_t i) {
                   const auto t = static_cast<std::size_t>(i);
                   f(t, partition_.part(ranks_.rank(), t));
                 });
  };
  const auto copy = [&](std::byte* to, const std::byte* from, std::int64_t elements) {
    if (elements > 0) std::memcpy(to, from, static_cast<std::size_t>(elements * bytes));
  };
  for_each_tensor([&](std::size_t t, const ElementRange& mine) {
    copy(bytes_at(flat_, partition_.start(t) + mine.begin), bytes_at(tensors[t], mine.begin),
         mine.size());
  });
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  for (std::size_t b = 0; b < partition_.buckets(); ++b) {
    const auto segment = [&](int r) -> std::span<std::byte> {
      const ElementRange range = partition_.segment(b, r);
      return {bytes_at(flat_, range.begin), static_cast<std::size_t>(range.size() * bytes)};
    };
    const std::span<std::byte> own = segment(ranks_.rank());
    for (int r = 0; r < ranks_.size(); ++r) {
      if (r == ranks_.rank()) continue;
      if (!own.empty()) sent.push_back({r, own});
      bytes_sent_ += static_cast<std::int64_t>(own.size());
      if (!segment(r).empty()) received.push_back({r, segment(r)});
    }
  }
  ranks_.exchange(sent, received);
  for_each_tensor([&](std::size_t t, const ElementRange& mine) {
    const std::int64_t n = tensors[t].numel(), start = partition_.start(t);
    const std::int64_t before = mine.empty() ? n : mine.begin;
    copy(bytes_at(tensors[t], 0), bytes_at(flat_, start), before);
    if (mine.empty()) return;
    copy(bytes_at(tensors[t], mine.end), bytes_at(flat_, start + mine.end), n - mine.end);
  });
}

Tensor TensorExchange::gather(std::size_t tensor, const Tensor& part) {
  const bool is_first = ranks_.is_first();
  Tensor whole = is_first ? empty({numel(shapes_[tensor])}, dtype_) : Tensor();
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  if (!is_first && part.numel() > 0) {
    sent.push_back({0, {bytes_at(part, 0), byte_count(part)}});
    bytes_sent_ += static_cast<std::int64_t>(byte_count(part));
  }
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
