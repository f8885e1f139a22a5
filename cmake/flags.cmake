# The compiler flags, in one interface target that every target of heed links privately: heed_flags. It
# consists of heed_plain_flags and of heed_sanitizers, whose flags come after the plain ones and win.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

add_library(heed_plain_flags INTERFACE)
add_library(heed_sanitizers INTERFACE)
add_library(heed_flags INTERFACE)
target_link_libraries(heed_flags INTERFACE heed_plain_flags heed_sanitizers)

# Results must not depend on how the compiler contracts or reorders arithmetic; errno and floating
# point traps are never looked at.
target_compile_options(
  heed_plain_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off -fno-math-errno
                             -fno-trapping-math)

# Names of files in messages of assertions are relative, so that objects do not depend on where the
# checkout is, and a compiler cache serves all checkouts.
target_compile_options(heed_plain_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# By default GCC looks for garbage in its heap again and again while it grows from 128 MB on. Without
# that, a unit of tests takes 15 % less time to compile and one of the library 11 %, with 160 MB more.
target_compile_options(heed_plain_flags
                       INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# Highway's lowest target on x86-64 is then SSE4 (which there includes AES and PCLMUL); AVX2 and
# AVX-512 are added by Highway per function and chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_compile_options(heed_plain_flags INTERFACE -march=x86-64-v2 -maes -mpclmul)
endif()

if(HEED_WERROR)
  target_compile_options(heed_plain_flags INTERFACE -Werror)
endif()

if(HEED_HARDENING)
  target_compile_options(heed_plain_flags INTERFACE -fstack-protector-strong)
  target_compile_definitions(heed_plain_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(heed_plain_flags INTERFACE -Wl,-z,relro,-z,now)
  # Without optimisation the macro only warns.
  target_compile_options(
    heed_plain_flags INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
endif()

if(HEED_SANITIZE)
  # Sanitizers intercept the functions that _FORTIFY_SOURCE replaces. Assertions of libraries are on.
  target_compile_options(
    heed_sanitizers INTERFACE -O1 -g1 -UNDEBUG -U_FORTIFY_SOURCE -fsanitize=${HEED_SANITIZE}
                              -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC's own advice: its flow analysis sees the instrumented code and warns of what is not there.
  target_compile_options(heed_sanitizers
                         INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(heed_sanitizers INTERFACE -fsanitize=${HEED_SANITIZE})
  # One instruction set is enough, and a third of the time to build: AVX2, which is where most people
  # are. HEED_THOROUGH brings the others back.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT HEED_THOROUGH)
    target_compile_options(heed_sanitizers INTERFACE -march=x86-64-v3)
    target_compile_definitions(heed_sanitizers INTERFACE HEED_WITHOUT_AVX512)
  endif()
  # A check at each access through a pointer took 30 % of the time to compile. The address sanitizer
  # reports accesses through null and beyond objects by itself; only alignment is lost.
  if(HEED_SANITIZE MATCHES "undefined" AND NOT HEED_THOROUGH)
    target_compile_options(heed_sanitizers
                           INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
endif()

# heed_precompile(TARGET HEADER…): what most files of a target read is read once. Instead of headers,
# REUSE_FROM OTHER takes those of another target with the same flags.
#
# GCC writes another precompiled header each time, even of the same text, so a compiler cache that
# hashes it finds nothing in another checkout. ccache hashes the file NAME.gch.sum instead (with
# CCACHE_PCH_EXTSUM). The headers are those of installed packages: their names and versions tell
# whether two are the same.
function(heed_precompile target)
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
    set(owner ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set(owner ${target})
    set_target_properties(${target} PROPERTIES HEED_PRECOMPILED "${ARGN}")
  endif()
  get_target_property(headers ${owner} HEED_PRECOMPILED)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx.gch.sum
       CONTENT "${CMAKE_CXX_COMPILER_VERSION} ${fmt_VERSION} ${GTest_VERSION} ${CLI11_VERSION} ${headers}")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # for ccache
endfunction()

# heed_unite(TARGET SIZE SOURCE…): the files of a folder are compiled together, at most SIZE to an
# object: most of the time to compile a file went into headers and templates that its neighbours
# need too. Files that Highway compiles once per instruction set stay alone, and so does a file with
# flags of its own. Names in the anonymous namespaces of one folder must therefore differ.
function(heed_unite target size)
  if(NOT HEED_UNITY)
    return()
  endif()
  set(folders "")
  foreach(source ${ARGN})
    file(STRINGS ${source} once_per_target REGEX "foreach_target\\.h" LIMIT_COUNT 1)
    if(once_per_target)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND folders ${folder})
    list(APPEND sources_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH sources_${folder} count)
    math(EXPR units "(${count} + ${size} - 1) / ${size}")
    set(index 0)
    foreach(source ${sources_${folder}})
      math(EXPR unit "${index} * ${units} / ${count} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
