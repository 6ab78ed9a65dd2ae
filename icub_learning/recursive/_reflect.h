/* Pass 1 for four rows or more and a small triangle: one Householder reflection for each column takes up all rows.
 *
 * With d a pivot, times `forgetting`, u its row of U, and p its column of the rows X (rank, size):
 *     d' = d + p.p,   u' = (d u + p^T X) / d',   X -= p m   with   m = (sqrt(d) u + sqrt(d') u') / (sqrt(d) + sqrt(d'))
 * is the reflection that takes (sqrt(d), p) to (sqrt(d'), 0), for a row of U that is kept divided by its pivot's root. Any
 * size of p will do (Higham 2002, theorem 19.4). Right-hand sides are columns of X above which U is zero.
 * A column takes one root and two divisions, two of which the next column waits for, while rotations take as many for each
 * row of X, one after the other; in return an element takes 2 rank + 4 operations instead of 2 rank. That pays where the
 * chain of dependent steps along the diagonal is longer than the work beside it: in a small triangle.
 */

/* Coefficients of a reflection, the same for every column: u' = fade u + inverse s, m = share (s + weight u) with s = p^T X. */
typedef struct {
    double p[MAX_RANK], fade, inverse, share, weight;
} REFLECTION;

TARGET INLINE VEC NAME(weighted_sum)(const double *p, const VEC *x, ptrdiff_t rank) {
    VEC even = p[0] * x[0], odd = p[1] * x[1];
    for (ptrdiff_t l = 2; l < rank; l += 2) {
        even += p[l] * x[l];
        odd += p[l + 1] * x[l + 1];
    }
    return even + odd;
}

/* Reflect LANES columns: return the new row of U for the `old` one, and update the samples x below it. */
TARGET INLINE VEC NAME(reflect_row)(VEC old, VEC *restrict x, const REFLECTION *by, ptrdiff_t rank) {
    const VEC sum = NAME(weighted_sum)(by->p, x, rank), mean = by->share * (sum + by->weight * old);
    for (ptrdiff_t l = 0; l < rank; l++) x[l] -= by->p[l] * mean;
    return by->fade * old + by->inverse * sum;
}

/* Reflect the tiles right of the diagonal, LANES columns at a time. */
TARGET INLINE void NAME(reflect_rest)(double *restrict row, double *restrict x, const REFLECTION *by, ptrdiff_t size,
                               ptrdiff_t stop, ptrdiff_t rank) {
    for (ptrdiff_t j = BLOCK; j < stop; j += BLOCK)
        for (ptrdiff_t h = 0; h < BLOCK; h += LANES) {
            VEC rest[MAX_RANK];
            for (ptrdiff_t l = 0; l < rank; l++) rest[l] = LOAD(x + l * size + j + h);
            AT(row + j * BLOCK + h) = NAME(reflect_row)(LOAD(row + j * BLOCK + h), rest, by, rank);
            for (ptrdiff_t l = 0; l < rank; l++) AT(x + l * size + j + h) = rest[l];
        }
}

/* Reflect the right-hand sides e (rank, MAX_RANK); write the row that they get beside U into a column of gain (width, size). */
TARGET INLINE void NAME(reflect_sides)(double (*restrict e)[MAX_RANK], double *restrict gain, const REFLECTION *by, ptrdiff_t size,
                                ptrdiff_t rank, ptrdiff_t width) {
    if (width == 1) { /* not worth a vector for each row */
        double sum = 0.0;
        for (ptrdiff_t l = 0; l < rank; l++) sum += by->p[l] * e[l][0];
        for (ptrdiff_t l = 0; l < rank; l++) e[l][0] -= by->p[l] * (by->share * sum);
        gain[0] = by->inverse * sum;
        return;
    }
    for (ptrdiff_t h = 0; h < width; h += LANES) {
        VEC rest[MAX_RANK];
        for (ptrdiff_t l = 0; l < rank; l++) rest[l] = LOAD(e[l] + h);
        const VEC row = NAME(reflect_row)((VEC){0.0}, rest, by, rank);
        for (ptrdiff_t m = h; m < width && m < h + LANES; m++) gain[m * size] = row[m - h];
        for (ptrdiff_t l = 0; l < rank; l++) AT(e[l] + h) = rest[l];
    }
}

