/* hlo_lite.h - HLO modules in a C program: parse and verify text, print it, compile it in memory,
 * and call it.
 *
 *   hlo_context *context = hlo_context_new();
 *   hlo_module *module = hlo_parse(context, "add.hlo", text, strlen(text));
 *   hlo_executable *add = module ? hlo_compile(context, module, NULL) : NULL;
 *   if (!add)
 *     fputs(hlo_messages(context), stderr);
 *   else
 *     hlo_execute(add, arguments, results, workspace);
 *
 * Every handle is opaque and freed by its own function, which takes NULL too. Nothing is printed
 * and nothing ends the process; a function that fails returns NULL or a nonzero number, and the
 * context says why. A context and its modules belong to one thread at a time. Executables are
 * immutable: any thread may call them, several at once, and they outlive the context that made
 * them. There is no global state.
 *
 * C11 or C++17. Link with -lhlo_lite (pkg-config hlo_lite).
 */
#ifndef HLO_LITE_H
#define HLO_LITE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HLO_API __attribute__((visibility("default")))
#else
#define HLO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hlo_context hlo_context;
typedef struct hlo_module hlo_module;
typedef struct hlo_executable hlo_executable;

/* The version of the library: "0.1.0". */
HLO_API const char *hlo_version(void);

/* NULL: out of memory. */
HLO_API hlo_context *hlo_context_new(void);
/* Frees the context. Its modules must have been freed; its executables live on. */
HLO_API void hlo_context_free(hlo_context *context);

/* ---- what went wrong ---- */

typedef struct hlo_message {
  int is_error;                  /* 0: a warning */
  uint32_t line, column;         /* from 1, columns in bytes; 0: no place in the text */
  uint32_t end_line, end_column; /* of the byte behind the last that is meant */
  const char *rule;              /* the label in docs/language.md, "" if none: "binary-rank" */
  const char *text;
  const char *help; /* what to write instead; NULL if nothing is plausible */
} hlo_message;

/* Errors and warnings of the last call that took this context, in text order. The texts live until
 * the next such call. */
HLO_API size_t hlo_message_count(const hlo_context *context);
/* Message `index`; one without text past the last. */
HLO_API hlo_message hlo_message_at(const hlo_context *context, size_t index);
/* All of them as the command shows them, with the lines they mean; "" if there are none. */
HLO_API const char *hlo_messages(const hlo_context *context);

/* ---- modules ---- */

/* Parses and verifies `size` bytes of HLO text; `name` stands in messages. NULL: the messages say
 * why. */
HLO_API hlo_module *hlo_parse(hlo_context *context, const char *name, const char *text,
                              size_t size);
HLO_API void hlo_module_free(hlo_module *module);
/* The module as canonical text, which lives as long as the module. NULL: out of memory. */
HLO_API const char *hlo_module_text(hlo_context *context, hlo_module *module);

/* ---- building modules ----
 *
 *   hlo_builder *b = hlo_builder_new(context, "bias");
 *   int64_t sizes[] = {2, 3};
 *   hlo_value *x = hlo_parameter(b, "x", "f32", 2, sizes);
 *   hlo_value *bias = hlo_parameter(b, "bias", "f32", 1, &sizes[1]);
 *   hlo_module *module = hlo_build(b, hlo_add(x, bias));
 *
 * A builder writes the instructions of one module in order; each is checked by the verifier's rules
 * when it is made. A call that cannot be made returns NULL, and from then on every call of that
 * builder does, hlo_build last: so one test at the end is enough. hlo_messages names the call and
 * the shapes; they stay until another call that takes the context. Values and computations belong
 * to their builder and live as long. A builder belongs to the thread of its context.
 *
 * In a call like hlo_add(hlo_exp(x), hlo_log(x)) the compiler chooses which argument it makes first;
 * where the order of instructions matters, use variables.
 *
 * Element types are named as in HLO: "f32", "s64", "pred". Nothing is converted by itself: where
 * NumPy would promote types, use hlo_convert. `axis` counts from the end when it is negative.
 */

