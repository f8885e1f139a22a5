// Updates of training on many machines: heed's own exchanges (the module for MPI, the collectives
// and the tensor exchange), where only the computation of a shard is replaced by a pause of the
// time that was measured for it. scale.py compiles it with SimGrid's smpicxx and runs it on
// simulated networks; check.py also compiles it with mpicxx, to compare both. It is not part of
// heed_bench.
//
// In a simulation all ranks are in one process, and their tensors would take terabytes. What is
// sent has no meaning, only its size. So large blocks of memory are addresses that are never
// written, and large messages are sent from and to a block that SMPI does not copy.
//
//   smpirun -np 64 -platform cluster.xml scale base 11.5 2 f32 overlapped 0
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "heed/base/threads.h"
#include "heed/distributed/collectives.h"
#include "heed/distributed/tensor_exchange.h"
#include "heed/tensor/create.h"

extern "C" heed::Communicator* heed_join_mpi(char* error, int room);
extern "C" bool heed_move_messages(heed::Communicator* ranks);

#ifdef HEED_SIMULATED_MPI
#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <sys/mman.h>
#include <sys/prctl.h>

// ---- memory, messages and waiting, instead of the system's (the linker's --wrap)
// -----------------

namespace {

constexpr std::size_t kLarge = std::size_t{1} << 14;     // blocks and messages from this size on
constexpr std::size_t kReserved = std::size_t{1} << 45;  // addresses
constexpr std::size_t kMessage = std::size_t{1} << 30;   // the longest message
std::byte* g_begin = nullptr;
std::byte* g_next = nullptr;

// Addresses that have memory only where they are written.
void* unwritten_block(std::size_t size) {
  if (g_begin == nullptr) {
    void* const all = mmap(nullptr, kReserved, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) std::abort();
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // the header of a tensor would take 2 MB
    g_begin = g_next = static_cast<std::byte*>(all);
  }
  constexpr std::size_t kPage = 4096;
  std::byte* const block = g_next;
  g_next += (size + kPage - 1) / kPage * kPage;
  return block;
}

// A message that a rank that computes has sent to itself; it arrives when the computation ends.
MPI_Request& clock_of_rank() {
  static std::map<int, MPI_Request> clocks;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return clocks.try_emplace(rank, MPI_REQUEST_NULL).first->second;
}

// What large messages are sent from and to.
void* message_block() {
  static void* const block = SMPI_SHARED_MALLOC(kMessage);
  return block;
}

}  // namespace

extern "C" {

void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void* block);
int __real_MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm all,
                     MPI_Request* request);
int __real_MPI_Issend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm all,
                      MPI_Request* request);
int __real_MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm all,
                     MPI_Request* request);
void* __real_memcpy(void* to, const void* from, std::size_t size);

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return size >= kLarge ? unwritten_block(size) : __real_aligned_alloc(alignment, size);
}

void __wrap_free(void* block) {
  auto* const at = static_cast<std::byte*>(block);
  if (g_begin != nullptr && at >= g_begin && at < g_begin + kReserved) return;
  __real_free(block);
}

int __wrap_MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm all,
                     MPI_Request* request) {
  const bool is_large = static_cast<std::size_t>(count) >= kLarge;
  return __real_MPI_Isend(is_large ? message_block() : from, count, type, to, tag, all, request);
}

int __wrap_MPI_Issend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm all,
                      MPI_Request* request) {
  const bool is_large = static_cast<std::size_t>(count) >= kLarge;
  return __real_MPI_Issend(is_large ? message_block() : from, count, type, to, tag, all, request);
}

int __wrap_MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm all,
                     MPI_Request* request) {
  const bool is_large = static_cast<std::size_t>(count) >= kLarge;
  return __real_MPI_Irecv(is_large ? message_block() : to, count, type, from, tag, all, request);
}

void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  return size >= kLarge ? to : __real_memcpy(to, from, size);
}

// Which of a rank's messages is complete, or that its clock has run out. One by one: what MPI_Test
// and its like complete stays in a list of the rank that SimGrid 3.32 walks through for each
// message.
int __wrap_MPI_Waitsome(int count, MPI_Request* requests, int* done, int* numbers, MPI_Status*) {
  std::vector<MPI_Request> all(requests, requests + count);
  MPI_Request& clock = clock_of_rank();
  if (clock != MPI_REQUEST_NULL) all.push_back(clock);
  MPI_Waitany(static_cast<int>(all.size()), all.data(), numbers, MPI_STATUS_IGNORE);
  const bool is_clock = numbers[0] == count;
  *done = is_clock ? 0 : 1;
  (is_clock ? clock : requests[numbers[0]]) = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

// heed::add_into and heed::kernels::sum_of_squares: nothing is added up.
void __wrap__ZN4heed8add_intoERNS_6TensorERKS0_(void*, const void*) {}
double __wrap__ZN4heed7kernels14sum_of_squaresEPKfl(const float*, long) { return 0.0; }
}

