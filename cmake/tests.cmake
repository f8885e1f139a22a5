# The tests: one program for tests/**, one for those that replace operator new.
find_package(GTest REQUIRED)

file(GLOB_RECURSE heed_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.cpp)
set(heed_allocation_sources ${heed_test_sources})
list(FILTER heed_allocation_sources INCLUDE REGEX "/tests/allocation/")
list(FILTER heed_test_sources EXCLUDE REGEX "/tests/allocation/")

function(heed_add_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE heed heed_flags GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(
    ${name} PRIVATE HEED_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/golden"
                    HEED_SHARED_DATA_DEFAULT="${PROJECT_SOURCE_DIR}/../shared/data")
endfunction()

if(heed_test_sources)
  heed_add_test_program(heed_tests ${heed_test_sources})
  add_test(NAME heed_tests COMMAND heed_tests)
endif()
if(heed_allocation_sources)
  heed_add_test_program(heed_allocation_tests ${heed_allocation_sources})
  add_test(NAME heed_allocation_tests COMMAND heed_allocation_tests)
endif()
