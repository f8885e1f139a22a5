# The benchmarks: benchmarks/main.cpp and every *_bench.cpp in one program, which only those build who
# ask for it.
file(GLOB_RECURSE heed_bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/*.cpp)
# benchmarks/distributed/ is compiled by its own script, with the compiler of SimGrid.
list(FILTER heed_bench_sources EXCLUDE REGEX benchmarks/distributed/)
if(heed_bench_sources)
  add_executable(heed_bench EXCLUDE_FROM_ALL ${heed_bench_sources})
  target_link_libraries(heed_bench PRIVATE heed heed_flags DNNL::dnnl)
  heed_unite(heed_bench 8 ${heed_bench_sources})
  # Only to the files that use them: the others then compile alike in every checkout.
  set_source_files_properties(
    benchmarks/support/peer.cpp PROPERTIES COMPILE_DEFINITIONS
                                           HEED_PEER_DIR="${PROJECT_SOURCE_DIR}/benchmarks/peer")
  set_source_files_properties(
    benchmarks/models/corpus.cpp
    PROPERTIES COMPILE_DEFINITIONS
               HEED_SHARED_DATA_DEFAULT="${PROJECT_SOURCE_DIR}/../shared/data")
endif()
