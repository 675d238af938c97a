/* bulk_f32.c - blocks of f32 through the evaluator. */
#define REAL float
#define UINT uint32_t
#define SINT int32_t
#define BITS 32
#define FRACTION 23
#define BIAS 127
#define FMA fmaf
#define SQRT sqrtf
#define FMOD fmodf
#define OF_TYPE(f32, f64) f32
enum { CBRT_STEPS = 1 };
#define BULK_NAME hl_bulk_f32

#include "bulk.inc"
