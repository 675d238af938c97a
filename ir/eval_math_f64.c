/* eval_math_f64.c - the mathematical functions in f64: the common steps with the parameters of the
 * type. */
#define REAL double
#define UINT uint64_t
#define SINT int64_t
#define BITS 64
#define FRACTION 52
#define BIAS 1023
#define TYPE_NAME(name) name##_f64
#define FMA fma
#define SQRT sqrt
#define FMOD fmod
#define OF_TYPE(f32, f64) f64
enum { CBRT_STEPS = 2 };

#include "eval_math_basics.inc"
#include "eval_math_exp.inc"
#include "eval_math_log.inc"
#include "eval_math_trig.inc"
#include "eval_math_power.inc"
#include "eval_math_entries.inc"
