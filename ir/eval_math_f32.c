/* eval_math_f32.c - the mathematical functions in f32: the common steps with the parameters of the
 * type. */
#define REAL float
#define UINT uint32_t
#define SINT int32_t
#define BITS 32
#define FRACTION 23
#define BIAS 127
#define TYPE_NAME(name) name##_f32
#define FMA fmaf
#define SQRT sqrtf
#define FMOD fmodf
#define OF_TYPE(f32, f64) f32
enum { CBRT_STEPS = 1 };

#include "eval_math_basics.inc"
#include "eval_math_exp.inc"
#include "eval_math_log.inc"
#include "eval_math_trig.inc"
#include "eval_math_power.inc"
#include "eval_math_entries.inc"
