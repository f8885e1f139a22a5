#include "heed/base/signal_block.h"

#include <pthread.h>

#include <initializer_list>

namespace heed {
namespace {

thread_local int depth = 0;

}  // namespace

SignalBlock::SignalBlock() noexcept {
  if (depth++ > 0) return;
  sigset_t all;
  sigfillset(&all);
  // The system ends a process whose own instructions raise a signal that is blocked.
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalBlock::~SignalBlock() {
  if (--depth == 0) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace heed
