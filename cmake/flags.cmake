# The compiler flags, in one interface target that every target of heed links privately.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

add_library(heed_flags INTERFACE)

# Results must not depend on how the compiler contracts or reorders arithmetic; errno and floating
# point traps are never looked at.
target_compile_options(
  heed_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off -fno-math-errno -fno-trapping-math)

# Highway's lowest target on x86-64 is then SSE4 (which there includes AES and PCLMUL); AVX2 and
# AVX-512 are added by Highway per function and chosen at run time. Under sanitizers one set is
# enough, and a third of the time to build: AVX2, which is where most people are.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  if(HEED_SANITIZE)
    target_compile_options(heed_flags INTERFACE -march=x86-64-v3 -maes -mpclmul)
    target_compile_definitions(heed_flags INTERFACE HEED_WITHOUT_AVX512)
  else()
    target_compile_options(heed_flags INTERFACE -march=x86-64-v2 -maes -mpclmul)
  endif()
endif()

if(HEED_WERROR)
  target_compile_options(heed_flags INTERFACE -Werror)
endif()

if(HEED_HARDENING)
  target_compile_options(heed_flags INTERFACE -fstack-protector-strong)
  target_compile_definitions(heed_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(heed_flags INTERFACE -Wl,-z,relro,-z,now)
  # Sanitizers intercept the same functions; without optimisation the macro only warns.
  if(NOT HEED_SANITIZE)
    target_compile_options(
      heed_flags INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
endif()

if(HEED_SANITIZE)
  target_compile_options(heed_flags INTERFACE -fsanitize=${HEED_SANITIZE} -fno-omit-frame-pointer
                                              -fno-sanitize-recover=all)
  # GCC's own advice: its flow analysis sees the instrumented code and warns of what is not there.
  target_compile_options(heed_flags INTERFACE -Wno-maybe-uninitialized)
  target_link_options(heed_flags INTERFACE -fsanitize=${HEED_SANITIZE})
endif()

# heed_precompile(TARGET HEADER…): what most files of a target read is read once.
function(heed_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # for ccache
endfunction()
