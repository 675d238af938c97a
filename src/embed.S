/* embed - files of the runtime that the command carries inside. */
        .section .rodata.hl_embed,"a",%progbits

        .macro embed name, file
        .globl \name
        .hidden \name
        .balign 16
\name:
        .incbin "\file"
        .globl \name\()_end
        .hidden \name\()_end
\name\()_end:
        .byte 0
        .endm

        embed hl_embed_pool, "rt_pool.o"
        embed hl_embed_libc, "libc_stub.so"
        embed hl_embed_exe, "rt_exe.o"
        embed hl_embed_graph, "src/share/graph.html"
        embed hl_embed_exe_header, "runtime/hlo_exe.h"

        .section .note.GNU-stack,"",%progbits