typedef struct hlo_builder hlo_builder;
typedef struct hlo_value hlo_value;             /* an instruction's result */
typedef struct hlo_computation hlo_computation; /* one that is finished: a region, a loop's body */

/* A module without instructions; its entry computation, main, is open. NULL: out of memory. */
HLO_API hlo_builder *hlo_builder_new(hlo_context *context, const char *module_name);
/* Frees it with its values. The module that it built lives on; the context must be there. */
HLO_API void hlo_builder_free(hlo_builder *builder);
/* Ends the entry computation with that root (NULL: the one that a line of hlo_emit called ROOT) and
 * gives the module, as if hlo_parse had read its text. No further call of the builder may follow but
 * hlo_builder_free. */
HLO_API hlo_module *hlo_build(hlo_builder *builder, hlo_value *root);

/* Opens a computation inside the one that is open: a region, a body, a branch. All that is made
 * goes into it, and only its own values may be used, until hlo_end closes it with a root (NULL: as
 * for hlo_build). hlo_end gives it, for %c of hlo_emit. */
HLO_API void hlo_begin(hlo_builder *builder, const char *name);
HLO_API hlo_computation *hlo_end(hlo_builder *builder, hlo_value *root);
/* The region (a, b) -> opcode(a, b) on scalars of that type, made once: hlo_region(b, "add",
 * "f32"). */
HLO_API hlo_computation *hlo_region(hlo_builder *builder, const char *opcode, const char *type);

/* Any instruction, as a line of HLO text: the opcode, its operands, its attributes (docs/ops.md).
 * In the format, %v stands for an hlo_value *, %t for the shape of one (also of an outer
 * computation), %c for an hlo_computation *, %s for a const char *, %d for an int, %l for an int64_t,
 * %D for two arguments, an int and a const int64_t *, printed as {1,2,3}; %% for a percent sign. The
 * result's shape is written where it does not follow from the operands (iota, custom-call), and before
 * an opcode that converts. The value gets a name of its own unless the line begins with one.
 *
 *   hlo_emit(b, "dot(%v, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}", x, w)
 *   hlo_emit(b, "total = reduce(%v, %v), dimensions=%D, to_apply=%c", x, zero, 2, axes, sum)
 *   hlo_emit(b, "f32[2,3] iota(), iota_dimension=%d", 1)
 *   hlo_emit(b, "%t parameter(0)", state)
 */
HLO_API hlo_value *hlo_emit(hlo_builder *builder, const char *format, ...);

/* The next parameter of the open computation; name NULL: one is found. */
HLO_API hlo_value *hlo_parameter(hlo_builder *builder, const char *name, const char *type, int rank,
                                 const int64_t *dimensions);
/* A constant array; elements as in hlo_array, copied. */
HLO_API hlo_value *hlo_constant(hlo_builder *builder, const char *type, int rank,
                                const int64_t *dimensions, const void *elements);
/* A scalar constant: the value rounded to the type; integers must be whole and fit. */
HLO_API hlo_value *hlo_scalar(hlo_builder *builder, const char *type, double value);
/* An array of one value. */
HLO_API hlo_value *hlo_full(hlo_builder *builder, const char *type, int rank,
                            const int64_t *dimensions, double value);
/* 0, 1, 2, ... along one axis. */
HLO_API hlo_value *hlo_iota(hlo_builder *builder, const char *type, int rank,
                            const int64_t *dimensions, int axis);
HLO_API hlo_value *hlo_tuple(hlo_builder *builder, int count, hlo_value *const *values);
HLO_API hlo_value *hlo_element(hlo_value *tuple, int index);

/* The input_output_alias of the entry: result number `output` (0 when the result is no tuple) may
 * take the place of the parameter. hlo_build refuses one whose shapes differ: a result cannot be
 * written into an argument of another size. */
