// A library for LD_PRELOAD that makes one call of the C library fail, to see what the program does.
// It counts the calls of each function while main() runs, with the call stacks they come from:
//
//   TORTURE_COUNT=FILE    writes one line for each stack: "function hash first last count"
//   TORTURE_FAIL=write:7:ENOSPC:once TORTURE_HIT=FILE
//                         the seventh call of write fails with ENOSPC; its stack goes to FILE
//
// The fault is the name of an error, or "short" (half of the bytes are read or written). The last
// word is "once", or "on" if all later calls fail too, as on a full disk.
//
//   TORTURE_SERVE=1       runs main() once for each request on standard input (shim_serve.h), with
//                         variables of its own; loading and linking the program is done once
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

#include "torture/shim_serve.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

// Functions that fail together: all ways to open a file are "open".
enum Function {
  kWrite,
  kRead,
  kOpen,
  kClose,
  kFsync,
  kRename,
  kMmap,
  kFtruncate,
  kMkdir,
  kUnlink,
  kSymlink,
  kStdio,
  kThread,
  kMalloc,
  kFunctions
};
constexpr const char* kNames[kFunctions] = {"write",   "read",  "open",      "close", "fsync",
                                            "rename",  "mmap",  "ftruncate", "mkdir", "unlink",
                                            "symlink", "stdio", "thread",    "malloc"};

constexpr int kDepth = 10;             // frames that tell two stacks apart
constexpr uint32_t kSlots = 1u << 17;  // of the table of stacks
constexpr int kShort = -1;             // the fault that is not an error

struct Slot {
  std::atomic<uint64_t> hash;
  uint32_t function;
  uint32_t first, last, count;
};

// A loaded file: stacks are told apart by addresses in files, which are the same in every process.
struct Loaded {
  uintptr_t begin, end;
};

std::atomic<bool> g_active;
Loaded g_loaded[256];
int g_loaded_count = 0;
std::atomic<uint32_t> g_calls[kFunctions];
Slot* g_table;  // null unless stacks are counted
int g_function = -1, g_fault = 0;
uint32_t g_number = 0;
bool g_stays = false;
std::atomic<bool> g_hit;
const char* g_count_file;
const char* g_hit_file;
// The shim's own calls do not count.
__thread bool t_inside __attribute__((tls_model("initial-exec")));

int fault_of(const char* name) {
  struct Named {
    const char* name;
    int value;
  };
  constexpr Named kFaults[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR},
                               {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN},
                               {"short", kShort}};
  for (const Named& fault : kFaults) {
    if (strcmp(fault.name, name) == 0) return fault.value;
  }
  return EIO;
}

int note_loaded(dl_phdr_info* info, size_t, void*) {
  Loaded found{info->dlpi_addr, info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    if (part.p_type == PT_LOAD && end > found.end) found.end = end;
  }
  if (g_loaded_count < 256) g_loaded[g_loaded_count++] = found;
  return 0;
}

void read_settings() {
  g_count_file = getenv("TORTURE_COUNT");
  g_hit_file = getenv("TORTURE_HIT");
  if (g_count_file != nullptr) {
    void* const memory = mmap(nullptr, sizeof(Slot) * kSlots, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) g_table = static_cast<Slot*>(memory);
    dl_iterate_phdr(note_loaded, nullptr);
  }
  char name[16], fault[16], how[8];
  const char* const text = getenv("TORTURE_FAIL");
  if (text == nullptr || sscanf(text, "%15[^:]:%u:%15[^:]:%7s", name, &g_number, fault, how) != 4) {
    return;
  }
  for (int i = 0; i < kFunctions; ++i) {
    if (strcmp(kNames[i], name) == 0) g_function = i;
  }
  g_fault = fault_of(fault);
  g_stays = strcmp(how, "on") == 0;
}

uint64_t in_file(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < g_loaded_count; ++i) {
    if (at >= g_loaded[i].begin && at < g_loaded[i].end) {
      return (at - g_loaded[i].begin) ^ (static_cast<uint64_t>(i) << 48);
    }
  }
  return 0;
}

