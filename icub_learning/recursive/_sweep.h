/* The passes over the triangle: loops that are compiled for each instruction set (see _versions.h).
 *
 * A = U^T D U with U unit upper triangular, `size` x `size`, `size` a multiple of BLOCK. One packed array holds both, with U
 * above the diagonal, the pivots D on it and zeros below: tiles of BLOCK x BLOCK numbers, each row-major, from the diagonal
 * tile to the right, one row of tiles after the other. So every pass runs through memory in one stream and touches only the
 * triangle. Rows beyond the last feature are rows of the identity, and the matching columns of the data are zero, so that no
 * loop needs a tail.
 */

typedef double VEC __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Coefficients of the rotations of one row of tiles, the same for every column in it. */
typedef struct {
    double p[MAX_RANK][BLOCK];    /* multiple of a row that is subtracted from the sample */
    double beta[MAX_RANK][BLOCK]; /* multiple of the sample that is added to a row */
    double keep[MAX_RANK][BLOCK]; /* factor of the row before that, where `steep` */
    int steep[MAX_RANK];          /* whether t grows more than fourfold within these rows */
    int any_steep;
} COEFFICIENTS;

/* Rotate the tiles from column `start` to `stop` (counted from the diagonal); each row and sample is read and written once. */
TARGET INLINE void NAME(rotate_tiles_as)(double *restrict tile, double *restrict x, const COEFFICIENTS *by, ptrdiff_t size,
                                  ptrdiff_t start, ptrdiff_t stop, ptrdiff_t rank, int any_steep) {
    for (ptrdiff_t j = start; j < stop; j += BLOCK)
        for (ptrdiff_t h = 0; h < BLOCK; h += LANES) {
            VEC row[BLOCK];
            for (ptrdiff_t r = 0; r < BLOCK; r++) row[r] = LOAD(tile + j * BLOCK + r * BLOCK + h);
            for (ptrdiff_t l = 0; l < rank; l++) {
                VEC rest = LOAD(x + l * size + j + h);
                if (any_steep && by->steep[l])
                    for (ptrdiff_t r = 0; r < BLOCK; r++) {
                        const VEC old = row[r];
                        row[r] = by->keep[l][r] * old + by->beta[l][r] * rest;
                        rest -= by->p[l][r] * old;
                    }
                else
                    for (ptrdiff_t r = 0; r < BLOCK; r++) {
                        rest -= by->p[l][r] * row[r];
                        row[r] += by->beta[l][r] * rest;
                    }
                AT(x + l * size + j + h) = rest;
            }
            for (ptrdiff_t r = 0; r < BLOCK; r++) AT(tile + j * BLOCK + r * BLOCK + h) = row[r];
        }
}

TARGET INLINE void NAME(rotate_tiles)(double *restrict tile, double *restrict x, const COEFFICIENTS *by, ptrdiff_t size,
                               ptrdiff_t start, ptrdiff_t stop, ptrdiff_t rank) {
    if (by->any_steep)
        NAME(rotate_tiles_as)(tile, x, by, size, start, stop, rank, 1);
    else
        NAME(rotate_tiles_as)(tile, x, by, size, start, stop, rank, 0);
}

