/* emit_expr.c - scalar operations of the loop IR: which lanes and parts the result has, and what
 * its NaNs are. */
#include "emit.h"

#include "emit_math.h"

void hl_value_set(hl_emitter *e, const hl_node *node, hl_value value)
{
  e->values[node->id] = value;
}

void hl_value_set_scalar(hl_emitter *e, const hl_node *node, LLVMValueRef value, hl_nan nan)
{
  LLVMValueRef *parts = HL_NEW(e->arena, LLVMValueRef);
  parts[0] = value;
  hl_value_set(e, node, (hl_value){.parts = parts, .part_count = 1, .nan = nan});
}

static bool is_wide(const hl_value *value)
{
  return value->is_vector || value->is_linear;
}

LLVMValueRef hl_emit_raw(hl_emitter *e, const hl_node *node, int part, int lanes)
{
  const hl_value *value = &e->values[node->id];
  LLVMValueRef x = value->parts[value->part_count == 1 ? 0 : part];
  if (value->is_narrow)
    return LLVMBuildSExt(e->l.builder, x, hl_llvm_type(&e->l, HL_S64, lanes), "");
  if (lanes == 1 || value->is_vector)
    return x;
  LLVMValueRef splat = hl_llvm_splat(&e->l, x, lanes);
  if (!value->is_linear)
    return splat;
  LLVMValueRef offsets = hl_llvm_iota(&e->l, LLVMTypeOf(x), lanes, 0, value->step);
  return LLVMBuildAdd(e->l.builder, splat, offsets, "");
}

LLVMValueRef hl_emit_narrow(hl_emitter *e, const hl_node *node, int part, int lanes)
{
  const hl_value *value = &e->values[node->id];
  LLVMValueRef x = value->parts[value->part_count == 1 ? 0 : part];
  if (value->is_narrow)
    return x;
  x = LLVMBuildTrunc(e->l.builder, x, hl_llvm_type(&e->l, HL_S32, value->is_vector ? lanes : 1),
                     "");
  if (value->is_vector)
    return x;
  LLVMValueRef splat = hl_llvm_splat(&e->l, x, lanes);
  if (!value->is_linear)
    return splat;
  LLVMValueRef offsets = hl_llvm_iota(&e->l, e->l.i32, lanes, 0, value->step);
  return LLVMBuildAdd(e->l.builder, splat, offsets, "");
}

LLVMValueRef hl_emit_canonical(hl_emitter *e, LLVMValueRef x)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  uint64_t nan = hl_llvm_scalar_bits(type) == 64 ? UINT64_C(0x7ff8000000000000) : 0x7fc00000;
  if (e->options->fast_math)
    return x;
  LLVMValueRef is_nan = LLVMBuildFCmp(e->l.builder, LLVMRealUNO, x, x, "");
  return LLVMBuildSelect(e->l.builder, is_nan, hl_llvm_bits(&e->l, type, nan), x, "");
}

/* Splats after the canonical form, where there is one NaN to look at instead of many. */
LLVMValueRef hl_emit_clean(hl_emitter *e, const hl_node *node, int part, int lanes)
{
  const hl_value *value = &e->values[node->id];
  if (value->nan != HL_NAN_DIRTY || (node->type != HL_F32 && node->type != HL_F64))
    return hl_emit_raw(e, node, part, lanes);
  int own_lanes = value->is_vector ? lanes : 1;
  LLVMValueRef x = hl_emit_canonical(e, hl_emit_raw(e, node, part, own_lanes));
  return own_lanes == lanes ? x : hl_llvm_splat(&e->l, x, lanes);
}

int hl_emit_part_count(hl_emitter *e, hl_node *const *operands, int count)
{
  int parts = 1;
  for (int i = 0; i < count; i++)
    if (e->values[operands[i]->id].part_count > parts)
      parts = e->values[operands[i]->id].part_count;
  return parts;
}