void note_stack(Function function, uint32_t number) {
  void* frames[kDepth + 2];
  const int depth = backtrace(frames, kDepth + 2);
  uint64_t hash = 0xcbf29ce484222325ull + static_cast<uint64_t>(function);
  for (int i = 2; i < depth; ++i) {
    hash = (hash ^ in_file(frames[i])) * 0x100000001b3ull;
  }
  if (hash == 0) hash = 1;
  for (uint32_t i = 0; i < kSlots; ++i) {
    Slot& slot = g_table[(hash + i) % kSlots];
    uint64_t expected = 0;
    if (slot.hash.compare_exchange_strong(expected, hash)) {
      slot.function = function;
      slot.first = number;
    } else if (expected != hash) {
      continue;
    }
    slot.last = number;
    ++slot.count;
    return;
  }
}

void note_hit() {
  if (g_hit.exchange(true) || g_hit_file == nullptr) return;
  const int file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, g_hit_file, O_WRONLY | O_CREAT | O_TRUNC, 0666));
  if (file < 0) return;
  void* frames[40];
  backtrace_symbols_fd(frames, backtrace(frames, 40), file);
  syscall(SYS_close, file);
}

// Counts a call; the fault that it must have, or 0.
int fault(Function function) {
  if (t_inside || !g_active.load(std::memory_order_relaxed)) return 0;
  t_inside = true;
  const int saved = errno;
  const uint32_t number = ++g_calls[function];
  if (g_table != nullptr) note_stack(function, number);
  int result = 0;
  if (function == g_function && (number == g_number || (g_stays && number > g_number))) {
    note_hit();
    result = g_fault;
  }
  errno = saved;
  t_inside = false;
  return result;
}

void write_counts() {
  if (g_table == nullptr) return;
  t_inside = true;
  FILE* const file = fopen(g_count_file, "w");
  if (file != nullptr) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      const Slot& slot = g_table[i];
      if (slot.hash == 0) continue;
      fprintf(file, "%s %llx %u %u %u\n", kNames[slot.function],
              static_cast<unsigned long long>(slot.hash.load()), slot.first, slot.last, slot.count);
    }
    fclose(file);
  }
  t_inside = false;
}

using torture::Main;
Main g_main;

int main_with_settings(int argc, char** argv, char** environment) {
  read_settings();
  g_active = true;
  const int code = g_main(argc, argv, environment);
  g_active = false;
  write_counts();
  return code;
}

int main_with_faults(int argc, char** argv, char** environment) {
  void* frames[2];
  backtrace(frames, 2);  // loads the unwinder, which allocates
  if (getenv("TORTURE_SERVE") != nullptr) return torture::serve(main_with_settings, argv[0]);
  return main_with_settings(argc, argv, environment);
}

template <typename F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

size_t half(size_t size) { return size > 1 ? size / 2 : size; }

