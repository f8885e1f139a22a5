// For tests of bad input: the message of the heed::Error that a call throws.
#pragma once

#include <string>

#include "heed/base/error.h"

namespace heed {

/// What the error says; "(no error)" when the call succeeds. Any other exception passes through and
/// fails the test.
template <typename Call>
std::string error_message(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace heed
