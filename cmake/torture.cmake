# The programs of `./run torture`; only that verb builds them.
file(GLOB heed_torture_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/torture/*.cpp)
list(FILTER heed_torture_sources EXCLUDE REGEX "/shim\\.cpp$")
if(heed_torture_sources)
  # The tests lend their plain attention and the inputs of mechanisms.
  list(APPEND heed_torture_sources ${PROJECT_SOURCE_DIR}/tests/attention/plain_attention.cpp
       ${PROJECT_SOURCE_DIR}/tests/conformance/subject.cpp)
  add_executable(heed_torture EXCLUDE_FROM_ALL ${heed_torture_sources})
  target_link_libraries(heed_torture PRIVATE heed heed_flags)
  target_compile_options(heed_torture PRIVATE $<$<CONFIG:Release>:-O1>)

  # Not linked with anything of heed: it stands between any program and the C library.
  add_library(heed_torture_shim MODULE EXCLUDE_FROM_ALL torture/shim.cpp)
  target_compile_options(heed_torture_shim PRIVATE -O1 -Wall -Wextra -U_FORTIFY_SOURCE)
  target_include_directories(heed_torture_shim PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(heed_torture_shim PRIVATE ${CMAKE_DL_LIBS})
endif()
