# The program heed: cli/main.cpp and one file per verb.
find_package(CLI11 REQUIRED)

file(GLOB heed_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
if(heed_cli_sources)
  add_executable(heed_cli ${heed_cli_sources})
  set_target_properties(heed_cli PROPERTIES OUTPUT_NAME heed)
  target_link_libraries(heed_cli PRIVATE heed heed_flags CLI11::CLI11)
  install(TARGETS heed_cli)
endif()

# heed_add_cli_test(NAME CODE ARGUMENT…): the program called like this ends with this exit code.
function(heed_add_cli_test name code)
  add_test(NAME cli.${name} COMMAND sh -c "\"$@\"; test $? -eq ${code}" sh $<TARGET_FILE:heed_cli>
                                    ${ARGN})
endfunction()

if(heed_cli_sources AND HEED_BUILD_TESTS)
  heed_add_cli_test(version 0 --version)
  heed_add_cli_test(help 0 --help)
  heed_add_cli_test(no_verb 2)
  heed_add_cli_test(unknown_verb 2 dmeo)
  heed_add_cli_test(bad_flag 2 demo --updates=none)
  heed_add_cli_test(missing_file 1 inspect ${PROJECT_BINARY_DIR}/no-such-file)
  heed_add_cli_test(inspect 0 inspect ${PROJECT_SOURCE_DIR}/tests/golden/linear.safetensors)
  heed_add_cli_test(list 0 list)
  heed_add_cli_test(list_json 0 list --json)
  heed_add_cli_test(list_one 0 list multi_head)
  heed_add_cli_test(list_unknown 1 list mutli_head)
  heed_add_cli_test(see_pattern 0 see pattern multi_head -o ${PROJECT_BINARY_DIR}/pattern.svg)
  heed_add_cli_test(see_not_svg 1 see pattern multi_head -o ${PROJECT_BINARY_DIR}/pattern.txt)
  heed_add_cli_test(demo 0 demo --updates=20 --held-out=50)
endif()
