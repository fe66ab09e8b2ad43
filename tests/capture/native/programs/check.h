// Checks for the test programs: each failure is a line, and the program's exit code their number.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

static int failures = 0;

static void expect(bool holds, const char* text, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: %s\n", line, text);
}
static void expect_error(cudaError_t got, cudaError_t wanted, const char* text, int line) {
  if (got == wanted) return;
  ++failures;
  printf("line %d: %s is %s, not %s\n", line, text, cudaGetErrorName(got), cudaGetErrorName(wanted));
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define OK(call) expect_error(call, cudaSuccess, #call, __LINE__)
#define FAILS(call, error) expect_error(call, error, #call, __LINE__)
