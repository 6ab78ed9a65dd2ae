/* What a pool of linear experts on shared features predicts, and their combination (see _versions.h). */
#include "_product_loops.h"

/* Errors (ages, experts, outputs), predicted minus measured; returns whether all are finite.
 *
 * weights (scales, ages, learners, outputs, features), rows (scales, features), measured (outputs,). Where `rigid`
 * (ages, outputs) is given, it is the first expert, and every second learner of a scale predicts what it leaves. */
TARGET static int NAME(judge)(double *restrict errors, const double *restrict weights, const double *restrict rows, const double *restrict rigid,
                              const double *restrict measured, ptrdiff_t ages, ptrdiff_t scales, ptrdiff_t learners, ptrdiff_t outputs,
                              ptrdiff_t features) {
    const ptrdiff_t first = rigid ? 1 : 0, experts = first + scales * learners;
    for (ptrdiff_t age = 0; age < ages; age++) {
        double *of_age = errors + age * experts * outputs;
        for (ptrdiff_t scale = 0; scale < scales; scale++)
            NAME(multiply_rows)(of_age + (first + scale * learners) * outputs,
                                weights + (scale * ages + age) * learners * outputs * features, rows + scale * features,
                                learners * outputs, features, features);
        for (ptrdiff_t expert = experts - 1; expert >= 0; expert--)
            for (ptrdiff_t j = 0; j < outputs; j++) {
                double predicted = expert < first ? 0.0 : of_age[expert * outputs + j];
                if (rigid && (expert < first || (expert - first) % learners % 2)) predicted += rigid[age * outputs + j];
                of_age[expert * outputs + j] = predicted - measured[j];
            }
    }
    double sum = 0.0; /* of differences that are zero, or not a number where an error is infinite */
    for (ptrdiff_t i = 0; i < ages * experts * outputs; i++) sum += errors[i] - errors[i];
    return sum == 0.0;
}

/* out (rows, outputs): errors (experts, outputs) of one age under each of `rows` tables of weights (experts, outputs). */
TARGET static void NAME(weigh)(double *restrict out, const double *restrict tables, const double *restrict errors, ptrdiff_t rows,
                               ptrdiff_t experts, ptrdiff_t outputs) {
    for (ptrdiff_t row = 0; row < rows; row++) {
        memset(out + row * outputs, 0, outputs * sizeof(double));
        for (ptrdiff_t i = 0; i < experts; i++)
            for (ptrdiff_t j = 0; j < outputs; j++)
                out[row * outputs + j] += tables[(row * experts + i) * outputs + j] * errors[i * outputs + j];
    }
}

/* out (outputs, 2, scales, half): for each scale the sum of the learners' weights (2, half), each times its share.
 *
 * shares (scales, learners, outputs); weights (scales, learners, outputs, stride), of which the first 2 half count. */
TARGET static void NAME(combine)(double *restrict out, const double *restrict shares, const double *restrict weights, ptrdiff_t scales,
                                 ptrdiff_t learners, ptrdiff_t outputs, ptrdiff_t half, ptrdiff_t stride) {
    for (ptrdiff_t scale = 0; scale < scales; scale++)
        for (ptrdiff_t j = 0; j < outputs; j++)
            for (ptrdiff_t part = 0; part < 2; part++) {
                double *restrict sum = out + ((j * 2 + part) * scales + scale) * half;
                memset(sum, 0, half * sizeof(double));
                for (ptrdiff_t i = 0; i < learners; i++) {
                    const ptrdiff_t at = (scale * learners + i) * outputs + j;
                    const double share = shares[at], *restrict own = weights + at * stride + part * half;
#pragma omp simd
                    for (ptrdiff_t k = 0; k < half; k++) sum[k] += share * own[k];
                }
            }
}
