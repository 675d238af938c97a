/* limits - every limit on input. What exceeds one is a diagnostic that names it, never a crash. */
#ifndef HL_LIMITS_H
#define HL_LIMITS_H

#define HL_LIMIT_RANK 64
#define HL_LIMIT_NESTING 256 /* braces, parentheses, tuple shapes, inline computations */
#define HL_LIMIT_NAME_BYTES 4096
#define HL_LIMIT_TEXT_BYTES 0x7fffffffu    /* 2 GiB of text */
#define HL_LIMIT_LITERAL_BYTES 0x7fffffffu /* 2 GiB of constants in one module */
#define HL_LIMIT_TUPLE_LEAVES (1 << 20)    /* arrays in one tuple shape, nested ones included */
#define HL_LIMIT_INSTRUCTIONS (1 << 24)

#endif