int hl_emit_lane_count(hl_emitter *e, hl_node *const *operands, int count)
{
  for (int i = 0; i < count; i++)
    if (is_wide(&e->values[operands[i]->id]))
      return e->width;
  return 1;
}

static uint64_t nan_pattern(hl_element_type type)
{
  return hl_float_nan_bits(type);
}

static bool is_nan_bits(hl_element_type type, uint64_t bits)
{
  double value = hl_float_decode(type, bits);
  return value != value;
}

static void emit_const(hl_emitter *e, const hl_node *node)
{
  LLVMTypeRef type = hl_llvm_type(&e->l, node->type, 1);
  bool keeps = hl_is_float(node->type) && is_nan_bits(node->type, node->bits) &&
               node->bits != nan_pattern(node->type);
  LLVMValueRef value = node->type == HL_PRED ? hl_llvm_int(type, node->bits != 0)
                                             : hl_llvm_bits(&e->l, type, node->bits);
  hl_value_set_scalar(e, node, value, keeps ? HL_NAN_MOVED : HL_NAN_NONE);
}

/* Linear values: base + lane * step, with steps that are known and integers that wrap. */

static bool constant_int(hl_emitter *e, const hl_node *node, int64_t *out)
{
  const hl_value *value = &e->values[node->id];
  if (is_wide(value) || value->part_count != 1 || !LLVMIsAConstantInt(value->parts[0]))
    return false;
  *out = LLVMConstIntGetSExtValue(value->parts[0]);
  return true;
}

static int64_t step_of(const hl_value *value)
{
  return value->is_linear ? value->step : 0;
}

/* The step of the result where it is linear. */
static bool linear_step(hl_emitter *e, const hl_node *node, int64_t *step)
{
  const hl_value *x = &e->values[node->operands[0]->id];
  const hl_value *y = node->operand_count > 1 ? &e->values[node->operands[1]->id] : x;
  int64_t factor;
  if (x->is_vector || y->is_vector || (!x->is_linear && !y->is_linear))
    return false;
  switch (node->op) {
  case HL_LOOP_ADD:
    *step = (int64_t)((uint64_t)step_of(x) + (uint64_t)step_of(y));
    return true;
  case HL_LOOP_SUB:
    *step = (int64_t)((uint64_t)step_of(x) - (uint64_t)step_of(y));
    return true;
  case HL_LOOP_MUL:
    if (!constant_int(e, node->operands[y->is_linear ? 0 : 1], &factor))
      return false;
    *step = (int64_t)((uint64_t)(x->is_linear ? x : y)->step * (uint64_t)factor);
    return true;
  case HL_LOOP_CONVERT:
    *step = x->step;
    return hl_type_bits(node->type) <= hl_type_bits(node->operands[0]->type) &&
           hl_type_bits(node->type) >= 8 && hl_is_integral(node->type);
  default:
    return false;
  }
}

/* One part of one operation. */

static bool is_float(hl_element_type type)
{
  return type == HL_F32 || type == HL_F64;
}

static LLVMValueRef emit_math(hl_emitter *e, hl_math_fn fn, hl_element_type type, int lanes,
                              const LLVMValueRef *args)
{
  hl_math_emitter math = {.context = e->l.context,
                          .module = e->l.module,
                          .builder = e->l.builder,
                          .lanes = (unsigned)lanes,
                          .is_f64 = type == HL_F64};
  return hl_emit_math(&math, fn, args);
}

/* Any float type: changes the sign bit alone. */
static LLVMValueRef emit_sign_bit(hl_emitter *e, hl_loop_op op, hl_element_type type,
                                  LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  if (is_float(type))
    return op == HL_LOOP_NEG ? LLVMBuildFNeg(b, x, "") : hl_llvm_call1(&e->l, "llvm.fabs", x);
  uint64_t sign = UINT64_C(1) << (hl_type_bits(type) - 1);
  LLVMTypeRef llvm = LLVMTypeOf(x);
  return op == HL_LOOP_NEG ? LLVMBuildXor(b, x, hl_llvm_int(llvm, sign), "")
                           : LLVMBuildAnd(b, x, hl_llvm_int(llvm, sign - 1), "");
}

