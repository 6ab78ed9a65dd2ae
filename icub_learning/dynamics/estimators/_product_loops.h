/* The matrix-vector product of `multiply` (see _versions.h). */

/* Rows of a matrix may lie `stride` numbers apart. */
TARGET static void NAME(multiply_rows)(double *restrict out, const double *restrict matrix, const double *restrict vector,
                            ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < rows; i++) {
        const double *restrict row = matrix + i * stride;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t k = 0; k < columns; k++) sum += row[k] * vector[k];
        out[i] = sum;
    }
}