/* Find the coefficients of one row of tiles, and apply them to its diagonal tile and to the right-hand sides. */
TARGET INLINE void NAME(rotate_diagonal)(double *restrict tile, const double *restrict x, double *restrict gain, double *restrict t,
                                  double (*restrict unit)[MAX_RANK], COEFFICIENTS *by, ptrdiff_t size, ptrdiff_t rank,
                                  double forgetting) {
    VEC above[BLOCK][PARTS], pivot[PARTS], solved[BLOCK][MAX_RANK / LANES];
    double diagonal[BLOCK];
    for (ptrdiff_t r = 0; r < BLOCK; r++) {
        diagonal[r] = forgetting * tile[r * BLOCK + r];
        for (ptrdiff_t k = 0; k < PARTS; k++)
            above[r][k] = LOAD(tile + r * BLOCK + k * LANES) * LOAD(RIGHT_OF(r) + k * LANES);
        for (ptrdiff_t k = 0; k < MAX_RANK / LANES; k++) solved[r][k] = (VEC){0.0};
    }
    for (ptrdiff_t k = 0; k < PARTS; k++) pivot[k] = LOAD(diagonal + k * LANES);
    by->any_steep = 0;
    for (ptrdiff_t l = 0; l < rank; l++) {
        VEC rest[BLOCK + 1][PARTS], before[PARTS], after[PARTS], inverse[PARTS], beta[PARTS], keep[PARTS];
        for (ptrdiff_t k = 0; k < PARTS; k++) {
            rest[0][k] = LOAD(x + l * size + k * LANES);
            inverse[k] = 1.0 / pivot[k];
            before[k] = after[k] = (VEC){0.0} + t[l];
        }
        for (ptrdiff_t r = 0; r < BLOCK; r++) {
            const double p = LANE(rest[r], r), growth = p * p * LANE(inverse, r);
            for (ptrdiff_t k = 0; k < PARTS; k++) {
                rest[r + 1][k] = rest[r][k] - p * above[r][k];
                before[k] += growth * LOAD(RIGHT_OF(r) + k * LANES);
                after[k] += growth * LOAD(FROM(r) + k * LANES);
            }
        }
        const double last = LANE(after, BLOCK - 1);
        const int steep = last > 4.0 * t[l];
        t[l] = last;
        by->steep[l] = steep;
        by->any_steep |= steep;
        for (ptrdiff_t k = 0; k < PARTS; k++) {
            const VEC p = rest[BLOCK][k];
            beta[k] = p * inverse[k] / after[k];
            pivot[k] += p * p / before[k];
            AT(by->p[l] + k * LANES) = p;
            AT(by->beta[l] + k * LANES) = beta[k];
            if (steep) AT(by->keep[l] + k * LANES) = keep[k] = before[k] / after[k];
        }
        for (ptrdiff_t r = 0; r < BLOCK; r++) {
            const double b = LANE(beta, r), kept = steep ? LANE(keep, r) : 1.0;
            for (ptrdiff_t k = 0; k < PARTS; k++)
                above[r][k] = kept * above[r][k] +
                              b * LOAD(RIGHT_OF(r) + k * LANES) * (steep ? rest[r][k] : rest[r + 1][k]);
        }
        if (rank == 1) { /* result of the recurrence below */
            for (ptrdiff_t k = 0; k < PARTS; k++) AT(gain + k * LANES) = beta[k];
            continue;
        }
        for (ptrdiff_t k = 0; k < MAX_RANK / LANES; k++) {
            VEC carried = LOAD(unit[l] + k * LANES);
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                const double p = LANE(rest[BLOCK], r), b = LANE(beta, r);
                const VEC old = solved[r][k], next = carried - p * old;
                solved[r][k] = steep ? LANE(keep, r) * old + b * carried : old + b * next;
                carried = next;
            }
            AT(unit[l] + k * LANES) = carried;
        }
    }
    if (rank > 1)
        for (ptrdiff_t m = 0; m < rank; m++)
            for (ptrdiff_t r = 0; r < BLOCK; r++) gain[m * size + r] = LANE(solved[r], m);
    for (ptrdiff_t k = 0; k < PARTS; k++) AT(diagonal + k * LANES) = pivot[k];
    for (ptrdiff_t r = 0; r < BLOCK; r++) {
        for (ptrdiff_t k = 0; k < PARTS; k++) AT(tile + r * BLOCK + k * LANES) = above[r][k];
        tile[r * BLOCK + r] = diagonal[r];
    }
}

/* Pass 1, top to bottom: A' = forgetting A + X^T X by Givens rotations without square roots.
 *
 * x        (rank, size)  the new rows; destroyed.
 * gain     (rank, size)  out: V^T with U' G = V, where G = A'^-1 X^T.
 * The recurrence of Gill, Golub, Murray and Saunders (1974, method C1): with t = 1 + x^T A^-1 x over the rows done so far,
 *     p = x_r,  t' = t + p^2 / d_r,  d_r' = d_r + p^2 / t,  beta = p / (d_r t'),  x -= p U_r,  U_r += beta x,
 * two fused operations an element. Where t' > 4 t the last step would cancel; it is then U_r = (t / t') U_r + beta x with
 * the x from before (Fletcher and Powell 1974), so that the whole is backward stable for any size of x. The right-hand
 * sides are unit columns appended to the samples and zero columns appended to U, carried through the same recurrence.
 */
