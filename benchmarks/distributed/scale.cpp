// Updates of training on many machines, on a simulated network. heed's own exchanges (the module
// for MPI, the collectives and the tensor exchange) are compiled with SimGrid's smpicxx; only the
// computation of a shard is replaced by the time that was measured for it. scale.py builds and runs
// it; it is not part of heed_bench.
//
// All simulated ranks are in one process, and their tensors would take terabytes. So large blocks
// of memory share the same few physical pages: what is sent has no meaning, only its size.
//
//   smpirun -np 64 -platform cluster.xml scale base 11.5 2 f32
#include <fcntl.h>
#include <mpi.h>
#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "heed/base/threads.h"
#include "heed/distributed/collectives.h"
#include "heed/distributed/tensor_exchange.h"
#include "heed/tensor/create.h"

extern "C" heed::Communicator* heed_join_mpi(char* error, int room);

// ---- memory and sleep, instead of the system's (the linker's --wrap) ----------------------------

namespace {

constexpr std::size_t kFolded = std::size_t{1} << 20;     // blocks from this size on
constexpr std::size_t kPhysical = std::size_t{16} << 20;  // that they share
constexpr std::size_t kReserved = std::size_t{1} << 45;   // addresses
std::byte* g_begin = nullptr;
std::byte* g_next = nullptr;

// Addresses for a block, mapped to the same pages again and again; but for its first page, which
// begins with the header of a tensor.
void* folded_block(std::size_t size) {
  static const int pages = [] {
    const int file = memfd_create("folded", 0);
    if (file < 0 || ftruncate(file, kPhysical) != 0) std::abort();
    return file;
  }();
  if (g_begin == nullptr) {
    void* const all =
        mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) std::abort();
    g_begin = g_next = static_cast<std::byte*>(all);
  }
  std::byte* const block = g_next;
  const std::size_t page = 4096, rounded = (size + page - 1) / page * page;
  if (mprotect(block, page, PROT_READ | PROT_WRITE) != 0) std::abort();
  for (std::size_t at = page; at < rounded; at += kPhysical) {
    const std::size_t part = std::min(kPhysical, rounded - at);
    if (mmap(block + at, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages, 0) ==
        MAP_FAILED) {
      std::abort();
    }
  }
  g_next += rounded;
  return block;
}

}  // namespace

extern "C" {

void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void* block);

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return size >= kFolded ? folded_block(size) : __real_aligned_alloc(alignment, size);
}

void __wrap_free(void* block) {
  auto* const at = static_cast<std::byte*>(block);
  if (g_begin != nullptr && at >= g_begin && at < g_begin + kReserved) return;
  __real_free(block);
}

// Ranks that wait sleep in simulated time.
int __wrap_nanosleep(const timespec* duration, timespec*) {
  sg_actor_sleep_for(static_cast<double>(duration->tv_sec) +
                     1e-9 * static_cast<double>(duration->tv_nsec));
  return 0;
}
}

// ---- the updates --------------------------------------------------------------------------------

namespace heed {
namespace {

// The sizes of Transformers of Vaswani et al. (2017): one embedding for all, 6 + 6 layers.
SumList parameters_of(std::string_view model) {
  const std::int64_t vocabulary = 32000, layers = 6;
  const std::int64_t E = model == "big" ? 1024 : 512, hidden = 4 * E;
  SumList list = {empty({vocabulary, E})};
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    list.push_back(empty({out, in}));
    list.push_back(empty({out}));
  };
  const auto norm = [&] {
    list.push_back(empty({E}));
    list.push_back(empty({E}));
  };
  for (std::int64_t layer = 0; layer < 2 * layers; ++layer) {
    for (int attention = 0; attention < (layer < layers ? 1 : 2); ++attention) {
      for (int i = 0; i < 4; ++i) linear(E, E);
      norm();
    }
    linear(E, hidden);
    linear(hidden, E);
    norm();
  }
  return list;
}

// As large as what ranks tell each other about a shard (training/sharded_batches.cpp).
struct ShardNumbers {
  double numbers[15] = {};
};

double update(Communicator& ranks, TensorExchange& exchange, SumList& parameters, double compute) {
  const double start = MPI_Wtime();
  sg_actor_sleep_for(compute);  // smpi_execute() would need simulated computation
  gather_values(ranks, ShardNumbers{});
  const SumList sum = exchange.sum({parameters});
  exchange.sum_of_squares(sum, sum.size());
  exchange.share(parameters);
  return MPI_Wtime() - start;
}

int run(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: scale base|big COMPUTE_SECONDS UPDATES f32|bf16\n");
    return 2;
  }
  set_num_threads(1);
  char error[1024] = {};
  const std::unique_ptr<Communicator> ranks(heed_join_mpi(error, sizeof error));
  if (!ranks) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  ranks->set_deadline(0.0);
  SumList parameters = parameters_of(argv[1]);
  const double compute = std::atof(argv[2]);
  const int updates = std::atoi(argv[3]);
  TensorExchange exchange(*ranks, parameters, ranks->size(),
                          std::string_view(argv[4]) == "bf16" ? Wire::bf16 : Wire::f32);
  double seconds = 0.0;
  for (int i = 0; i < updates; ++i) seconds += update(*ranks, exchange, parameters, compute);
  if (ranks->is_first()) {
    std::printf("{\"ranks\": %d, \"seconds\": %.6f, \"bytes\": %lld}\n", ranks->size(),
                seconds / updates, static_cast<long long>(exchange.bytes_sent() / updates));
  }
  ranks->leave();
  return 0;
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) { return heed::run(argc, argv); }