int opened(int injected, const char* path, int folder, int flags, unsigned mode) {
  if (injected != 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

void* allocated(void* (*make)(size_t, size_t), size_t a, size_t b) {
  if (fault(kMalloc) != 0) return errno = ENOMEM, nullptr;
  return make(a, b);
}

}  // namespace

extern "C" {

using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
int __libc_start_main(Main real, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*unload)(), void* stack) {
  g_main = real;
  return next<StartMain>("__libc_start_main")(main_with_faults, argc, argv, init, fini, unload,
                                              stack);
}

// ---- files ----

ssize_t write(int file, const void* bytes, size_t size) {
  const int injected = fault(kWrite);
  if (injected > 0) return errno = injected, -1;
  return syscall(SYS_write, file, bytes, injected == kShort ? half(size) : size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  const int injected = fault(kWrite);
  if (injected > 0) return errno = injected, -1;
  return syscall(SYS_pwrite64, file, bytes, injected == kShort ? half(size) : size, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) {
  return pwrite(file, bytes, size, at);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  const int injected = fault(kWrite);
  if (injected > 0) return errno = injected, -1;
  return syscall(SYS_writev, file, parts, injected == kShort ? 1 : count);
}

ssize_t read(int file, void* bytes, size_t size) {
  const int injected = fault(kRead);
  if (injected > 0) return errno = injected, -1;
  return syscall(SYS_read, file, bytes, injected == kShort ? half(size) : size);
}

ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  const int injected = fault(kRead);
  if (injected > 0) return errno = injected, -1;
  return syscall(SYS_pread64, file, bytes, injected == kShort ? half(size) : size, at);
}
ssize_t pread64(int file, void* bytes, size_t size, off_t at) {
  return pread(file, bytes, size, at);
}

#define OPEN(NAME, FOLDER, ...)                                                         \
  int NAME(__VA_ARGS__ const char* path, int flags, ...) {                              \
    va_list rest;                                                                       \
    va_start(rest, flags);                                                              \
    const unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, unsigned) : 0; \
    va_end(rest);                                                                       \
    return opened(fault(kOpen), path, FOLDER, flags, mode);                             \
  }
OPEN(open, AT_FDCWD)
OPEN(open64, AT_FDCWD)
#define COMMA ,
OPEN(openat, folder, int folder COMMA)
OPEN(openat64, folder, int folder COMMA)
int __open_2(const char* path, int flags) { return opened(fault(kOpen), path, AT_FDCWD, flags, 0); }
int __open64_2(const char* path, int flags) { return __open_2(path, flags); }

FILE* fopen(const char* path, const char* mode) {
  if (const int injected = fault(kOpen); injected > 0) return errno = injected, nullptr;
  return next<FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

// A close that reports an error has closed the file all the same.
int close(int file) {
  const int injected = fault(kClose);
  const int result = static_cast<int>(syscall(SYS_close, file));
  if (injected > 0) return errno = injected, -1;
  return result;
}

int fsync(int file) {
  if (const int injected = fault(kFsync); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_fsync, file));
}
int fdatasync(int file) {
  if (const int injected = fault(kFsync); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

int rename(const char* from, const char* to) {
  if (const int injected = fault(kRename); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_rename, from, to));
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  if (const int injected = fault(kMmap); injected > 0) return errno = injected, MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(at, size, protection, flags, file, offset);
}

int ftruncate(int file, off_t size) {
  if (const int injected = fault(kFtruncate); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_ftruncate, file, size));
}
int ftruncate64(int file, off_t size) { return ftruncate(file, size); }

int mkdir(const char* path, mode_t mode) {
  if (const int injected = fault(kMkdir); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_mkdir, path, mode));
}

int unlink(const char* path) {
  if (const int injected = fault(kUnlink); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_unlink, path));
}
int unlinkat(int folder, const char* path, int flags) {
  if (const int injected = fault(kUnlink); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}
int rmdir(const char* path) {
  if (const int injected = fault(kUnlink); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_rmdir, path));
}
int remove(const char* path) {
  if (const int injected = fault(kUnlink); injected > 0) return errno = injected, -1;
  return next<int (*)(const char*)>("remove")(path);
}

int symlink(const char* target, const char* path) {
  if (const int injected = fault(kSymlink); injected > 0) return errno = injected, -1;
  return static_cast<int>(syscall(SYS_symlink, target, path));
}

// ---- standard output by stdio: the bytes are lost, and the stream has its error mark ----

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  if (const int injected = fault(kStdio); injected > 0) {
    stream->_flags |= 0x20;  // _IO_ERR_SEEN of glibc
    return errno = injected, 0;
  }
  return next<size_t (*)(const void*, size_t, size_t, FILE*)>("fwrite")(bytes, size, count, stream);
}
int fflush(FILE* stream) {
  if (const int injected = fault(kStdio); injected > 0) return errno = injected, EOF;
  return next<int (*)(FILE*)>("fflush")(stream);
}

// ---- threads and memory ----

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  if (const int injected = fault(kThread); injected > 0) return injected;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return next<Create>("pthread_create")(thread, attributes, run, argument);
}

void* malloc(size_t size) {
  return allocated([](size_t n, size_t) { return __libc_malloc(n); }, size, 0);
}
void* calloc(size_t count, size_t size) { return allocated(__libc_calloc, count, size); }
void* realloc(void* block, size_t size) {
  if (fault(kMalloc) != 0) return errno = ENOMEM, nullptr;
  return __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return allocated(__libc_memalign, alignment, size);
}
void* memalign(size_t alignment, size_t size) {
  return allocated(__libc_memalign, alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  if (fault(kMalloc) != 0) return ENOMEM;
  void* const block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

}  // extern "C"
