/* The two passes over the triangle, written once and compiled for each instruction set (see _kernel.c).
 *
 * Before inclusion: LANES (doubles in a vector), SUFFIX (appended to the names), TARGET (function attribute).
 * The factor R is row-major, `size` x `size` with `size` a multiple of BLOCK; rows beyond the last feature are rows of
 * the identity and the matching columns of the data are zero, so that no loop needs a tail.
 */

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define VEC JOIN(vec, SUFFIX)
typedef double VEC __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Pass 1, top to bottom: Givens rotations that turn [sqrt(forgetting) R; X] into [R'; 0], rank `rank` at once.
 *
 * x        (rank, size)  the new rows; destroyed.
 * gain     (rank, size)  out: R'^-T x^T, the same rotations applied to [0; I].
 * R is read and written exactly once. Within a block of rows the rotations come from a forward substitution
 * (p = R^-T x with t = 1 + sum p^2), whose chain of dependent operations has no square root and no division.
 */
TARGET static void JOIN(rotate, SUFFIX)(double *restrict R, double *restrict x, double *restrict gain, ptrdiff_t size,
                                        ptrdiff_t rank, double root_forgetting) {
    double t[MAX_RANK];                 /* 1 + |R^-T x|^2 over the rows done so far */
    double carry[MAX_RANK][MAX_RANK];   /* what the rotations left of the identity below */
    double cosine[MAX_RANK][BLOCK], sine[MAX_RANK][BLOCK];
    ptrdiff_t first = 0;
    for (ptrdiff_t l = 0; l < rank; l++) {
        t[l] = 1.0;
        for (ptrdiff_t m = 0; m < rank; m++) carry[l][m] = l == m ? 1.0 : 0.0;
    }
    for (ptrdiff_t i = first; i < size; i += BLOCK) {
        double *restrict block = R + i * size + i;
        double triangle[BLOCK][BLOCK], top[BLOCK][MAX_RANK];
        for (ptrdiff_t r = 0; r < BLOCK; r++) {
            for (ptrdiff_t c = r; c < BLOCK; c++) triangle[r][c] = root_forgetting * block[r * size + c];
            for (ptrdiff_t m = 0; m < rank; m++) top[r][m] = 0.0;
        }
        for (ptrdiff_t l = 0; l < rank; l++) {
            double *restrict xl = x + l * size + i;
            double rest[BLOCK], p[BLOCK], inverse[BLOCK], total[BLOCK + 1], root[BLOCK + 1];
            const double scale = sqrt(t[l]);
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                inverse[r] = 1.0 / triangle[r][r];
                rest[r] = xl[r] * scale;
            }
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                p[r] = rest[r] * inverse[r];
                for (ptrdiff_t c = r + 1; c < BLOCK; c++) rest[c] -= p[r] * triangle[r][c];
            }
            total[0] = t[l];
            for (ptrdiff_t r = 0; r < BLOCK; r++) total[r + 1] = total[r] + p[r] * p[r];
            for (ptrdiff_t r = 0; r <= BLOCK; r++) root[r] = sqrt(total[r]);
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                cosine[l][r] = root[r] / root[r + 1];
                sine[l][r] = p[r] / root[r + 1];
            }
            t[l] = total[BLOCK];
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                const double c = cosine[l][r], s = sine[l][r];
                triangle[r][r] = triangle[r][r] / c;
                for (ptrdiff_t j = r + 1; j < BLOCK; j++) {
                    const double old = triangle[r][j];
                    triangle[r][j] = c * old + s * xl[j];
                    xl[j] = c * xl[j] - s * old;
                }
                for (ptrdiff_t m = 0; m <= l; m++) {
                    const double old = top[r][m];
                    top[r][m] = c * old + s * carry[l][m];
                    carry[l][m] = c * carry[l][m] - s * old;
                }
            }
        }
        for (ptrdiff_t r = 0; r < BLOCK; r++) {
            for (ptrdiff_t c = r; c < BLOCK; c++) block[r * size + c] = triangle[r][c];
            for (ptrdiff_t m = 0; m < rank; m++) gain[m * size + i + r] = top[r][m];
        }
        for (ptrdiff_t j = BLOCK; j < size - i; j += LANES) {
            VEC row[BLOCK];
            for (ptrdiff_t r = 0; r < BLOCK; r++) row[r] = root_forgetting * *(VEC *)(block + r * size + j);
            for (ptrdiff_t l = 0; l < rank; l++) {
                VEC *at = (VEC *)(x + l * size + i + j);
                VEC rest = *at;
                for (ptrdiff_t r = 0; r < BLOCK; r++) {
                    const VEC old = row[r];
                    row[r] = cosine[l][r] * old + sine[l][r] * rest;
                    rest = cosine[l][r] * rest - sine[l][r] * old;
                }
                *at = rest;
            }
            for (ptrdiff_t r = 0; r < BLOCK; r++) *(VEC *)(block + r * size + j) = row[r];
        }
    }
}

