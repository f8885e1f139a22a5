// Fuzzes chat templates: any bytes are either refused with a heed::Error or rendered within the
// limits.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/text/chat_template.h"
#include "heed/text/unicode.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::string_view source) {
  const ChatTemplate chat(source);
  const std::string text = chat.apply(
      {{"system", " Be brief. "}, {"user", "Hello, 狗"}, {"assistant", "Fine"}, {"user", ""}},
      {.add_generation_prompt = true, .bos_token = "<s>", .eos_token = "</s>"},
      {.max_steps = 20'000, .max_output = 100'000});
  require(text.size() <= 100'000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    // Messages may quote the template; it is shown as it is, so only valid text must stay valid.
    unicode::make_valid(error.what());
  }
  return 0;
}
