/* The loops of the bank of jumps over joints, for one hypothesis each (see _versions.h). */

/* Predict the state of a hypothesis after the time `d` [s], then update it by positions `z` of variance `r`.
 *
 * Writes the errors of the predicted positions and their variances.
 */
TARGET static void NAME(follow_parabola)(double *restrict s, const double *restrict z, const double *restrict r,
                                         double *restrict error, double *restrict variance, double d, ptrdiff_t n) {
    const double d2 = d * d / 2.0;
#pragma omp simd
    for (ptrdiff_t l = 0; l < n; l++) {
        const double a = s[A * n + l], qa = s[QA * n + l], va = s[VA * n + l], aa = s[AA * n + l];
        const double v = s[V * n + l], qv = s[QV * n + l], vv = s[VV * n + l];
        const double q = s[l] + d * v + d2 * a;
        const double to_q = qa + d * va + d2 * aa, to_v = va + d * aa;
        const double nqv = qv + d * vv + d2 * va + d * to_q, nvv = vv + d * (va + to_v);
        const double nqq = s[QQ * n + l] + d * (qv + d * vv + d2 * va) + d * qv + d2 * qa + d2 * to_q;
        const double all = (nqq > 0.0 ? nqq : 0.0) + r[l], inverse = 1.0 / all, e = z[l] - q, rest = r[l] * inverse;
        const double kv = nqv * inverse, ka = to_q * inverse;
        const double left_v = nvv - kv * nqv, left_a = aa - ka * to_q;
        error[l] = e;
        variance[l] = all;
        s[l] = q + (1.0 - rest) * e;
        s[V * n + l] = v + d * a + kv * e;
        s[A * n + l] = a + ka * e;
        s[QQ * n + l] = nqq > 0.0 ? nqq * rest : 0.0;
        s[QV * n + l] = nqv * rest;
        s[QA * n + l] = to_q * rest;
        s[VV * n + l] = left_v > 0.0 ? left_v : 0.0; /* rounding must not make variances negative */
        s[VA * n + l] = to_v - kv * to_q;
        s[AA * n + l] = left_a > 0.0 ? left_a : 0.0;
    }
}

/* Add `share` of a hypothesis to the means of a mixture. */
TARGET static void NAME(mix_means)(double *restrict mixed, const double *restrict s, double share, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t l = 0; l < 3 * n; l++) mixed[l] += share * s[l];
}

/* Add `share` of a hypothesis to the covariances of positions and velocities of a mixture whose means are known. */
TARGET static void NAME(mix_spreads)(double *restrict mixed, const double *restrict s, double share, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t l = 0; l < n; l++) {
        const double q = s[l] - mixed[l], v = s[V * n + l] - mixed[V * n + l];
        mixed[QQ * n + l] += share * (s[QQ * n + l] + q * q);
        mixed[QV * n + l] += share * (s[QV * n + l] + q * v);
        mixed[VV * n + l] += share * (s[VV * n + l] + v * v);
    }
}
