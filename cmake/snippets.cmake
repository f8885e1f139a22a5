# The code in the documents, compiled and run: tools/snippets.py takes it out.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

file(GLOB heed_documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md)
file(GLOB_RECURSE heed_more_documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
set_property(
  DIRECTORY
  APPEND
  PROPERTY CMAKE_CONFIGURE_DEPENDS ${heed_documents} ${heed_more_documents}
           ${PROJECT_SOURCE_DIR}/tools/snippets.py)

execute_process(
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/snippets.py --out
          ${PROJECT_BINARY_DIR}/snippets
  OUTPUT_VARIABLE heed_snippets
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" heed_snippets "${heed_snippets}")

foreach(snippet ${heed_snippets})
  string(REGEX MATCH "^(run|compile) (.*)$" _ "${snippet}")
  set(mode ${CMAKE_MATCH_1})
  set(source ${CMAKE_MATCH_2})
  cmake_path(GET source STEM name)
  add_executable(snippet_${name} ${source})
  # A snippet shows a value without using it; warnings about that help nobody.
  target_link_libraries(snippet_${name} PRIVATE heed heed_flags)
  target_compile_options(snippet_${name} PRIVATE -Wno-unused)
  set_target_properties(snippet_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                   ${PROJECT_BINARY_DIR}/snippets)
  if(mode STREQUAL "run")
    add_test(NAME snippet.${name} COMMAND snippet_${name} WORKING_DIRECTORY
                                          ${PROJECT_BINARY_DIR}/snippets)
  endif()
endforeach()