/* Reflect a row of tiles, the rightmost of which ends `stop` columns right of the start of the diagonal tile. */
TARGET INLINE void NAME(reflect_row_of_tiles)(double *restrict tile, double *restrict x, double *restrict gain,
                                       double (*restrict e)[MAX_RANK], ptrdiff_t size, ptrdiff_t features, ptrdiff_t stop,
                                       ptrdiff_t rank, ptrdiff_t width, double forgetting) {
    VEC rest[PARTS][MAX_RANK];
    double pivot[BLOCK], root[BLOCK];
    for (ptrdiff_t r = 0; r < BLOCK; r++) pivot[r] = forgetting * tile[r * BLOCK + r];
    for (ptrdiff_t r = 0; r < BLOCK; r++) root[r] = sqrt(pivot[r]); /* a separate loop becomes one vector operation */
    for (ptrdiff_t k = 0; k < PARTS; k++)
        for (ptrdiff_t l = 0; l < rank; l++) rest[k][l] = LOAD(x + l * size + k * LANES);
#pragma GCC unroll 8
    for (ptrdiff_t r = 0; r < BLOCK; r++) {
        if (r >= features) { /* rows of the identity stay */
            for (ptrdiff_t m = 0; m < width; m++) gain[m * size + r] = 0.0;
            continue;
        }
        REFLECTION here;
        double even = pivot[r], odd = 0.0;
        for (ptrdiff_t l = 0; l < rank; l++) here.p[l] = rest[r / LANES][l][r % LANES];
        for (ptrdiff_t l = 0; l < rank; l += 2) {
            even += here.p[l] * here.p[l];
            odd += here.p[l + 1] * here.p[l + 1];
        }
        const double d = even + odd, to = sqrt(d), scale = 1.0 / (root[r] + to);
        here.inverse = 1.0 / d;
        here.share = to * here.inverse * scale;
        here.fade = pivot[r] * here.inverse;
        here.weight = pivot[r] + root[r] * to;
        for (ptrdiff_t k = 0; k < PARTS; k++) {
            double *row = tile + r * BLOCK + k * LANES;
            const VEC right = LOAD(RIGHT_OF(r) + k * LANES); /* masks pivots and rounding errors, which are no entries of U */
            AT(row) = right * NAME(reflect_row)(right * LOAD(row), rest[k], &here, rank);
        }
        tile[r * BLOCK + r] = d;
        NAME(reflect_rest)(tile + r * BLOCK, x, &here, size, stop, rank);
        NAME(reflect_sides)(e, gain + r, &here, size, rank, width);
    }
}

TARGET INLINE void NAME(reflect_as)(double *restrict triangle, double *restrict x, double *restrict gain,
                             double (*restrict e)[MAX_RANK], ptrdiff_t size, ptrdiff_t features, ptrdiff_t rank,
                             ptrdiff_t width, double forgetting) {
    for (ptrdiff_t i = 0; i < size; i += BLOCK) {
        NAME(reflect_row_of_tiles)(triangle, x + i, gain + i, e, size, features - i, size - i, rank, width, forgetting);
        triangle += (size - i) * BLOCK;
    }
}

/* A' = forgetting A + X^T X.
 *
 * x        (rank, size)  the new rows; destroyed. It has room for one more where rank is odd.
 * e        (rank, MAX_RANK)  right-hand sides, of which `width` count; destroyed.
 * gain     (width, size)  out: V^T with U' G = V, where G = A'^-1 X^T e.
 */
TARGET static void NAME(reflect)(double *restrict triangle, double *restrict x, double *restrict gain,
                                 double (*restrict e)[MAX_RANK], ptrdiff_t size, ptrdiff_t features, ptrdiff_t rank,
                                 ptrdiff_t width, double forgetting) {
    if (rank % 2) memset(x + rank * size, 0, size * sizeof(double)); /* a row of zeros changes nothing */
    if (rank <= 4)
        NAME(reflect_as)(triangle, x, gain, e, size, features, 4, width, forgetting);
    else if (rank <= 6)
        NAME(reflect_as)(triangle, x, gain, e, size, features, 6, width, forgetting);
    else
        NAME(reflect_as)(triangle, x, gain, e, size, features, 8, width, forgetting);
}
