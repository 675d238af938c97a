/* bulk_f64.c - blocks of f64 through the evaluator. */
#define REAL double
#define UINT uint64_t
#define SINT int64_t
#define BITS 64
#define FRACTION 52
#define BIAS 1023
#define FMA fma
#define SQRT sqrt
#define FMOD fmod
#define OF_TYPE(f32, f64) f64
enum { CBRT_STEPS = 2 };
#define BULK_NAME hl_bulk_f64

#include "bulk.inc"