/* Pass 2, bottom to top: solve R g = p in place for the `rank` rows of `gain`. R is read once. */
TARGET static void JOIN(solve_back, SUFFIX)(const double *restrict R, double *restrict gain, ptrdiff_t size,
                                            ptrdiff_t rank) {
    for (ptrdiff_t i = size - BLOCK; i >= 0; i -= BLOCK) {
        const double *restrict block = R + i * size + i;
        for (ptrdiff_t l = 0; l < rank; l++) {
            double *restrict g = gain + l * size + i;
            VEC sum[BLOCK];
            for (ptrdiff_t r = 0; r < BLOCK; r++) sum[r] = (VEC){0.0};
            for (ptrdiff_t j = BLOCK; j < size - i; j += LANES) {
                const VEC known = *(const VEC *)(g + j);
                for (ptrdiff_t r = 0; r < BLOCK; r++) sum[r] += *(const VEC *)(block + r * size + j) * known;
            }
            double inverse[BLOCK], rest[BLOCK];
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                rest[r] = g[r];
                for (ptrdiff_t lane = 0; lane < LANES; lane++) rest[r] -= sum[r][lane];
                inverse[r] = 1.0 / block[r * size + r];
            }
            for (ptrdiff_t r = BLOCK - 1; r >= 0; r--) {
                g[r] = rest[r] * inverse[r];
                for (ptrdiff_t c = 0; c < r; c++) rest[c] -= block[c * size + r] * g[r];
            }
        }
    }
}

/* Solve R^T p = z in place, top to bottom, for the `rank` rows of `z`: what leverage needs. R is read once. */
TARGET static void JOIN(solve_forward, SUFFIX)(const double *restrict R, double *restrict z, ptrdiff_t size,
                                               ptrdiff_t rank) {
    for (ptrdiff_t i = 0; i < size; i += BLOCK) {
        const double *restrict block = R + i * size + i;
        for (ptrdiff_t l = 0; l < rank; l++) {
            double *restrict zl = z + l * size + i;
            for (ptrdiff_t r = 0; r < BLOCK; r++) {
                zl[r] /= block[r * size + r];
                for (ptrdiff_t c = r + 1; c < BLOCK; c++) zl[c] -= zl[r] * block[r * size + c];
            }
            for (ptrdiff_t j = BLOCK; j < size - i; j += LANES) {
                VEC rest = *(VEC *)(zl + j);
                for (ptrdiff_t r = 0; r < BLOCK; r++) rest -= zl[r] * *(const VEC *)(block + r * size + j);
                *(VEC *)(zl + j) = rest;
            }
        }
    }
}

/* Rows of predictions: out (rank, outputs) = z (rank, size) times weights^T, weights (outputs, size). */
TARGET static void JOIN(predict, SUFFIX)(const double *restrict weights, const double *restrict z, double *restrict out,
                                         ptrdiff_t size, ptrdiff_t outputs, ptrdiff_t rank) {
    for (ptrdiff_t l = 0; l < rank; l++)
        for (ptrdiff_t o = 0; o < outputs; o++) {
            const double *restrict w = weights + o * size;
            const double *restrict zl = z + l * size;
            VEC sum[UNROLL];
            for (ptrdiff_t u = 0; u < UNROLL; u++) sum[u] = (VEC){0.0};
            ptrdiff_t j = 0;
            for (; j + UNROLL * LANES <= size; j += UNROLL * LANES)
                for (ptrdiff_t u = 0; u < UNROLL; u++)
                    sum[u] += *(const VEC *)(w + j + u * LANES) * *(const VEC *)(zl + j + u * LANES);
            for (; j < size; j += LANES) sum[0] += *(const VEC *)(w + j) * *(const VEC *)(zl + j);
            for (ptrdiff_t u = 1; u < UNROLL; u++) sum[0] += sum[u];
            double total = 0.0;
            for (ptrdiff_t lane = 0; lane < LANES; lane++) total += sum[0][lane];
            out[l * outputs + o] = total;
        }
}

/* Gain form of the weights: weights (outputs, size) += innovation^T (outputs, rank) times gain (rank, size). */
TARGET static void JOIN(correct, SUFFIX)(double *restrict weights, const double *restrict gain,
                                         const double *restrict innovation, ptrdiff_t size, ptrdiff_t outputs,
                                         ptrdiff_t rank) {
    for (ptrdiff_t o = 0; o < outputs; o++)
        for (ptrdiff_t j = 0; j < size; j += LANES) {
            VEC w = *(VEC *)(weights + o * size + j);
            for (ptrdiff_t l = 0; l < rank; l++) w += innovation[l * outputs + o] * *(const VEC *)(gain + l * size + j);
            *(VEC *)(weights + o * size + j) = w;
        }
}

#undef VEC
#undef JOIN
#undef JOIN2