HLO_API void hlo_alias(hlo_builder *builder, int output, hlo_value *parameter);

/* Names the entry, which is main otherwise. */
HLO_API void hlo_name_entry(hlo_builder *builder, const char *name);
/* Further attributes of the module, as text, which hlo_build reads: "is_scheduled=true". */
HLO_API void hlo_header(hlo_builder *builder, const char *attributes);

/* What a value is. type "tuple" and rank 0 for tuples; NULL, 0 and NULL for a NULL value. */
HLO_API const char *hlo_value_name(const hlo_value *value);
HLO_API const char *hlo_value_type(const hlo_value *value);
HLO_API int hlo_value_rank(const hlo_value *value);
HLO_API const int64_t *hlo_value_dimensions(const hlo_value *value);

/* ---- building with NumPy's manners ----
 *
 * Each of these makes one or a few instructions, all explicit. Operands of different shapes are
 * broadcast as NumPy does it: aligned at the last dimension, sizes equal or one of them 1. The
 * broadcasts stand in the text. Shapes that do not fit are an error in NumPy's words.
 */

HLO_API hlo_value *hlo_add(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_subtract(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_multiply(hlo_value *x, hlo_value *y);
/* Integers are truncated toward zero. */
HLO_API hlo_value *hlo_divide(hlo_value *x, hlo_value *y);
/* np.remainder: the sign of y. hlo_fmod is HLO's remainder: the sign of x. */
HLO_API hlo_value *hlo_remainder(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_fmod(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_power(hlo_value *x, hlo_value *y);
/* np.arctan2: the angle of the vector whose coordinates are x and y; y comes first. */
HLO_API hlo_value *hlo_arctan2(hlo_value *y, hlo_value *x);
/* NaN if either is. */
HLO_API hlo_value *hlo_maximum(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_minimum(hlo_value *x, hlo_value *y);
/* Bit by bit; of pred, the logical ones. */
HLO_API hlo_value *hlo_and(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_or(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_xor(hlo_value *x, hlo_value *y);
/* To the right, signed integers keep their sign. */
HLO_API hlo_value *hlo_left_shift(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_right_shift(hlo_value *x, hlo_value *y);
/* c64 of two f32, c128 of two f64. */
HLO_API hlo_value *hlo_complex(hlo_value *real, hlo_value *imaginary);
/* pred */
HLO_API hlo_value *hlo_equal(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_not_equal(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_less(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_less_equal(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_greater(hlo_value *x, hlo_value *y);
HLO_API hlo_value *hlo_greater_equal(hlo_value *x, hlo_value *y);

/* Element by element. hlo_round: halves to even. hlo_sigmoid: HLO's logistic. hlo_invert: ~x, of
 * pred not x. */
HLO_API hlo_value *hlo_negative(hlo_value *x);
HLO_API hlo_value *hlo_abs(hlo_value *x);
HLO_API hlo_value *hlo_sign(hlo_value *x);
HLO_API hlo_value *hlo_exp(hlo_value *x);
HLO_API hlo_value *hlo_expm1(hlo_value *x);
HLO_API hlo_value *hlo_log(hlo_value *x);
HLO_API hlo_value *hlo_log1p(hlo_value *x);
HLO_API hlo_value *hlo_sqrt(hlo_value *x);
HLO_API hlo_value *hlo_rsqrt(hlo_value *x);
HLO_API hlo_value *hlo_cbrt(hlo_value *x);
HLO_API hlo_value *hlo_square(hlo_value *x);
HLO_API hlo_value *hlo_sin(hlo_value *x);
HLO_API hlo_value *hlo_cos(hlo_value *x);
HLO_API hlo_value *hlo_tan(hlo_value *x);
HLO_API hlo_value *hlo_tanh(hlo_value *x);
HLO_API hlo_value *hlo_sigmoid(hlo_value *x);
HLO_API hlo_value *hlo_erf(hlo_value *x);
HLO_API hlo_value *hlo_floor(hlo_value *x);
HLO_API hlo_value *hlo_ceil(hlo_value *x);
HLO_API hlo_value *hlo_round(hlo_value *x);
HLO_API hlo_value *hlo_isfinite(hlo_value *x);
HLO_API hlo_value *hlo_invert(hlo_value *x);
HLO_API hlo_value *hlo_real(hlo_value *x);
HLO_API hlo_value *hlo_imag(hlo_value *x);
HLO_API hlo_value *hlo_convert(hlo_value *x, const char *type);

/* condition ? x : y with all three broadcast; the condition is pred. */
HLO_API hlo_value *hlo_where(hlo_value *condition, hlo_value *x, hlo_value *y);
/* minimum(maximum(x, low), high), broadcast; a bound that is NULL is left out. */
HLO_API hlo_value *hlo_clip(hlo_value *x, hlo_value *low, hlo_value *high);

/* The shape that shapes broadcast to: its rank, its sizes at `out` (room for 64). -1: they do not
 * fit, or one has more than 64 dimensions. Needs no context. */
HLO_API int hlo_broadcast_shapes(int count, const int *ranks, const int64_t *const *dimensions,
                                 int64_t *out);
/* All of them in the shape that they broadcast to, at `out`. Returns 0; 1: an error, and `out`
 * holds NULLs. */
HLO_API int hlo_broadcast_arrays(int count, hlo_value *const *values, hlo_value **out);
HLO_API hlo_value *hlo_broadcast_to(hlo_value *x, int rank, const int64_t *dimensions);
/* As torch.Tensor.expand: -1 keeps a size; only sizes of 1 may grow, and new dimensions come
 * first. */
HLO_API hlo_value *hlo_expand(hlo_value *x, int rank, const int64_t *dimensions);
/* A dimension of 1 at `axis` of the result. */
HLO_API hlo_value *hlo_unsqueeze(hlo_value *x, int axis);
/* Without that dimension; as in PyTorch it stays when its size is not 1. */
HLO_API hlo_value *hlo_squeeze(hlo_value *x, int axis);
/* The same elements in row-major order; one size may be -1. */
HLO_API hlo_value *hlo_view(hlo_value *x, int rank, const int64_t *dimensions);
/* As torch.Tensor.repeat: the array `repeats[i]` times along each axis; surplus ones come first. */
HLO_API hlo_value *hlo_repeat(hlo_value *x, int rank, const int64_t *repeats);
/* NULL: the axes reversed. */
HLO_API hlo_value *hlo_transpose(hlo_value *x, const int *permutation);
/* x[start:stop] along one axis; negative numbers count from the end, as in NumPy. */
HLO_API hlo_value *hlo_slice(hlo_value *x, int axis, int64_t start, int64_t stop);
HLO_API hlo_value *hlo_concatenate(int count, hlo_value *const *values, int axis);
/* np.take: the rows of x along `axis` that an integer array names; its dimensions take the place of
 * the axis. Negative ones count from the end; what is still outside is clamped. */
HLO_API hlo_value *hlo_take(hlo_value *x, hlo_value *indices, int axis);
/* np.matmul, vectors and broadcast batches included. */
HLO_API hlo_value *hlo_matmul(hlo_value *x, hlo_value *y);

/* Reductions over `count` axes; axes NULL: all of them. keepdims: they stay with size 1. */
HLO_API hlo_value *hlo_sum(hlo_value *x, int count, const int *axes, int keepdims);
HLO_API hlo_value *hlo_prod(hlo_value *x, int count, const int *axes, int keepdims);
HLO_API hlo_value *hlo_max(hlo_value *x, int count, const int *axes, int keepdims);
HLO_API hlo_value *hlo_min(hlo_value *x, int count, const int *axes, int keepdims);
/* pred; hlo_all of none is true */
HLO_API hlo_value *hlo_all(hlo_value *x, int count, const int *axes, int keepdims);
HLO_API hlo_value *hlo_any(hlo_value *x, int count, const int *axes, int keepdims);
/* Floats alone. hlo_var divides by the number of elements less `ddof`. */
HLO_API hlo_value *hlo_mean(hlo_value *x, int count, const int *axes, int keepdims);
HLO_API hlo_value *hlo_var(hlo_value *x, int count, const int *axes, int ddof, int keepdims);
/* s64; the first of equal ones, and the first NaN before all. */
HLO_API hlo_value *hlo_argmax(hlo_value *x, int axis, int keepdims);
HLO_API hlo_value *hlo_argmin(hlo_value *x, int axis, int keepdims);

/* Neural networks, with PyTorch's conventions. */
HLO_API hlo_value *hlo_relu(hlo_value *x);
/* exact: with erf; else the tanh form */
HLO_API hlo_value *hlo_gelu(hlo_value *x, int exact);
HLO_API hlo_value *hlo_softmax(hlo_value *x, int axis);
HLO_API hlo_value *hlo_log_softmax(hlo_value *x, int axis);
/* Over the last dimension; weight and bias [n], either NULL. */
HLO_API hlo_value *hlo_layer_norm(hlo_value *x, hlo_value *weight, hlo_value *bias, double epsilon);
/* x [..., in], weight [out, in], bias [out] or NULL. */
HLO_API hlo_value *hlo_linear(hlo_value *x, hlo_value *weight, hlo_value *bias);
typedef struct hlo_conv2d_options {
  int64_t stride[2], padding[2], dilation[2]; /* 0 stands for stride 1, padding 0, dilation 1 */
  int64_t groups;                             /* 0: 1 */
} hlo_conv2d_options;
/* x [N, C, H, W], weight [O, C / groups, h, w], bias [O] or NULL; options NULL: all zero. */
HLO_API hlo_value *hlo_conv2d(hlo_value *x, hlo_value *weight, hlo_value *bias,
                              const hlo_conv2d_options *options);
/* x [N, C, H, W], windows of kernel x kernel; stride 0: the kernel's. Averages count padding. */
HLO_API hlo_value *hlo_max_pool2d(hlo_value *x, int64_t kernel, int64_t stride, int64_t padding);
HLO_API hlo_value *hlo_avg_pool2d(hlo_value *x, int64_t kernel, int64_t stride, int64_t padding);
/* The mean of (x - target)^2: a scalar. */
HLO_API hlo_value *hlo_mse(hlo_value *x, hlo_value *target);
/* logits [N, C], labels [N] of an integer type, 0 to C - 1: the mean of -log softmax at the
 * label. */
HLO_API hlo_value *hlo_cross_entropy(hlo_value *logits, hlo_value *labels);
/* softmax(q kT / sqrt(D) + mask) v: q [..., L, D], k [..., S, D], v [..., S, E]. The mask broadcasts
 * to [..., L, S]: pred, true where a position takes part, or added; NULL: none. */
HLO_API hlo_value *hlo_attention(hlo_value *q, hlo_value *k, hlo_value *v, hlo_value *mask);

/* ---- custom calls ---- */

/* Gives the function that custom calls of a target call, in what the context compiles from now on; NULL takes it away again. It has
 * the form of hlo_custom_call in hlo_runtime.h: arguments and results are dense and row-major, or in the layouts that the module
 * writes; 0 is success. Targets without one call the process's function hlo_custom_TARGET; those of LAPACK the system's library.
 * Returns 0, or 1 when out of memory. */
HLO_API int hlo_set_custom_call(hlo_context *context, const char *target,
                                int (*function)(void *const *arguments, void *const *results,
                                                const char *config, size_t config_bytes));

/* ---- compilation ---- */

typedef struct hlo_options {
  int opt_level;                               /* 0 to 3; no level changes a bit of the results */
  int threads;                                 /* most threads of one call; 1: only the caller's */
  const char *cpu;                             /* LLVM's name; NULL or "native": this machine */
  const char *features;                        /* "+avx2,-fma" or NULL */
  int fast_math, fp_contract, flush_denormals; /* each gives up the promise of bits */
  const char *target; /* of hlo_compile_object: "aarch64-linux-gnu"; NULL: this machine's */
  size_t max_workspace_bytes; /* modules that need more are refused; 0: none is */
} hlo_options;

/* What hlo_compile takes NULL for: level 2, up to 16 threads, this machine. */
HLO_API hlo_options hlo_default_options(void);

/* Machine code in memory. The module may be freed afterwards. NULL: the messages say why. */
HLO_API hlo_executable *hlo_compile(hlo_context *context, const hlo_module *module,
                                    const hlo_options *options);
/* No call of it may be running. NULL is allowed. */
HLO_API void hlo_executable_free(hlo_executable *executable);

/* Machine code for a linker, as `hlo-lite compile` writes it. */
typedef struct hlo_object {
  const void *bytes; /* an object file that defines the function, its _workspace_bytes and _signature */
  size_t size;
  const char *header; /* the text of its C header, NAME.h */
} hlo_object;

/* The module as the function `name`, in the memory of the context until the next call that takes it.
 * Here cpu NULL stands for the portable baseline of the target; targets without a system get no
 * threads. Returns 0; 1: the messages say why. */
HLO_API int hlo_compile_object(hlo_context *context, const hlo_module *module, const char *name,
                               const hlo_options *options, hlo_object *out);

/* ---- calls ---- */

/* An argument or result: dense and row-major, tuples flattened in order, tokens left out. Elements
 * are stored as in generated headers: pred is a byte, f16 and bf16 are uint16_t, complex numbers
 * are pairs. */
typedef struct hlo_array {
  const char *name; /* C name: "x", "result0" */
  const char *type; /* "f32" */
  int rank;
  const int64_t *dimensions;
  size_t bytes;
} hlo_array;

HLO_API size_t hlo_argument_count(const hlo_executable *executable);
HLO_API size_t hlo_result_count(const hlo_executable *executable);
/* The array `index`, one without name past the last. */
HLO_API hlo_array hlo_argument(const hlo_executable *executable, size_t index);
HLO_API hlo_array hlo_result(const hlo_executable *executable, size_t index);
/* "(x: f32[8,784]) -> f32[8,10]" */
HLO_API const char *hlo_signature(const hlo_executable *executable);
/* Bytes of the workspace that each call needs; it must be aligned to 64 bytes, may be NULL when
 * this is 0, and need not be cleared. */
HLO_API size_t hlo_workspace_bytes(const hlo_executable *executable);

/* What it was compiled for: "x86_64-pc-linux-gnu, znver4". */
HLO_API const char *hlo_target(const hlo_executable *executable);
/* Its kernels: each is one fused loop nest, named after the instruction that it ends with. Name NULL
 * past the last. */
HLO_API size_t hlo_kernel_count(const hlo_executable *executable);
HLO_API const char *hlo_kernel_name(const hlo_executable *executable, size_t index);

/* Calls it. Results must not overlap with anything. Allocates nothing. Returns 0; 1: the workspace
 * is NULL or misaligned; 2: a custom call failed. Calls with their own results and workspace may
 * run at once. */
HLO_API int hlo_execute(const hlo_executable *executable, const void *const *arguments,
                        void *const *results, void *workspace);

/* The same with a workspace of its own, which it allocates for the call. 1: out of memory. */
HLO_API int hlo_call(const hlo_executable *executable, const void *const *arguments,
                     void *const *results);

#ifdef __cplusplus
}
#endif

#endif
