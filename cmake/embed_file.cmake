# Run by heed_embed: writes the text of INPUT into OUTPUT as the C++ constant NAME.
file(READ ${INPUT} text)
if(text MATCHES "\\)heed\"")
  message(FATAL_ERROR "${INPUT} holds )heed\", which ends the C++ string it is put into")
endif()
string(REGEX REPLACE "::[^:]*$" "" namespace ${NAME})
string(REGEX REPLACE "^.*::" "" constant ${NAME})
file(WRITE ${OUTPUT} "// Made by cmake/embed_file.cmake.
#include <string_view>

namespace ${namespace} {
extern const std::string_view ${constant};
const std::string_view ${constant} = R\"heed(${text})heed\";
}  // namespace ${namespace}
")
