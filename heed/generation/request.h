// What a scheduler is asked for: the results of one sentence or prompt.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "heed/base/error.h"
#include "heed/generation/lockstep.h"
#include "heed/text/copy_table.h"

namespace heed {

struct Request {
  std::vector<std::int32_t> source = {};           ///< What an encoder reads.
  std::vector<std::int32_t> prompt = {};           ///< What a decoder reads before `start.token`.
  std::shared_ptr<const CopiedWords> copied = {};  ///< Its words, for models that copy.
  Start start = {};
  std::shared_ptr<const SearchPlan> plan = {};
  int priority = 0;  ///< Greater ones first; in the order of submission among equals.
  /// Called with each chosen token where one sequence is followed: greedy search, one sample. If it
  /// throws, the request ends with that error.
  std::function<void(std::int32_t token)> on_token = {};
  /// Called once: with the results, or with the error that ended the request. It must not throw.
  /// Both are called on threads that compute, so they should be quick.
  std::function<void(NBest found, std::exception_ptr error)> on_done = {};
};

/// The error of a request that was cancelled. It is not a heed::Error: nothing is wrong.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

/// Refuses a request because too many wait already: try again later.
class QueueFull : public Error {
 public:
  using Error::Error;
};

}  // namespace heed
