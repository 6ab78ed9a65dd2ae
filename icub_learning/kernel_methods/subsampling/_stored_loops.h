/* Numbers in two parts, and total += K^T (K vector) with them, a group of rows at a time (see _versions.h). */

TARGET static void NAME(split)(uint16_t *restrict high, int8_t *restrict low, const double *restrict numbers, ptrdiff_t count) {
#pragma omp simd
    for (ptrdiff_t i = 0; i < count; i++) {
        const int32_t all = (int32_t)(numbers[i] * WHOLE + 0.5), top = (all + 128) >> 8;
        high[i] = (uint16_t)top;
        low[i] = (int8_t)(all - 256 * top);
    }
}

/* Numbers from 0 to 1 given by their logarithms, which they replace: 2^n exp(r), r the rest of a multiple of ln 2, with the
 * polynomial that interpolates exp at the Chebyshev nodes of +-ln(2) / 2. A stretch at a time, between loops of one type.
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
            double p = 2.76326556922265892949e-06;
            p = p * r + 2.48844763547553618781e-05;
            p = p * r + 1.98411906161361883787e-04;
            p = p * r + 1.38888017147542359303e-03;
            p = p * r + 8.33333336733160096044e-03;
            p = p * r + 4.16666670407765116213e-02;
            p = p * r + 1.66666666666156093601e-01;
            p = p * r + 4.99999999994381383317e-01;
            p = p * r + 1.00000000000000133227e+00;
            p = p * r + 1.00000000000001354472e+00;
            numbers[i] = p;
            shifted[i] = whole;
        }
        memcpy(bits, shifted, sizeof(bits));
        for (ptrdiff_t i = 0; i < size; i++) bits[i] = (bits[i] << 52) + 0x3ff0000000000000u; /* 2^n */
        memcpy(shifted, bits, sizeof(bits));
        for (ptrdiff_t i = 0; i < size; i++) numbers[i] *= shifted[i];
        NAME(split)(high, low, numbers, size);
    }
}

TARGET static void NAME(join)(double *restrict out, const uint16_t *restrict high, const int8_t *restrict low, ptrdiff_t count) {
#pragma omp simd
    for (ptrdiff_t i = 0; i < count; i++) out[i] = (((int32_t)high[i] << 8) + (int32_t)low[i]) * (1.0 / WHOLE);
}

TARGET static void NAME(join_high)(double *restrict out, const uint16_t *restrict high, ptrdiff_t count) {
#pragma omp simd
    for (ptrdiff_t i = 0; i < count; i++) out[i] = (int32_t)high[i] * (256.0 / WHOLE);
}

#define WHOLE_NUMBER(row) (double)(((int32_t)high[(row) * columns + j] << 8) + (int32_t)low[(row) * columns + j])

TARGET static void NAME(add_rows)(double *restrict total, const double *restrict vector, const uint16_t *restrict high,
                                  const int8_t *restrict low, ptrdiff_t rows, ptrdiff_t columns) {
    const double unit = 1.0 / (WHOLE * WHOLE);
    ptrdiff_t row = 0;
    for (; row + GROUP <= rows; row += GROUP, high += GROUP * columns, low += GROUP * columns) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
        for (ptrdiff_t j = 0; j < columns; j++) {
            const double x = vector[j];
            s0 += x * WHOLE_NUMBER(0);
            s1 += x * WHOLE_NUMBER(1);
            s2 += x * WHOLE_NUMBER(2);
            s3 += x * WHOLE_NUMBER(3);
            s4 += x * WHOLE_NUMBER(4);
            s5 += x * WHOLE_NUMBER(5);
            s6 += x * WHOLE_NUMBER(6);
            s7 += x * WHOLE_NUMBER(7);
        }
        s0 *= unit, s1 *= unit, s2 *= unit, s3 *= unit, s4 *= unit, s5 *= unit, s6 *= unit, s7 *= unit;
        for (ptrdiff_t from = 0; from < columns; from += STRETCH) {
            const ptrdiff_t to = from + STRETCH < columns ? from + STRETCH : columns;
            for (int next = GROUP; next < 2 * GROUP; next++) { /* what lies beyond the end is not read, only asked for */
                __builtin_prefetch(high + next * columns + from);
                __builtin_prefetch(high + next * columns + from + 32);
                __builtin_prefetch(low + next * columns + from);
            }
#pragma omp simd
            for (ptrdiff_t j = from; j < to; j++)
                total[j] += ((s0 * WHOLE_NUMBER(0) + s1 * WHOLE_NUMBER(1)) + (s2 * WHOLE_NUMBER(2) + s3 * WHOLE_NUMBER(3))) +
                            ((s4 * WHOLE_NUMBER(4) + s5 * WHOLE_NUMBER(5)) + (s6 * WHOLE_NUMBER(6) + s7 * WHOLE_NUMBER(7)));
        }
    }
    for (; row < rows; row++, high += columns, low += columns) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < columns; j++) sum += vector[j] * WHOLE_NUMBER(0);
        sum *= unit;
        for (ptrdiff_t j = 0; j < columns; j++) total[j] += sum * WHOLE_NUMBER(0);
    }
}

#undef WHOLE_NUMBER
#define HIGH(row) (float)(int32_t)high[(row) * columns + j]

/* The same of the high parts alone; `work` holds the vector in single precision and divided by 65535. */
TARGET static void NAME(add_high_rows)(double *restrict total, const double *restrict vector, double *restrict work,
                                       const uint16_t *restrict high, ptrdiff_t rows, ptrdiff_t columns) {
    const float unit = (float)(256.0 / WHOLE);
    float *restrict single = (float *)work;
    for (ptrdiff_t j = 0; j < columns; j++) single[j] = (float)(vector[j] * (256.0 / WHOLE));
    ptrdiff_t row = 0;
    for (; row + GROUP <= rows; row += GROUP, high += GROUP * columns) {
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
        for (ptrdiff_t j = 0; j < columns; j++) {
            const float x = single[j];
            s0 += x * HIGH(0);
            s1 += x * HIGH(1);
            s2 += x * HIGH(2);
            s3 += x * HIGH(3);
            s4 += x * HIGH(4);
            s5 += x * HIGH(5);
            s6 += x * HIGH(6);
            s7 += x * HIGH(7);
        }
        s0 *= unit, s1 *= unit, s2 *= unit, s3 *= unit, s4 *= unit, s5 *= unit, s6 *= unit, s7 *= unit;
        for (ptrdiff_t from = 0; from < columns; from += STRETCH) {
            const ptrdiff_t to = from + STRETCH < columns ? from + STRETCH : columns;
            for (int next = GROUP; next < 2 * GROUP; next++) {
                __builtin_prefetch(high + next * columns + from);
                __builtin_prefetch(high + next * columns + from + 32);
            }
#pragma omp simd
            for (ptrdiff_t j = from; j < to; j++)
                total[j] += (double)(((s0 * HIGH(0) + s1 * HIGH(1)) + (s2 * HIGH(2) + s3 * HIGH(3))) +
                                     ((s4 * HIGH(4) + s5 * HIGH(5)) + (s6 * HIGH(6) + s7 * HIGH(7))));
        }
    }
    for (; row < rows; row++, high += columns) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < columns; j++) sum += single[j] * HIGH(0);
        sum *= unit;
        for (ptrdiff_t j = 0; j < columns; j++) total[j] += (double)(sum * HIGH(0));
    }
}

#undef HIGH
