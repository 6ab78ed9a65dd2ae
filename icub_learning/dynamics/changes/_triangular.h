/* Cholesky roots of small matrices (n, n), stored by rows with only the upper triangle used, and solutions with them. */
#include "_vectors.h"

/* Replaces the upper triangle of a (n, n) by R with R' R = a; returns whether all pivots exceed 0.
 * Exact pivots are at least `least`: one below it is rounding, as is its row of a, which is replaced by that of diag(least). */
static int cholesky(double *a, ptrdiff_t n, double least) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = a + i * n + i;
        add_multiples(row, -1.0, a + i, n, a + i, n, i, n - i);
        const int is_rounding = *row < least;
        if (is_rounding) *row = least;
        if (!(*row > 0.0 && *row < INFINITY)) return 0;
        *row = sqrt(*row);
        const double inverse = is_rounding ? 0.0 : 1.0 / *row;
        for (ptrdiff_t k = 1; k < n - i; k++) row[k] *= inverse;
    }
    return 1;
}

/* Replaces x (n, count) by R'^-1 x. */
static void solve_transposed(const double *root, double *x, ptrdiff_t n, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = x + i * count;
        add_multiples(row, -1.0, root + i, n, x, count, i, count);
        const double inverse = 1.0 / root[i * n + i];
        for (ptrdiff_t k = 0; k < count; k++) row[k] *= inverse;
    }
}

/* Replaces x (n,) by R'^-1 x. */
static void solve_transposed_vector(const double *root, double *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        x[i] /= root[i * n + i];
        add_multiple(x + i + 1, -x[i], root + i * n + i + 1, n - i - 1);
    }
}

/* Replaces x (n,) by R^-1 x. */
static void solve_vector(const double *root, double *x, ptrdiff_t n) {
    for (ptrdiff_t i = n - 1; i >= 0; i--) x[i] = (x[i] - dot(root + i * n + i + 1, x + i + 1, n - i - 1)) / root[i * n + i];
}
