# heed_embed(TARGET FILE NAME): a text file of the tree as a constant of the program, so that it can
# be read and edited as what it is. NAME is a C++ name with its namespaces; the source that uses it
# declares `extern const std::string_view`.
function(heed_embed target file name)
  get_filename_component(base ${file} NAME)
  set(output ${PROJECT_BINARY_DIR}/embedded/${base}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${PROJECT_SOURCE_DIR}/${file} -D OUTPUT=${output} -D NAME=${name}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