namespace heed {
namespace {

// While a rank computes, its thread moves messages. Here the rank waits for them itself, and for a
// message to itself that arrives when the computation ends: asking every 50 microseconds is too
// much for a simulation of a thousand ranks. scale.py gives the way to itself a rate and no
// latency; SimGrid makes it slower by a factor.
void pause_for(double seconds, Communicator& ranks) {
  constexpr double kBytesPerSecond = 1e8 * 0.940694;
  constexpr double kLongest = 8.0, kShortest = 1e-3;
  constexpr int kClockTag = 0;
  for (; seconds > kShortest; seconds -= kLongest) {
    const auto bytes = static_cast<int>(std::min(seconds, kLongest) * kBytesPerSecond);
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Request& clock = clock_of_rank();
    MPI_Irecv(nullptr, bytes, MPI_BYTE, ranks.rank(), kClockTag, MPI_COMM_WORLD, &clock);
    MPI_Isend(nullptr, bytes, MPI_BYTE, ranks.rank(), kClockTag, MPI_COMM_WORLD, &sent);
    while (clock != MPI_REQUEST_NULL && heed_move_messages(&ranks)) {
    }
    MPI_Wait(&clock, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  if (seconds > 0.0) sg_actor_sleep_for(seconds);
}

}  // namespace
}  // namespace heed

#else

namespace heed {
namespace {

void pause_for(double seconds, Communicator&) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec duration{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  nanosleep(&duration, nullptr);
}

}  // namespace
}  // namespace heed

#endif

// ---- the updates --------------------------------------------------------------------------------

namespace heed {
namespace {

// The sizes of Transformers: base and big of Vaswani et al. (2017), and a small one. One embedding
// for all, as many layers in the encoder as in the decoder.
SumList parameters_of(std::string_view model) {
  const bool is_tiny = model == "tiny";
  const std::int64_t vocabulary = is_tiny ? 16000 : 32000, layers = is_tiny ? 4 : 6;
  const std::int64_t E = is_tiny ? 128 : model == "big" ? 1024 : 512, hidden = 4 * E;
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

enum class How { overlapped, after, plain };

struct Setting {
  double compute;  // seconds of the computation of an update
  How how;
  double small = 0.0;  // seconds of the last small exchange
};

// The forward pass takes a third of the time. In the backward pass each tensor takes its share; the
// embedding, first in the list, is used first and complete last.
void compute_overlapped(Communicator& ranks, TensorExchange& exchange, const SumList& parameters,
                        const Setting& setting) {
  const auto share = [&](std::size_t t) {
    return setting.compute * 2.0 / 3.0 * static_cast<double>(parameters[t].numel()) /
           static_cast<double>(exchange.partition().total());
  };
  pause_for(setting.compute / 3.0 + share(0), ranks);
  for (std::size_t t = parameters.size(); t-- > 0;) {
    if (t > 0 && parameters[t].rank() > 1) pause_for(share(t), ranks);
    exchange.put(t, std::span(&parameters[t], 1));
  }
}

double update(Communicator& ranks, TensorExchange& exchange, SumList& parameters,
              Setting& setting) {
  const How how = setting.how;
  const double start = MPI_Wtime();
  if (how == How::overlapped) {
    compute_overlapped(ranks, exchange, parameters, setting);
  } else {
    pause_for(setting.compute, ranks);
  }
  const double before = MPI_Wtime();
  gather_values(ranks, ShardNumbers{});
  setting.small = MPI_Wtime() - before;
  if (how == How::plain) {
    static Tensor flat = empty({exchange.partition().total()});
    MPI_Allreduce(MPI_IN_PLACE, flat.mutable_data<float>(), static_cast<int>(flat.numel()),
                  MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Wtime() - start;
  }
  const SumList sum = how == How::overlapped ? exchange.take_sum() : exchange.sum({parameters});
  exchange.sum_of_squares(sum, sum.size());
  exchange.share(parameters);
  return MPI_Wtime() - start;
}

int run(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: scale tiny|base|big COMPUTE_SECONDS UPDATES f32|bf16 "
                 "overlapped|after|plain BUCKET\n");
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
  const int updates = std::atoi(argv[3]);
  const std::string_view wire = argv[4], how = argv[5];
  Setting setting{.compute = std::atof(argv[2]),
                  .how = how == "overlapped" ? How::overlapped
                         : how == "after"    ? How::after
                                             : How::plain};
  TensorExchange exchange(*ranks, parameters,
                          TensorExchangeConfig{.shards = ranks->size(),
                                               .wire = wire == "bf16" ? Wire::bf16 : Wire::f32,
                                               .bucket = std::atoll(argv[6])});
  double best = 1e300, sum = 0.0;
  for (int i = 0; i < updates; ++i) {
    const double seconds = update(*ranks, exchange, parameters, setting);
    best = std::min(best, seconds);
    sum += seconds;
  }
  if (ranks->is_first()) {
    std::printf(
        "{\"ranks\": %d, \"seconds\": %.6f, \"best\": %.6f, \"bytes\": %lld, "
        "\"parameters\": %lld, \"buckets\": %d, \"small\": %.6f}\n",
        ranks->size(), sum / updates, best, static_cast<long long>(exchange.bytes_sent() / updates),
        static_cast<long long>(exchange.partition().total()),
        static_cast<int>(exchange.partition().buckets()), setting.small);
    std::fflush(stdout);
  }
  ranks->leave();
  return 0;
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) { return heed::run(argc, argv); }
