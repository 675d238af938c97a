/* embed - files of the runtime that the command carries inside (embed.S). */
#ifndef HL_EMBED_H
#define HL_EMBED_H

/* Relocatable objects: the pool with a weak hook; the pool, the array files and main() of
 * executables. */
extern const unsigned char hl_embed_pool[], hl_embed_pool_end[];
/* What the pool asks of libc, under its name and versions; not for running. */
extern const unsigned char hl_embed_libc[], hl_embed_libc_end[];
extern const unsigned char hl_embed_exe[], hl_embed_exe_end[];
/* The text of runtime/hlo_exe.h. */
extern const char hl_embed_exe_header[], hl_embed_exe_header_end[];

/* The page of `graph`, with {{TITLE}}, {{SVG}} and {{DATA}} for what goes there; a zero byte ends it. */
extern const char hl_embed_graph[], hl_embed_graph_end[];

#endif
