/* digits.c - a classifier of handwritten-looking digits on a microcontroller, in f32 and in integers of 8 bits; the same
 * program on a PC prints the same bits.
 *
 * On a PC:
 *
 *   hlo-lite compile mlp_f32.hlo --threads=off
 *   hlo-lite compile mlp_int8.hlo --threads=off
 *   cc digits.c mlp_f32.o mlp_int8.o -o digits && ./digits
 *
 * For a Cortex-M4F, run by qemu (startup.c and mps2.ld are for its board; yours has its own):
 *
 *   hlo-lite compile mlp_f32.hlo  --target=thumbv7em-none-eabihf --cpu=cortex-m4
 *   hlo-lite compile mlp_int8.hlo --target=thumbv7em-none-eabihf --cpu=cortex-m4
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=rdimon.specs -T mps2.ld \
 *     startup.c digits.c mlp_f32.o mlp_int8.o -o digits.elf
 *   qemu-system-arm -M mps2-an386 -nographic -semihosting -kernel digits.elf
 *
 * The objects ask for nothing, no libc and no start-up: what links the C library here is printf.
 */
#include "digits.h"
#include "mlp_f32.h"
#include "mlp_int8.h"

#include <stdio.h>

enum { PICTURES = 10, PIXELS = 64, DIGITS = 10 };

static _Alignas(64) unsigned char workspace[MLP_F32_WORKSPACE_BYTES > MLP_INT8_WORKSPACE_BYTES ? MLP_F32_WORKSPACE_BYTES + 1
                                                                                               : MLP_INT8_WORKSPACE_BYTES + 1];
static uint32_t crc = UINT32_MAX;

/* CRC-32 of all result bytes. */
static void add(const void *data, size_t bytes)
{
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
}

static int32_t in_f32(const int8_t *picture)
{
  float image[PIXELS], probabilities[DIGITS];
  int32_t digit = -1;
  for (int i = 0; i < PIXELS; i++)
    image[i] = picture[i];
  mlp_f32_args args = {.image_1 = image};
  mlp_f32_results results = {.result0 = &digit, .result1 = probabilities};
  if (mlp_f32(&args, &results, workspace) == 0)
    add(probabilities, sizeof probabilities);
  return digit;
}

static int32_t in_int8(const int8_t *picture)
{
  int32_t digit = -1, scores[DIGITS];
  mlp_int8_args args = {.image_1 = picture};
  mlp_int8_results results = {.result0 = &digit, .result1 = scores};
  if (mlp_int8(&args, &results, workspace) == 0)
    add(scores, sizeof scores);
  return digit;
}

int main(void)
{
  int right_f32 = 0, right_int8 = 0;
  for (int i = 0; i < PICTURES; i++) {
    int32_t f32 = in_f32(digits[i]), int8 = in_int8(digits[i]);
    printf("%d: %d %d\n", (int)labels[i], (int)f32, (int)int8);
    right_f32 += f32 == labels[i];
    right_int8 += int8 == labels[i];
  }
  printf("%d and %d of %d are right; all results have CRC %08lx\n", right_f32, right_int8, PICTURES,
         (unsigned long)(crc ^ UINT32_MAX));
  return 0;
}
