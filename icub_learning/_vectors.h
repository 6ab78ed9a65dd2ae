/* Sums and products of vectors of some tens of numbers, for which calls of a library would cost more than the arithmetic. */
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
