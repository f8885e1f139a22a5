// Flows on a link that holds messages back: a message is complete when both of its sides have
// started it. Whatever the order of transfers and of progress, all messages arrive.
#include "heed/distributed/flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>

namespace heed {
namespace {

using testing::ElementsAre;

// What all ranks have started and not completed, by sender, receiver and channel.
struct Board {
  struct Posted {
    std::span<const std::byte> from;
    std::span<std::byte> to;
    bool is_done = false;
  };
  using Place = std::tuple<int, int, int>;
  using Queue = std::deque<std::shared_ptr<Posted>>;
  std::map<Place, Queue> sends, receives;

  static void match(Queue& sends, Queue& receives) {
    while (!sends.empty() && !receives.empty()) {
      HEED_ASSERT(sends.front()->from.size() == receives.front()->to.size());
      std::ranges::copy(sends.front()->from, receives.front()->to.begin());
      sends.front()->is_done = receives.front()->is_done = true;
      sends.pop_front();
      receives.pop_front();
    }
  }
};

struct BoardLink {
  using Handle = std::shared_ptr<Board::Posted>;
  static constexpr std::size_t kMostBytes = 10;

  Board& board;
  int rank;

  Handle send(const Outgoing& message) {
    auto one = std::make_shared<Board::Posted>(Board::Posted{.from = message.bytes, .to = {}});
    const Board::Place place{rank, message.to, message.channel};
    board.sends[place].push_back(one);
    Board::match(board.sends[place], board.receives[place]);
    return one;
  }
  Handle receive(const Incoming& message) {
    auto one = std::make_shared<Board::Posted>(Board::Posted{.from = {}, .to = message.bytes});
    const Board::Place place{message.from, rank, message.channel};
    board.receives[place].push_back(one);
    Board::match(board.sends[place], board.receives[place]);
    return one;
  }
  static void test(std::span<Handle> handles, std::vector<std::size_t>& done) {
    for (std::size_t i = 0; i < handles.size(); ++i) {
      if (handles[i]->is_done) done.push_back(i);
    }
  }
};

struct NumberedRank : SingleRank {
  NumberedRank(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_, size_;
};

// A message has 2 + (sender + receiver + channel) % 20 bytes, all with the number of the sender.
std::size_t length(int a, int b, int channel) {
  return static_cast<std::size_t>(2 + (a + b + channel) % 20);
}

// A rank with transfers to and from all others, each on a channel of its own.
class Rank {
 public:
  Rank(Board& board, int rank, int size, std::size_t window)
      : ranks_(rank, size), link_{board, rank} {
    window_.most = window;
  }

  void start(int channel) {
    Data& data = data_.emplace_back();
    std::vector<Outgoing> sent;
    std::vector<Incoming> received;
    data.own.assign(32, static_cast<std::byte>(ranks_.rank()));
    data.others.resize(static_cast<std::size_t>(ranks_.size()));
    for (int r = 0; r < ranks_.size(); ++r) {
      if (r == ranks_.rank()) continue;
      const std::size_t bytes = length(r, ranks_.rank(), channel);
      auto& from = data.others[static_cast<std::size_t>(r)];
      from.resize(bytes);
      sent.push_back({r, std::span(data.own).first(bytes), channel});
      received.push_back({r, from, channel});
    }
    flows_.push_back(std::make_unique<Flow<BoardLink>>(ranks_, link_, window_, sent, received));
  }

  bool move() {
    std::vector<Flow<BoardLink>*> flows;
    for (const auto& flow : flows_) flows.push_back(flow.get());
    Flow<BoardLink>::move(link_, flows);
    return std::ranges::all_of(flows, [](const auto* flow) { return flow->is_complete(); });
  }

  void check() const {
    for (const Data& data : data_) {
      for (int r = 0; r < ranks_.size(); ++r) {
        for (const std::byte byte : data.others[static_cast<std::size_t>(r)]) {
          EXPECT_EQ(static_cast<int>(byte), r);
        }
      }
    }
    EXPECT_EQ(window_.sent, 0U);
    EXPECT_EQ(window_.received, 0U);
  }