/* Negative numbers have their magnitude bits flipped: then integers sort as TOTALORDER does. */
static LLVMValueRef emit_order(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef integer = hl_llvm_int_like(&e->l, LLVMTypeOf(x));
  int bits = hl_llvm_scalar_bits(integer), used = hl_type_bits(type);
  LLVMValueRef raw = LLVMBuildBitCast(b, x, integer, "");
  if (used < bits) {
    LLVMValueRef up = hl_llvm_int(integer, (uint64_t)(bits - used));
    raw = LLVMBuildAShr(b, LLVMBuildShl(b, raw, up, ""), up, "");
  }
  LLVMValueRef sign = LLVMBuildAShr(b, raw, hl_llvm_int(integer, (uint64_t)(bits - 1)), "");
  LLVMValueRef flip =
      LLVMBuildAnd(b, sign, hl_llvm_int(integer, (UINT64_C(1) << (used - 1)) - 1), "");
  return LLVMBuildXor(b, raw, flip, "");
}

static LLVMValueRef emit_bitcast(hl_emitter *e, const hl_node *node, int lanes, LLVMValueRef x)
{
  LLVMTypeRef to = hl_llvm_type(&e->l, node->type, lanes);
  if (LLVMTypeOf(x) == to)
    return x;
  if (node->type == HL_PRED)
    return LLVMBuildTrunc(e->l.builder, x, to, "");
  if (node->operands[0]->type == HL_PRED)
    return hl_type_class_of(node->type) == HL_CLASS_SIGNED ? LLVMBuildSExt(e->l.builder, x, to, "")
                                                           : LLVMBuildZExt(e->l.builder, x, to, "");
  return LLVMBuildBitCast(e->l.builder, x, to, "");
}

/* The predicate of a compare, or -1 where op is none. */
static int float_predicate(hl_loop_op op)
{
  switch (op) {
  case HL_LOOP_EQ:
    return LLVMRealOEQ;
  case HL_LOOP_NE:
    return LLVMRealUNE;
  case HL_LOOP_GE:
    return LLVMRealOGE;
  case HL_LOOP_GT:
    return LLVMRealOGT;
  case HL_LOOP_LE:
    return LLVMRealOLE;
  case HL_LOOP_LT:
    return LLVMRealOLT;
  default:
    return -1;
  }
}

static LLVMIntPredicate int_predicate(hl_loop_op op, bool is_signed)
{
  switch (op) {
  case HL_LOOP_EQ:
    return LLVMIntEQ;
  case HL_LOOP_NE:
    return LLVMIntNE;
  case HL_LOOP_GE:
    return is_signed ? LLVMIntSGE : LLVMIntUGE;
  case HL_LOOP_GT:
    return is_signed ? LLVMIntSGT : LLVMIntUGT;
  case HL_LOOP_LE:
    return is_signed ? LLVMIntSLE : LLVMIntULE;
  default:
    return is_signed ? LLVMIntSLT : LLVMIntULT;
  }
}

static LLVMValueRef emit_compare(hl_emitter *e, hl_loop_op op, hl_element_type type,
                                 const LLVMValueRef *args)
{
  if (is_float(type))
    return LLVMBuildFCmp(e->l.builder, (LLVMRealPredicate)(unsigned)float_predicate(op), args[0],
                         args[1], "");
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  return LLVMBuildICmp(e->l.builder, int_predicate(op, is_signed), args[0], args[1], "");
}

static LLVMValueRef emit_is_finite(hl_emitter *e, LLVMValueRef x)
{
  LLVMValueRef magnitude = hl_llvm_call1(&e->l, "llvm.fabs", x);
  LLVMTypeRef type = LLVMTypeOf(x);
  uint64_t infinity = hl_llvm_scalar_bits(type) == 64 ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
  return LLVMBuildFCmp(e->l.builder, LLVMRealOLT, magnitude, hl_llvm_bits(&e->l, type, infinity),
                       "");
}

