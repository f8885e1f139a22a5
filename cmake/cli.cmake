# The program heed: cli/main.cpp and one file per verb.
find_package(CLI11 REQUIRED)

file(GLOB heed_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
if(heed_cli_sources)
  add_executable(heed_cli ${heed_cli_sources})
  set_target_properties(heed_cli PROPERTIES OUTPUT_NAME heed)
  target_link_libraries(heed_cli PRIVATE heed heed_flags CLI11::CLI11)
  install(TARGETS heed_cli)
endif()