  const Window& window() const { return window_; }
  std::vector<std::unique_ptr<Flow<BoardLink>>>& flows() { return flows_; }

 private:
  struct Data {
    std::vector<std::byte> own;
    std::vector<std::vector<std::byte>> others;
  };
  NumberedRank ranks_;
  BoardLink link_;
  Window window_;
  std::deque<Data> data_;  // whose elements stay in place
  std::vector<std::unique_ptr<Flow<BoardLink>>> flows_;
};

// Moves ranks in a random order until nothing changes; whether all are complete.
bool move_to_end(std::deque<Rank>& all, std::mt19937& random) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < 400; ++round) {
    std::ranges::shuffle(order, random);
    bool is_complete = true;
    for (const std::size_t i : order) is_complete = all[i].move() && is_complete;
    if (is_complete) return true;
  }
  return false;
}

TEST(Flow, AllMessagesArriveWhateverTheOrderOfTransfers) {
  constexpr int kRanks = 23, kChannels = 4;
  std::mt19937 random(1);
  for (const std::size_t window : {1, 3, 16}) {
    Board board;
    std::deque<Rank> all;
    for (int r = 0; r < kRanks; ++r) {
      all.emplace_back(board, r, kRanks, window);
      std::vector<int> channels = {0, 1, 2, 3};
      std::ranges::shuffle(channels, random);
      for (const int channel : channels) all.back().start(channel);
      EXPECT_LE(all.back().window().sent, window + kChannels - 1);
      EXPECT_LE(all.back().window().received, window + kChannels - 1);
    }
    EXPECT_TRUE(move_to_end(all, random)) << window;
    for (const Rank& rank : all) rank.check();
  }
}

TEST(Flow, EachRankBeginsWithTheNextOnes) {
  constexpr int kRanks = 9;
  Board board;
  NumberedRank rank(7, kRanks);
  BoardLink link{board, 7};
  Window window{.most = 3};
  std::vector<std::byte> bytes(2 * kRanks);
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  for (int r = 0; r < kRanks; ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r != 7) sent.push_back({r, std::span(bytes).subspan(at, 1)});
    if (r != 7) received.push_back({r, std::span(bytes).subspan(kRanks + at, 1)});
  }
  Flow<BoardLink> flow(rank, link, window, sent, received);
  std::set<int> to, from;
  for (const auto& [place, queue] : board.sends) {
    if (!queue.empty()) to.insert(std::get<1>(place));
  }
  for (const auto& [place, queue] : board.receives) {
    if (!queue.empty()) from.insert(std::get<0>(place));
  }
  EXPECT_THAT(to, ElementsAre(0, 1, 8));
  EXPECT_THAT(from, ElementsAre(4, 5, 6));
}

// Three ranks are lost, as many as there may be messages in flight: those after them are held back
// until all have started.
TEST(Flow, OnlyThePartnersThatDoNotAnswerAreMissing) {
  constexpr int kRanks = 12;
  std::mt19937 random(2);
  Board board;
  std::deque<Rank> all;
  for (int r = 0; r < kRanks; ++r) {
    all.emplace_back(board, r, kRanks, 3);
    if (r != 4 && r != 5 && r != 6) all.back().start(0);
  }
  EXPECT_FALSE(move_to_end(all, random));
  EXPECT_GT(all[3].flows().front()->missing().size(), 3U);
  for (Rank& rank : all) {
    for (const auto& flow : rank.flows()) flow->start_all();
  }
  EXPECT_FALSE(move_to_end(all, random));
  for (int r = 0; r < kRanks; ++r) {
    for (const auto& flow : all[static_cast<std::size_t>(r)].flows()) {
      EXPECT_THAT(flow->missing(), ElementsAre(4, 5, 6)) << r;
    }
  }
}

}  // namespace
}  // namespace heed
