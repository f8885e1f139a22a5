# The fuzz targets: each fuzz/<name>_fuzz.cpp holds LLVMFuzzerTestOneInput for one parser. With
# HEED_SANITIZE=fuzzer-no-link,… (clang, the preset fuzz) they are libFuzzer programs; otherwise
# fuzz/replay_main.cpp runs the seeds in tests/fuzz_corpus/<name>/ and mutations of them, as a test. Only
# the presets with sanitizers have them: without, a wrong read of memory goes unnoticed.
if(NOT HEED_SANITIZE MATCHES "fuzzer")
  add_library(heed_fuzz_replay OBJECT fuzz/replay_main.cpp)
  target_link_libraries(heed_fuzz_replay PRIVATE heed heed_flags)
endif()
file(GLOB heed_fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp)
foreach(source ${heed_fuzz_sources})
  cmake_path(GET source STEM target)
  string(REGEX REPLACE "_fuzz$" "" name ${target})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE heed heed_flags)
  if(name MATCHES "^serve_")
    target_link_libraries(${target} PRIVATE heed_serve)
  endif()
  if(name STREQUAL "serve_http") # the folders of its models are those of the tests
    find_package(GTest REQUIRED)
    target_link_libraries(${target} PRIVATE GTest::gtest)
  endif()
  if(HEED_SANITIZE MATCHES "fuzzer")
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${target} PRIVATE heed_fuzz_replay)
    # Those that write files, make models or use sockets take milliseconds each.
    set(iterations 20000)
    if(name MATCHES "^(checkpoint|model_folder|gguf_model|serve_http)$")
      set(iterations 500)
    endif()
    if(HEED_SANITIZE) # ten times slower; `./run torture files` goes on from there
      math(EXPR iterations "${iterations} / 4")
    endif()
    if(HEED_BUILD_TESTS)
      add_test(NAME fuzz.${name} COMMAND ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz_corpus/${name}
                                         ${iterations})
    endif()
  endif()
endforeach()
