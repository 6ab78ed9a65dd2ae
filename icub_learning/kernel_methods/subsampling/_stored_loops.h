/* Numbers in two parts, and products with them (see _versions.h). */

TARGET static void NAME(split)(uint16_t *restrict high, int8_t *restrict low, const double *restrict numbers, ptrdiff_t count) {
#pragma omp simd
    for (ptrdiff_t i = 0; i < count; i++) {
        const int32_t all = (int32_t)(numbers[i] * WHOLE + 0.5), top = (all + 128) >> 8;
        high[i] = (uint16_t)top;
        low[i] = (int8_t)(all - 256 * top);
    }
}

/* Replaces logarithms n ln 2 + r by their numbers 2^n exp(r), from 0 to 1, and splits these into their parts: a stretch at a
 * time, in successive loops that handle one type of numbers each.
 */
TARGET static void NAME(split_decay)(uint16_t *restrict high, int8_t *restrict low, double *restrict numbers, ptrdiff_t count) {
    double shifted[STRETCH];
    uint64_t bits[STRETCH];
    for (ptrdiff_t from = 0; from < count; from += STRETCH, numbers += STRETCH, high += STRETCH, low += STRETCH) {
        const ptrdiff_t size = count - from < STRETCH ? count - from : STRETCH;
        for (ptrdiff_t i = 0; i < size; i++) {
            const double given = numbers[i], some = given > LOWEST ? given : LOWEST;
            numbers[i] = some < 0.0 ? some : 0.0;
        }
        for (ptrdiff_t i = 0; i < size; i++) {
            const double x = numbers[i], whole = x * (1.0 / LN2) + ROUNDING, r = x - (whole - ROUNDING) * LN2;
            numbers[i] = polynomial(EXPONENTIAL, 10, r);
            shifted[i] = whole;
        }
        memcpy(bits, shifted, sizeof(bits));
        for (ptrdiff_t i = 0; i < size; i++) bits[i] = (bits[i] << 52) + 0x3ff0000000000000u; /* 2^n */
        memcpy(shifted, bits, sizeof(bits));
        for (ptrdiff_t i = 0; i < size; i++) numbers[i] *= shifted[i];
        NAME(split)(high, low, numbers, size);
    }
}

/* Writes the numbers of both parts into out, or of the high parts alone where low is NULL. */
TARGET static void NAME(join)(double *restrict out, const uint16_t *restrict high, const int8_t *restrict low, ptrdiff_t count) {
#pragma omp simd
    for (ptrdiff_t i = 0; i < count; i++) out[i] = (((int32_t)high[i] << 8) + (low ? (int32_t)low[i] : 0)) * (1.0 / WHOLE);
}

#define ROWS add_rows
#define NUMBER double
#define VALUE(row) (double)(((int32_t)high[(row) * columns + j] << 8) + (int32_t)low[(row) * columns + j])
#include "_stored_rows.h"
#undef ROWS
#undef NUMBER
#undef VALUE

/* The same product with the high parts alone, in single precision. */
#define ROWS add_high_rows
#define NUMBER float
#define VALUE(row) (float)(int32_t)high[(row) * columns + j]
#include "_stored_rows.h"
#undef ROWS
#undef NUMBER
#undef VALUE
