/* Checks of a test program: each that fails is printed, and the program returns 1. */
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

inline int failures = 0;
inline long allocations = 0;

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                         \
    }                                                                     \
  } while (false)

inline bool near(double x, double y, double tolerance) { return std::fabs(x - y) <= tolerance; }

inline bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

#ifdef COUNT_ALLOCATIONS
/* Not inlined: compilers take malloc and delete for a pair that does not match. */
#define APART __attribute__((noinline))
APART void *operator new(std::size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size)) return memory;
  std::abort();
}
APART void operator delete(void *memory) noexcept { std::free(memory); }
APART void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

#endif