TARGET INLINE void NAME(rotate_as)(double *restrict triangle, double *restrict x, double *restrict gain, ptrdiff_t size,
                            ptrdiff_t rank, double forgetting) {
    double t[MAX_RANK], unit[MAX_RANK][MAX_RANK];
    for (ptrdiff_t l = 0; l < rank; l++) {
        t[l] = 1.0;
        for (ptrdiff_t m = 0; m < MAX_RANK; m++) unit[l][m] = l == m;
    }
    COEFFICIENTS coefficients[2];
    int now = 0;
    double *tile = triangle;
    NAME(rotate_diagonal)(tile, x, gain, t, unit, &coefficients[now], size, rank, forgetting);
    for (ptrdiff_t i = 0; i < size - BLOCK; i += BLOCK, now = !now) {
        double *next = tile + (size - i) * BLOCK;
        /* The next diagonal tile needs one tile of this row only: its long chain of dependent steps then runs beside the
         * independent work on the others. */
        NAME(rotate_tiles)(tile, x + i, &coefficients[now], size, BLOCK, 2 * BLOCK, rank);
        NAME(rotate_diagonal)
        (next, x + i + BLOCK, gain + i + BLOCK, t, unit, &coefficients[!now], size, rank, forgetting);
        NAME(rotate_tiles)(tile, x + i, &coefficients[now], size, 2 * BLOCK, size - i, rank);
        tile = next;
    }
}

TARGET static void NAME(rotate)(double *restrict triangle, double *restrict x, double *restrict gain, ptrdiff_t size,
                                ptrdiff_t rank, double forgetting) {
    if (rank == 1)
        NAME(rotate_as)(triangle, x, gain, size, 1, forgetting);
    else
        NAME(rotate_as)(triangle, x, gain, size, rank, forgetting);
}

/* Returns the sum of the numbers in a vector, added pairwise. */
TARGET INLINE double NAME(total)(VEC values) {
    double numbers[LANES];
    AT(numbers) = values;
    for (ptrdiff_t half = LANES / 2; half; half /= 2)
        for (ptrdiff_t lane = 0; lane < half; lane++) numbers[lane] += numbers[lane + half];
    return numbers[0];
}

/* Pass 2, bottom to top: solve U g = v in place for the `rank` rows of `gain`. U is read once. */
TARGET INLINE void NAME(solve_back_as)(const double *restrict triangle, double *restrict gain, ptrdiff_t size, ptrdiff_t rank) {
    const double *tile = triangle + size * (size + BLOCK) / 2;
    for (ptrdiff_t i = size - BLOCK; i >= 0; i -= BLOCK) {
        tile -= (size - i) * BLOCK;
        double sums[MAX_RANK][BLOCK][LANES];
        memset(sums, 0, rank * sizeof *sums);
        for (ptrdiff_t start = BLOCK; start < size - i; start += STRIP) { /* a strip stays in the first-level cache */
            const ptrdiff_t stop = start + STRIP < size - i ? start + STRIP : size - i;
            for (ptrdiff_t l = 0; l < rank; l++) {
                VEC sum[BLOCK];
                for (ptrdiff_t r = 0; r < BLOCK; r++) sum[r] = LOAD(sums[l][r]);
                for (ptrdiff_t j = start; j < stop; j += BLOCK)
                    for (ptrdiff_t h = 0; h < BLOCK; h += LANES) {
                        const VEC known = LOAD(gain + l * size + i + j + h);
                        for (ptrdiff_t r = 0; r < BLOCK; r++) sum[r] += LOAD(tile + j * BLOCK + r * BLOCK + h) * known;
                    }
                for (ptrdiff_t r = 0; r < BLOCK; r++) AT(sums[l][r]) = sum[r];
            }
        }
        for (ptrdiff_t l = 0; l < rank; l++) {
            double *restrict g = gain + l * size + i;
            double rest[BLOCK];
            for (ptrdiff_t r = 0; r < BLOCK; r++) rest[r] = g[r] - NAME(total)(LOAD(sums[l][r]));
#pragma GCC unroll 8
            for (ptrdiff_t r = BLOCK - 1; r >= 0; r--) {
                g[r] = rest[r];
#pragma GCC unroll 8
                for (ptrdiff_t c = 0; c < r; c++) rest[c] -= tile[c * BLOCK + r] * rest[r];
            }
        }
    }
}

TARGET static void NAME(solve_back)(const double *restrict triangle, double *restrict gain, ptrdiff_t size,
                                    ptrdiff_t rank) {
    if (rank == 1)
        NAME(solve_back_as)(triangle, gain, size, 1);
    else
        NAME(solve_back_as)(triangle, gain, size, rank);
}

