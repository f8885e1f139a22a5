# The tests. One program holds tests/**; ctest runs it once per folder, and the numeric folders once
# more per other instruction set (exit code 77: this CPU cannot run it), and prints failures alone.
# Tests that replace operator new are a program of their own. COST makes ctest start the longest tests
# first.
find_package(GTest REQUIRED)

file(GLOB_RECURSE heed_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.cpp)
set(heed_allocation_sources ${heed_test_sources})
list(FILTER heed_allocation_sources INCLUDE REGEX "/tests/allocation/")
set(heed_learning_sources ${heed_test_sources})
list(FILTER heed_learning_sources INCLUDE REGEX "/tests/learning/")
list(FILTER heed_test_sources EXCLUDE REGEX "/tests/(allocation|learning)/")

# Under the address sanitizer the tests have the flags of a release build: what is checked is the
# library, and a compiler cache that has the objects of one build has those of the other. Inline
# functions are then in both, with and without checks; the library comes first, so that its own are
# linked. The thread sanitizer must see the atomics of tests too.
set(heed_test_flags heed_flags)
if(HEED_SANITIZE MATCHES "address")
  set(heed_test_flags heed_plain_flags)
endif()

function(heed_add_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE heed heed_serve ${heed_test_flags} GTest::gmock GTest::gtest ZLIB::ZLIB
                                        PNG::PNG JPEG::JPEG)
  # What is tested is compiled as users get it; the tests themselves only have to be built quickly.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(HEED_SANITIZE MATCHES "address")
    target_link_options(
      ${name} BEFORE PRIVATE -fsanitize=${HEED_SANITIZE}
      LINKER:--whole-archive,$<TARGET_FILE:heed>,$<TARGET_FILE:heed_serve>,--no-whole-archive)
  endif()
  # Four tenths of the time to compile a test went into reading these.
  if(name STREQUAL "heed_tests")
    heed_precompile(${name} <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <algorithm> <filesystem>
                    <functional> <string> <vector>)
  else()
    heed_precompile(${name} REUSE_FROM heed_tests)
  endif()
  heed_unite(${name} 8 ${ARGN})
endfunction()

heed_add_test_program(heed_tests ${heed_test_sources})
# Tests with SIMD code of their own are what is checked.
if(HEED_SANITIZE MATCHES "address")
  foreach(source ${heed_test_sources})
    file(STRINGS ${source} has_simd REGEX "foreach_target\\.h" LIMIT_COUNT 1)
    if(has_simd)
      set_source_files_properties(
        ${source}
        PROPERTIES COMPILE_OPTIONS "$<TARGET_PROPERTY:heed_sanitizers,INTERFACE_COMPILE_OPTIONS>"
                   COMPILE_DEFINITIONS "$<TARGET_PROPERTY:heed_sanitizers,INTERFACE_COMPILE_DEFINITIONS>"
                   SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endif()
set_source_files_properties(tests/support/paths.cpp PROPERTIES COMPILE_DEFINITIONS
                                                               HEED_PROJECT_DIR="${PROJECT_SOURCE_DIR}")

# The folders that hold tests, in the order of the glob.
set(heed_test_folders "")
foreach(source ${heed_test_sources})
  if(source MATCHES "/tests/([a-z_]+)/.*_test\\.cpp$")
    list(APPEND heed_test_folders ${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES heed_test_folders)
foreach(folder ${heed_test_folders})
  add_test(NAME heed_tests.${folder} COMMAND heed_tests --gtest_brief=1 --folders=${folder})
endforeach()

# The folders whose results come from kernels; what is tested in the others (files, texts, pictures, jobs,
# messages) reaches kernels only through these. The set the CPU prefers has run above; which one that is
# differs from machine to machine, so all are named and the program skips it.
set(heed_numeric_folders ${heed_test_folders})
list(REMOVE_ITEM heed_numeric_folders base data distributed evaluation io pictures plot serve study support text
     training)
if(heed_numeric_folders AND (HEED_THOROUGH OR NOT HEED_SANITIZE))
  list(JOIN heed_numeric_folders "," folders)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(heed_isas sse4 avx2 avx512)
  else()
    set(heed_isas neon)
  endif()
  foreach(isa ${heed_isas})
    add_test(NAME heed_tests.isa.${isa} COMMAND heed_tests --gtest_brief=1 --folders=${folders}
                                                     --unless-preferred)
    set_tests_properties(heed_tests.isa.${isa} PROPERTIES ENVIRONMENT HEED_ISA=${isa} COST 100
                                                          SKIP_RETURN_CODE 77 LABELS slow)
  endforeach()
endif()

# The sanitizers bring an operator new of their own.
if(heed_allocation_sources AND NOT HEED_SANITIZE)
  heed_add_test_program(heed_allocation_tests ${heed_allocation_sources})
  target_link_libraries(heed_allocation_tests PRIVATE GTest::gtest_main)
  add_test(NAME heed_allocation_tests COMMAND heed_allocation_tests)
endif()

# A thread-local object with a destructor is registered at its first use, and glibc ends the process
# if it has no memory for that.
if(CMAKE_NM AND NOT HEED_SANITIZE)
  add_test(NAME no_thread_local_destructors
           COMMAND sh -c "\"$@\" > /dev/null && ! \"$@\" | grep thread_atexit" sh ${CMAKE_NM} -A -u
                   $<TARGET_FILE:heed>)
endif()

# Small models that learn, minutes each: ./run learn. Here only that they build.
if(heed_learning_sources AND NOT HEED_SANITIZE)
  heed_add_test_program(heed_learning_tests ${heed_learning_sources})
  target_link_libraries(heed_learning_tests PRIVATE GTest::gtest_main)
endif()

# A project of its own that finds an installed heed.
if(NOT HEED_SANITIZE AND PROJECT_IS_TOP_LEVEL)
  add_test(
    NAME consumer
    COMMAND
      ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D SOURCE=${PROJECT_SOURCE_DIR} -D
      GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER} -P
      ${PROJECT_SOURCE_DIR}/cmake/consumer_test.cmake)
  set_tests_properties(consumer PROPERTIES LABELS slow)
endif()