static LLVMValueRef emit_by_class(hl_emitter *e, hl_loop_op op, hl_element_type type,
                                  const LLVMValueRef *args)
{
  if (type == HL_PRED)
    return hl_emit_pred_op(e, op, args);
  if (is_float(type))
    return hl_emit_float_op(e, op, args);
  return hl_emit_int_op(e, op, hl_type_class_of(type) == HL_CLASS_SIGNED, args);
}

LLVMValueRef hl_emit_combine(hl_emitter *e, hl_loop_op op, hl_element_type type, LLVMValueRef a,
                             LLVMValueRef b)
{
  return emit_by_class(e, op, type, (LLVMValueRef[]){a, b});
}

/* A condition that is one for all lanes stays a scalar: the select moves whole vectors. */
static LLVMValueRef emit_select(hl_emitter *e, const hl_node *node, int part, int lanes)
{
  int condition_lanes = hl_emit_lane_count(e, node->operands, 1);
  bool is_mixed = e->values[node->id].nan == HL_NAN_MOVED;
  LLVMValueRef condition = hl_emit_raw(e, node->operands[0], part, condition_lanes);
  LLVMValueRef arms[2];
  for (int i = 0; i < 2; i++)
    arms[i] = is_mixed ? hl_emit_clean(e, node->operands[i + 1], part, lanes)
                       : hl_emit_raw(e, node->operands[i + 1], part, lanes);
  return LLVMBuildSelect(e->l.builder, condition, arms[0], arms[1], "");
}

static LLVMValueRef emit_with_args(hl_emitter *e, const hl_node *node, int lanes,
                                   const LLVMValueRef *args)
{
  hl_element_type type = node->operands[0]->type;
  if (float_predicate(node->op) >= 0)
    return emit_compare(e, node->op, type, args);
  switch (node->op) {
  case HL_LOOP_MATH:
    return emit_math(e, node->math, type, lanes, args);
  case HL_LOOP_NEG:
  case HL_LOOP_ABS:
    return hl_is_float(type) ? emit_sign_bit(e, node->op, type, args[0])
                             : emit_by_class(e, node->op, type, args);
  case HL_LOOP_REM:
    return is_float(type) ? emit_math(e, HL_MATH_FMOD, type, lanes, args)
                          : emit_by_class(e, node->op, type, args);
  case HL_LOOP_ORDER:
    return emit_order(e, type, args[0]);
  case HL_LOOP_BITCAST:
    return emit_bitcast(e, node, lanes, args[0]);
  case HL_LOOP_CONVERT:
    return hl_emit_convert(e, type, node->type, args[0]);
  case HL_LOOP_PRECISION:
    return hl_emit_precision(e, type, node->precision.exponent_bits, node->precision.mantissa_bits,
                             args[0]);
  case HL_LOOP_IS_FINITE:
    return emit_is_finite(e, args[0]);
  default:
    return emit_by_class(e, node->op, type, args);
  }
}

/* Ops that show the bits of their operand. */
static bool shows_bits(hl_loop_op op)
{
  return op == HL_LOOP_NEG || op == HL_LOOP_ABS || op == HL_LOOP_ORDER || op == HL_LOOP_BITCAST;
}

/* Vectors of s64 whose operands and result fit 32 bits. */

static bool narrows(const hl_emitter *e, const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_ADD:
  case HL_LOOP_SUB:
  case HL_LOOP_MUL:
  case HL_LOOP_DIV:
  case HL_LOOP_REM:
  case HL_LOOP_MAX:
  case HL_LOOP_MIN:
  case HL_LOOP_NEG:
    break;
  case HL_LOOP_CONVERT:
    return hl_emit_fits_i32(e, node->operands[0]) && hl_type_bits(node->type) >= 8;
  default:
    if (float_predicate(node->op) < 0)
      return false;
  }
  bool fits = node->type == HL_PRED || hl_emit_fits_i32(e, node);
  for (int i = 0; i < node->operand_count; i++)
    fits = fits && hl_emit_fits_i32(e, node->operands[i]);
  return fits;
}

