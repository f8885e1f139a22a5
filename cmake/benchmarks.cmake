# The benchmarks: benchmarks/main.cpp and every *_bench.cpp in one program.
file(GLOB_RECURSE heed_bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/*.cpp)
if(heed_bench_sources)
  add_executable(heed_bench ${heed_bench_sources})
  target_link_libraries(heed_bench PRIVATE heed heed_flags DNNL::dnnl)
  target_compile_definitions(
    heed_bench PRIVATE HEED_PEER_DIR="${PROJECT_SOURCE_DIR}/benchmarks/peer"
                       HEED_SHARED_DATA_DEFAULT="${PROJECT_SOURCE_DIR}/../shared/data")
endif()
