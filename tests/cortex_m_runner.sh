#!/bin/sh
# cortex_m_runner.sh HLO_LITE FOLDER - writes FOLDER/run, which takes the place of HLO_LITE in `run FLAGS MODULE ARGUMENTS`: it makes
# a program for a Cortex-M4F and runs it on qemu's board mps2-an386, which reads and writes files by semihosting. Exit status 77 when
# arm-none-eabi-gcc, its newlib or qemu-system-arm are not there. Modules that do not fit the board (4 MB of code, 16 MB of memory) or
# whose types it has no functions for end with a message and status 1.
set -eu
command=$(realpath "$1")
work=$2
here=$(cd "$(dirname "$0")" && pwd)
for tool in arm-none-eabi-gcc qemu-system-arm; do
  command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
[ -f "$(arm-none-eabi-gcc -print-file-name=rdimon.specs)" ] || { echo 'no newlib'; exit 77; }
machine='-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16'
mkdir "$work/rt"

# What newlib lacks: a clock, aligned memory by POSIX's name, new names for files, and folders, which the PC makes.
cat >"$work/system.h" <<EOF
#include <time.h>
#define CLOCK_MONOTONIC 4
int clock_gettime(clockid_t clock, struct timespec *time);
EOF
cat >"$work/system.c" <<EOF
#include "system.h"
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
  (void)clock;
  *time = (struct timespec){0};
  return 0;
}
int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
/* Semihosting's SYS_RENAME. */
int rename(const char *from, const char *to)
{
  const uintptr_t words[4] = {(uintptr_t)from, strlen(from), (uintptr_t)to, strlen(to)};
  register uintptr_t call __asm__("r0") = 0x0f;
  register const uintptr_t *given __asm__("r1") = words;
  __asm__ volatile("bkpt 0xab" : "+r"(call) : "r"(given) : "memory");
  const int failed = call != 0; /* errno is a call, which has its own r0 */
  errno = failed ? EIO : errno;
  return -failed;
}
int mkdir(const char *path, mode_t mode)
{
  (void)path, (void)mode;
  errno = EEXIST;
  return -1;
}
EOF
# shellcheck disable=SC2086 # words are words
for file in "$here"/../runtime/io.c "$here"/../runtime/npy.c "$here"/../runtime/zip.c "$here"/../runtime/values.c \
  "$here"/../runtime/print.c "$here"/../runtime/arguments.c "$here"/../runtime/main_exe.c "$here"/../examples/cortex-m/startup.c \
  "$work/system.c"; do
  name=$(basename "$file" .c)
  arm-none-eabi-gcc $machine -std=gnu17 -O2 -ffp-contract=off -D_DEFAULT_SOURCE -Dmain=model_main -DHLO_RT_WEAK -include "$work/system.h" -I"$here/.." \
    -c "$file" -o "$work/rt/$name.o"
done
# Data, heap and stack in the board's larger memory.
sed '/data (rwx)/s/:.*/: ORIGIN = 0x21000000, LENGTH = 16M/' "$here/../examples/cortex-m/mps2.ld" >"$work/board.ld"
cat >"$work/cc" <<EOF
#!/bin/sh
for word; do
  shift
  case \$word in
    */main.o) set -- "\$@" "$work"/rt/*.o ;;
    -pthread) ;;
    *) set -- "\$@" "\$word" ;;
  esac
done
exec arm-none-eabi-gcc $machine -Wl,-z,noexecstack --specs=rdimon.specs -T "$work/board.ld" "\$HLO_COMMAND_LINE" "\$@"
EOF

cat >"$work/run" <<EOF
#!/bin/sh
set -e
shift
# The evaluator is here.
for word; do
  shift
  [ "\$word" = --check ] || set -- "\$@" "\$word"
done
flags=
while case \$1 in -*) true ;; *) false ;; esac; do
  flags="\$flags \$1"
  shift
done
module=\$1
shift
for word; do
  case \$word in */) mkdir -p "\$word" ;; esac
done
folder=\$(mktemp -d "$work/XXXXXX")
trap 'rm -rf "\$folder"' EXIT
# The command line stands in the program: semihosting hands over 255 letters at most.
export HLO_COMMAND_LINE="\$folder/words.c"
{
  echo 'int model_main(int count, char **words);'
  echo 'int main(void) { char *words[] = {"model"'
  [ \$# -eq 0 ] || printf ', "%s"' "\$@"
  echo '}; return model_main((int)(sizeof words / sizeof *words), words); }'
} >"\$HLO_COMMAND_LINE"
"$command" compile --emit=exe --target=thumbv7em-none-eabihf --cpu=cortex-m4 \$flags --cc="$work/cc" -o "\$folder/exe" "\$module"
qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -semihosting -kernel "\$folder/exe"
EOF
chmod +x "$work/cc" "$work/run"
