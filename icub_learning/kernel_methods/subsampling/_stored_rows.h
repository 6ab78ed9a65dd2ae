/* total += K^T (K x), a group of rows at a time: each is read from memory once for both products. ROWS names the function, NUMBER
 * is the type in which a group is summed, VALUE(row) an entry of K as an integer, and `unit` the scale of the whole product.
 */
TARGET static void NAME(ROWS)(double *restrict total, const NUMBER *restrict x, const uint16_t *restrict high,
                              const int8_t *restrict low, ptrdiff_t rows, ptrdiff_t columns, NUMBER unit) {
    ptrdiff_t row = 0;
    for (; row + GROUP <= rows; row += GROUP, high += GROUP * columns, low += GROUP * columns) {
        NUMBER s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
        for (ptrdiff_t j = 0; j < columns; j++) {
            s0 += x[j] * VALUE(0);
            s1 += x[j] * VALUE(1);
            s2 += x[j] * VALUE(2);
            s3 += x[j] * VALUE(3);
            s4 += x[j] * VALUE(4);
            s5 += x[j] * VALUE(5);
            s6 += x[j] * VALUE(6);
            s7 += x[j] * VALUE(7);
        }
        s0 *= unit, s1 *= unit, s2 *= unit, s3 *= unit, s4 *= unit, s5 *= unit, s6 *= unit, s7 *= unit;
        for (ptrdiff_t from = 0; from < columns; from += STRETCH) {
            const ptrdiff_t to = from + STRETCH < columns ? from + STRETCH : columns;
            for (int next = GROUP; next < 2 * GROUP; next++) { /* prefetching beyond the end is harmless: nothing is read */
                __builtin_prefetch(high + next * columns + from);
                __builtin_prefetch(high + next * columns + from + 32);
                if (sizeof(NUMBER) == 8) __builtin_prefetch(low + next * columns + from);
            }
#pragma omp simd
            for (ptrdiff_t j = from; j < to; j++)
                total[j] += (double)(((s0 * VALUE(0) + s1 * VALUE(1)) + (s2 * VALUE(2) + s3 * VALUE(3))) +
                                     ((s4 * VALUE(4) + s5 * VALUE(5)) + (s6 * VALUE(6) + s7 * VALUE(7))));
        }
    }
    for (; row < rows; row++, high += columns, low += columns) {
        NUMBER sum = 0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < columns; j++) sum += x[j] * VALUE(0);
        sum *= unit;
        for (ptrdiff_t j = 0; j < columns; j++) total[j] += (double)(sum * VALUE(0));
    }
}
