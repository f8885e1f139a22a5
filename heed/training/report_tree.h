// Reports of training as trees, for logs in JSON, for Python and other readers.
#pragma once

#include "heed/io/value.h"
#include "heed/training/watcher.h"

namespace heed {

/// The keys update, epoch, metrics (a table), best, stalled, seconds. Numbers need not be finite.
io::Value::Table tree_of(const ValidationReport& report);

}  // namespace heed
