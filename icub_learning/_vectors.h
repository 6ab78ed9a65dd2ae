/* Sums and products of vectors of some tens of numbers, for which library calls would take longer than the arithmetic. */
#include <stddef.h>

INLINE double dot(const double *a, const double *b, ptrdiff_t n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* y += factor x */
INLINE void add_multiple(double *restrict y, double factor, const double *restrict x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* y += sign (a_0 x_0 + a_1 x_1 + ...), a_i = a[i step_a] and x_i = x + i step_x: three terms for each load and store of y. */
INLINE void add_multiples(double *y, double sign, const double *a, ptrdiff_t step_a, const double *x, ptrdiff_t step_x,
                          ptrdiff_t count, ptrdiff_t n) {
    for (; count >= 3; count -= 3, a += 3 * step_a, x += 3 * step_x) {
        const double a0 = sign * a[0], a1 = sign * a[step_a], a2 = sign * a[2 * step_a];
        const double *x1 = x + step_x, *x2 = x1 + step_x;
#pragma omp simd
        for (ptrdiff_t i = 0; i < n; i++) y[i] += a0 * x[i] + a1 * x1[i] + a2 * x2[i];
    }
    for (; count > 0; count--, a += step_a, x += step_x) add_multiple(y, sign * *a, x, n);
}

/* Returns the value at x of the polynomial with these coefficients, highest power first. */
INLINE double polynomial(const double *coefficients, int count, double x) {
    double sum = coefficients[0];
#pragma GCC unroll 16
    for (int i = 1; i < count; i++) sum = sum * x + coefficients[i];
    return sum;
}
