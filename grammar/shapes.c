/* shapes - written shapes: dimensions, layouts and sizes. Equal texts make one shape, so a long
 * chain costs little memory. */
#include "parser.h"
#include "../ir/limits.h"

#include <inttypes.h>
#include <string.h>

static hl_cached_shape *cache_slot(hl_parser *p, hl_range range)
{
  uint32_t hash = 2166136261u;
  for (uint32_t i = range.begin; i < range.end; i++)
    hash = (hash ^ (unsigned char)p->text[i]) * 16777619u;
  return &p->cache[(hash ^ hash >> 16) % HL_SHAPE_CACHE];
}

static bool is_same_text(const hl_parser *p, hl_range a, hl_range b)
{
  uint32_t length = a.end - a.begin;
  return length == b.end - b.begin && !memcmp(p->text + a.begin, p->text + b.begin, length);
}

/* A shape as a value; the scanner reads a constant by the last one. */
static hl_value *shape_value(hl_parser *p, hl_range range, const hl_shape *shape)
{
  hl_value *value = hl_value_new(p, HL_V_SHAPE, range);
  value->shape = p->shape = shape;
  return value;
}

static bool read_dimension(hl_parser *p, const hl_value *dim, int64_t *out)
{
  if (dim->kind == HL_V_UNBOUNDED)
    return hl_error(p->diag, dim->range, HL_RULE_SHAPE_DIMENSION,
                    "unbounded dimensions are not supported");
  if (dim->is_negative && dim->magnitude)
    return hl_error(p->diag, dim->range, HL_RULE_SHAPE_DIMENSION,
                    "a dimension cannot be negative (-%" PRIu64 ")", dim->magnitude);
  if (dim->magnitude > INT64_MAX)
    return hl_error(p->diag, dim->range, HL_RULE_SHAPE_DIMENSION,
                    "dimension %" PRIu64 " does not fit in 63 bits", dim->magnitude);
  *out = (int64_t)dim->magnitude;
  return true;
}

static bool read_dimensions(hl_parser *p, const hl_value *dims, hl_shape *shape)
{
  int64_t *sizes = HL_ARRAY(p->arena, dims->count, int64_t);
  bool *is_dynamic = NULL;
  int i = 0;
  for (const hl_value *dim = dims->first; dim; dim = dim->next, i++) {
    if (i == HL_LIMIT_RANK) {
      hl_stop(p, dim->range, "a shape has more than %d dimensions", HL_LIMIT_RANK);
      return false;
    }
    if (!read_dimension(p, dim, &sizes[i]))
      return false;
    if (dim->is_bound && !is_dynamic)
      is_dynamic = HL_ARRAY(p->arena, dims->count, bool);
    if (dim->is_bound)
      is_dynamic[i] = true;
  }
  shape->rank = dims->count;
  shape->dimensions = dims->count ? sizes : NULL;
  shape->is_dynamic = is_dynamic;
  return true;
}

/* A part of what stands behind ':' in a layout: how it is written, what it asks for. */
typedef struct layout_part {
  const char *name;
  bool is_sparse; /* no layout of dense arrays */
} layout_part;

static const layout_part parts[] = {
    {"D", true},  {"T", false},  {"L", false}, {"#", true}, {"*", true},
    {"E", false}, {"SC", false}, {"S", false}, {"P", true}, {"M", false},
};

static const layout_part *find_part(const hl_parser *p, uint32_t at, uint32_t end)
{
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    size_t length = strlen(parts[i].name);
    if (length < end - at && !memcmp(p->text + at, parts[i].name, length) &&
        p->text[at + length] == '(')
      return &parts[i];
  }
  return NULL;
}

/* Behind the balanced parentheses that open at `at`; `at` if they do not close before `end`. */
static uint32_t skip_parentheses(const hl_parser *p, uint32_t at, uint32_t end)
{
  int depth = 0;
  for (uint32_t i = at; i < end; i++) {
    depth += (p->text[i] == '(') - (p->text[i] == ')');
    if (depth == 0)
      return i + 1;
  }
  return at;
}

