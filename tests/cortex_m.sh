#!/bin/sh
# cortex_m.sh HLO_LITE - examples/cortex-m on a Cortex-M4F under qemu prints what it prints on this machine, bits included.
# Exit status 77 when arm-none-eabi-gcc, its newlib or qemu-system-arm are not there.
set -eu
command=$1
source=$(cd "$(dirname "$0")/.." && pwd)
command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || { echo 'no arm-none-eabi-gcc or qemu-system-arm'; exit 77; }
[ -f "$(arm-none-eabi-gcc -print-file-name=rdimon.specs)" ] || { echo 'no newlib'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source"/examples/cortex-m/* .

for model in mlp_f32 mlp_int8; do
  "$command" compile $model.hlo --target=thumbv7em-none-eabihf --cpu=cortex-m4
  arm-none-eabi-size -A $model.o | awk -v m=$model '
    /^\.text|^\.rodata/ { printf "%s: %d bytes of %s\n", m, $2, $1 }
    (/^\.data|^\.bss/) && $2 > 0 { print m ": writable data"; bad = 1 }
    END { exit bad }'
  sed -n 's/#define .*_WORKSPACE_BYTES UINT64_C(\(.*\))/'$model': \1 bytes of workspace/p' $model.h
  [ -z "$(arm-none-eabi-nm -u $model.o)" ] || { echo "$model.o asks for something"; exit 1; }
done
arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=rdimon.specs -T mps2.ld \
  startup.c digits.c mlp_f32.o mlp_int8.o -o digits.elf 2>link.log || { cat link.log; exit 1; }
timeout 60 qemu-system-arm -M mps2-an386 -nographic -semihosting -kernel digits.elf >said.txt
diff "$source/examples/expected/digits.txt" said.txt
arm-none-eabi-size mlp_f32.o mlp_int8.o digits.elf