static LLVMValueRef emit_narrow_part(hl_emitter *e, const hl_node *node, int part, int lanes)
{
  LLVMValueRef args[2];
  bool is_natural = true;
  for (int i = 0; i < node->operand_count; i++) {
    args[i] = hl_emit_narrow(e, node->operands[i], part, lanes);
    is_natural = is_natural && e->ranges[node->operands[i]->id].low >= 0;
  }
  if (node->op == HL_LOOP_CONVERT)
    return hl_emit_convert(e, HL_S32, node->type, args[0]);
  if (float_predicate(node->op) >= 0)
    return emit_compare(e, node->op, HL_S32, args);
  bool is_division = node->op == HL_LOOP_DIV || node->op == HL_LOOP_REM;
  return hl_emit_int_op(e, node->op, !(is_division && is_natural), args);
}

static LLVMValueRef emit_part(hl_emitter *e, const hl_node *node, int part, int lanes)
{
  LLVMValueRef args[3];
  if (lanes > 1 && narrows(e, node))
    return emit_narrow_part(e, node, part, lanes);
  if (node->op == HL_LOOP_SELECT)
    return emit_select(e, node, part, lanes);
  for (int i = 0; i < node->operand_count; i++)
    args[i] = shows_bits(node->op) ? hl_emit_clean(e, node->operands[i], part, lanes)
                                   : hl_emit_raw(e, node->operands[i], part, lanes);
  return emit_with_args(e, node, lanes, args);
}

static hl_nan nan_of_select(hl_nan a, hl_nan b)
{
  if (a == HL_NAN_MOVED || b == HL_NAN_MOVED)
    return HL_NAN_MOVED;
  return a == HL_NAN_DIRTY || b == HL_NAN_DIRTY ? HL_NAN_DIRTY : HL_NAN_NONE;
}

static hl_nan nan_of(hl_emitter *e, const hl_node *node)
{
  if (!hl_is_float(node->type))
    return HL_NAN_NONE;
  switch (node->op) {
  case HL_LOOP_SELECT:
    return nan_of_select(e->values[node->operands[1]->id].nan,
                         e->values[node->operands[2]->id].nan);
  case HL_LOOP_NEG:
  case HL_LOOP_ABS:
  case HL_LOOP_BITCAST:
    return HL_NAN_MOVED;
  case HL_LOOP_PRECISION:
    return HL_NAN_NONE;
  case HL_LOOP_CONVERT:
    return is_float(node->type) && hl_is_float(node->operands[0]->type) ? HL_NAN_DIRTY
                                                                        : HL_NAN_NONE;
  default:
    return HL_NAN_DIRTY;
  }
}

void hl_emit_op(hl_emitter *e, const hl_node *node)
{
  if (node->op == HL_LOOP_CONST) {
    emit_const(e, node);
    return;
  }
  hl_value value = {.part_count = hl_emit_part_count(e, node->operands, node->operand_count)};
  value.is_linear = hl_is_integral(node->type) && linear_step(e, node, &value.step);
  int lanes = value.is_linear ? 1 : hl_emit_lane_count(e, node->operands, node->operand_count);
  value.is_vector = lanes > 1;
  value.is_narrow = value.is_vector && node->type == HL_S64 && narrows(e, node);
  value.nan = nan_of(e, node);
  value.parts = HL_ARRAY(e->arena, value.part_count, LLVMValueRef);
  hl_value_set(e, node, value);
  for (int part = 0; part < value.part_count; part++)
    value.parts[part] = emit_part(e, node, part, lanes);
}
