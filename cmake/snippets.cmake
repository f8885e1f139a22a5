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

function(heed_add_snippet_program name)
  add_executable(snippet_${name} ${PROJECT_BINARY_DIR}/snippets/${name}.cpp)
  # A snippet shows a value without using it; warnings about that help nobody.
  target_link_libraries(snippet_${name} PRIVATE heed heed_flags)
  target_compile_options(snippet_${name} PRIVATE -Wno-unused $<$<CONFIG:Release>:-O1>)
  set_target_properties(snippet_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                   ${PROJECT_BINARY_DIR}/snippets)
endfunction()

heed_add_snippet_program(fragments)
foreach(snippet ${heed_snippets})
  string(REGEX MATCH "^(program|fragment) (run|compile) (.*)$" _ "${snippet}")
  set(kind ${CMAKE_MATCH_1})
  set(mode ${CMAKE_MATCH_2})
  set(name ${CMAKE_MATCH_3})
  set(command snippet_fragments ${name})
  if(kind STREQUAL "program")
    heed_add_snippet_program(${name})
    set(command snippet_${name})
  endif()
  if(mode STREQUAL "run")
    add_test(NAME snippet.${name} COMMAND ${command} WORKING_DIRECTORY
                                          ${PROJECT_BINARY_DIR}/snippets)
  endif()
endforeach()