/* Solve U^T w = z in place for the `rank` rows of z; leverages[l] = z_l^T A^-1 z_l = sum w^2 / D. U is read once. */
TARGET static void NAME(leverage)(const double *restrict triangle, double *restrict z, double *restrict leverages,
                                  ptrdiff_t size, ptrdiff_t rank) {
    const double *tile = triangle;
    for (ptrdiff_t l = 0; l < rank; l++) leverages[l] = 0.0;
    for (ptrdiff_t i = 0; i < size; tile += (size - i) * BLOCK, i += BLOCK) {
        for (ptrdiff_t l = 0; l < rank; l++) {
            double *restrict w = z + l * size + i;
            for (ptrdiff_t r = 0; r < BLOCK; r++)
                for (ptrdiff_t c = r + 1; c < BLOCK; c++) w[c] -= w[r] * tile[r * BLOCK + c];
            for (ptrdiff_t r = 0; r < BLOCK; r++) leverages[l] += w[r] * w[r] / tile[r * BLOCK + r];
        }
        for (ptrdiff_t j = BLOCK; j < size - i; j += BLOCK)
            for (ptrdiff_t h = 0; h < BLOCK; h += LANES)
                for (ptrdiff_t l = 0; l < rank; l++) {
                    const double *w = z + l * size + i;
                    VEC rest = LOAD(w + j + h);
                    for (ptrdiff_t r = 0; r < BLOCK; r++) rest -= w[r] * LOAD(tile + j * BLOCK + r * BLOCK + h);
                    AT(z + l * size + i + j + h) = rest;
                }
    }
}

/* Predict the outputs of rows: out (rank, outputs) = z (rank, features) times weights^T, weights (outputs, size). */
TARGET static void NAME(predict)(const double *restrict weights, const double *restrict z, double *restrict out,
                                 ptrdiff_t size, ptrdiff_t features, ptrdiff_t outputs, ptrdiff_t rank) {
    const ptrdiff_t whole = features - features % BLOCK;
    for (ptrdiff_t l = 0; l < rank; l++) {
        const double *zl = z + l * features;
        for (ptrdiff_t o = 0; o < outputs; o++) {
            const double *w = weights + o * size;
            VEC sum[UNROLL];
            for (ptrdiff_t u = 0; u < UNROLL; u++) sum[u] = (VEC){0.0};
            ptrdiff_t j = 0;
            for (; j + UNROLL * LANES <= whole; j += UNROLL * LANES)
                for (ptrdiff_t u = 0; u < UNROLL; u++) sum[u] += LOAD(w + j + u * LANES) * LOAD(zl + j + u * LANES);
            for (; j < whole; j += LANES) sum[0] += LOAD(w + j) * LOAD(zl + j);
            double tail = 0.0;
            for (; j < features; j++) tail += w[j] * zl[j];
            for (ptrdiff_t u = 1; u < UNROLL; u++) sum[0] += sum[u];
            out[l * outputs + o] = NAME(total)(sum[0]) + tail;
        }
    }
}

/* to += factor from, n numbers. */
TARGET UNUSED void NAME(add)(double *restrict to, const double *restrict from, double factor, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) to[j] += factor * from[j];
}

/* to = factor_0 row_0 + factor_1 row_1 + ..., n numbers each. */
TARGET UNUSED void NAME(combine)(double *restrict to, const double *const *row, const double *factor, ptrdiff_t count, ptrdiff_t n) {
    ptrdiff_t j = 0;
    for (; j + UNROLL * LANES <= n; j += UNROLL * LANES) {
        VEC sum[UNROLL];
        for (ptrdiff_t u = 0; u < UNROLL; u++) sum[u] = (VEC){0.0};
        for (ptrdiff_t i = 0; i < count; i++)
            for (ptrdiff_t u = 0; u < UNROLL; u++) sum[u] += factor[i] * LOAD(row[i] + j + u * LANES);
        for (ptrdiff_t u = 0; u < UNROLL; u++) AT(to + j + u * LANES) = sum[u];
    }
    memset(to + j, 0, (n - j) * sizeof(double));
    for (ptrdiff_t i = 0; i < count; i++) NAME(add)(to + j, row[i] + j, factor[i], n - j);
}

/* Update the weights by gains: weights (outputs, size) += innovation^T (outputs, rank) times gain (rank, size). */
TARGET static void NAME(correct)(double *restrict weights, const double *restrict gain, const double *restrict innovation,
                                 ptrdiff_t size, ptrdiff_t outputs, ptrdiff_t rank) {
    for (ptrdiff_t o = 0; o < outputs; o++)
        for (ptrdiff_t j = 0; j < size; j += LANES) {
            VEC w = LOAD(weights + o * size + j);
            for (ptrdiff_t l = 0; l < rank; l++) w += innovation[l * outputs + o] * LOAD(gain + l * size + j);
            AT(weights + o * size + j) = w;
        }
}

/* Returns how many of `count` numbers exceed `limit` in magnitude or are NaN. */
TARGET UNUSED ptrdiff_t NAME(count_beyond)(const double *values, ptrdiff_t count, double limit) {
    ptrdiff_t beyond = 0;
    for (ptrdiff_t j = 0; j < count; j++) beyond += !(fabs(values[j]) <= limit);
    return beyond;
}