/* T(8,128)(2,1)E(4)S(5) and the like: kept as text, because they never change a value. */
static bool check_suffix(hl_parser *p, hl_range suffix)
{
  uint32_t at = hl_skip_blanks(p, suffix.begin);
  if (at >= suffix.end)
    return hl_error(p->diag, suffix, HL_RULE_SHAPE_LAYOUT, "the layout says nothing behind ':'");
  while (at < suffix.end) {
    const layout_part *part = find_part(p, at, suffix.end);
    hl_range rest = {at, suffix.end};
    if (!part)
      return hl_error(p->diag, rest, HL_RULE_SHAPE_LAYOUT, "unknown part of a layout");
    if (part->is_sparse)
      return hl_error(p->diag, rest, HL_RULE_SHAPE_LAYOUT,
                      "sparse layouts are not supported: '%s(...)'", part->name);
    for (at += (uint32_t)strlen(part->name); at < suffix.end && p->text[at] == '(';) {
      uint32_t next = skip_parentheses(p, at, suffix.end);
      if (next == at)
        return hl_error(p->diag, (hl_range){at, at + 1}, HL_RULE_SHAPE_LAYOUT,
                        "this '(' is never closed");
      at = next;
    }
    at = hl_skip_blanks(p, at);
  }
  return true;
}

/* The written order, or NULL in *out for the default one, which is descending. */
static bool read_order(hl_parser *p, const hl_value *layout, hl_shape *shape)
{
  int rank = shape->rank;
  bool is_default = true, is_seen[HL_LIMIT_RANK] = {false};
  int64_t *order = HL_ARRAY(p->arena, rank, int64_t);
  if (layout->count != rank && (layout->count || layout->name_range.begin == HL_NO_OFFSET))
    return hl_error(p->diag, layout->range, HL_RULE_SHAPE_LAYOUT,
                    "the layout has %d entr%s, the shape has rank %d", layout->count,
                    layout->count == 1 ? "y" : "ies", rank);
  int i = 0;
  for (const hl_value *entry = layout->first; entry; entry = entry->next, i++) {
    if (entry->is_negative || entry->magnitude >= (uint64_t)rank)
      return hl_error(p->diag, entry->range, HL_RULE_SHAPE_LAYOUT,
                      "the layout names dimension %s%" PRIu64 " of rank %d",
                      entry->is_negative ? "-" : "", entry->magnitude, rank);
    order[i] = (int64_t)entry->magnitude;
    if (is_seen[order[i]])
      return hl_error(p->diag, entry->range, HL_RULE_SHAPE_LAYOUT,
                      "the layout names dimension %" PRId64 " twice", order[i]);
    is_seen[order[i]] = true;
    is_default = is_default && order[i] == rank - 1 - i;
  }
  shape->minor_to_major = is_default ? NULL : order;
  return true;
}

static bool read_layout(hl_parser *p, const hl_value *layout, hl_shape *shape)
{
  hl_range suffix = layout->name_range;
  bool has_suffix = suffix.begin != HL_NO_OFFSET;
  if (!read_order(p, layout, shape) || (has_suffix && !check_suffix(p, suffix)))
    return false;
  if (has_suffix)
    shape->layout_suffix = hl_range_text(p, suffix);
  return true;
}

static const hl_shape *make_array(hl_parser *p, hl_range range, hl_range type, const hl_value *dims,
                                  const hl_value *layout)
{
  hl_shape *shape = HL_NEW(p->arena, hl_shape);
  shape->element_type = hl_type_by_name(p->text + type.begin, type.end - type.begin);
  if (!read_dimensions(p, dims, shape))
    return p->bad_shape;
  if (!hl_shape_is_array(shape) && dims->count) {
    hl_error(p->diag, dims->range, HL_RULE_SHAPE_DIMENSION, "%s has no dimensions",
             hl_type_name(shape->element_type));
    return p->bad_shape;
  }
  if (!hl_shape_fits(shape->element_type, shape->rank, shape->dimensions)) {
    hl_error(p->diag, range, HL_RULE_SHAPE_SIZE,
             "the number of elements or bytes of this shape does not fit in 63 bits");
    return p->bad_shape;
  }
  return !layout || read_layout(p, layout, shape) ? shape : p->bad_shape;
}

hl_value *hl_build_array(hl_parser *p, hl_range range, hl_range type, const hl_value *dims,
                         const hl_value *layout)
{
  hl_cached_shape *slot = cache_slot(p, range);
  if (!slot->shape || !is_same_text(p, slot->text, range)) {
    const hl_shape *shape = make_array(p, range, type, dims, layout);
    if (shape == p->bad_shape)
      return shape_value(p, range, shape);
    *slot = (hl_cached_shape){range, shape};
  }
  return shape_value(p, range, slot->shape);
}

hl_value *hl_build_tuple(hl_parser *p, hl_range range, const hl_value *shapes)
{
  const hl_shape **elements = HL_ARRAY(p->arena, shapes->count, const hl_shape *);
  int i = 0;
  for (const hl_value *element = shapes->first; element; element = element->next) {
    if (element->shape == p->bad_shape)
      return shape_value(p, range, p->bad_shape);
    elements[i++] = element->shape;
  }
  return shape_value(p, range, hl_shape_tuple(p->arena, shapes->count, elements));
}
