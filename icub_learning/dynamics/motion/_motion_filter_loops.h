/* The loops of the motion filter over lanes, one for each joint and hypothesis (see _versions.h). */

/* Predict the lanes from..to after the time f.d: x <- F x, P <- F P F' + Q. */
TARGET static void NAME(predict)(double *restrict x, double *restrict p, const double *restrict density, Passage f,
                           ptrdiff_t from, ptrdiff_t to, ptrdiff_t lanes) {
    const double d = f.d, d2 = f.d2, c0 = f.to_q, c1 = f.to_v, c2 = f.to_a, c3 = f.stays;
    const double s2 = d * d, s4 = s2 * s2;
    const double q00 = s4 * s2 * d / 252.0, q01 = s4 * s2 / 72.0, q02 = s4 * d / 30.0, q03 = s4 / 24.0;
    const double q11 = s4 * d / 20.0, q12 = s4 / 8.0, q13 = s2 * d / 6.0, q22 = s2 * d / 3.0, q23 = d2, q33 = d;
#pragma omp simd
    for (ptrdiff_t l = from; l < to; l++) {
        const double x1 = x[lanes + l], x2 = x[2 * lanes + l], x3 = x[3 * lanes + l], s = density[l];
        x[l] += d * x1 + d2 * x2 + c0 * x3;
        x[lanes + l] = x1 + d * x2 + c1 * x3;
        x[2 * lanes + l] = x2 + c2 * x3;
        x[3 * lanes + l] = c3 * x3;
        const double p01 = p[P01 * lanes + l], p02 = p[P02 * lanes + l], p03 = p[P03 * lanes + l];
        const double p11 = p[P11 * lanes + l], p12 = p[P12 * lanes + l], p13 = p[P13 * lanes + l];
        const double p22 = p[P22 * lanes + l], p23 = p[P23 * lanes + l], p33 = p[P33 * lanes + l];
        const double m00 = p[l] + d * p01 + d2 * p02 + c0 * p03, m01 = p01 + d * p11 + d2 * p12 + c0 * p13;
        const double m02 = p02 + d * p12 + d2 * p22 + c0 * p23, m03 = p03 + d * p13 + d2 * p23 + c0 * p33;
        const double m11 = p11 + d * p12 + c1 * p13, m12 = p12 + d * p22 + c1 * p23, m13 = p13 + d * p23 + c1 * p33;
        const double m22 = p22 + c2 * p23, m23 = p23 + c2 * p33;
        p[l] = m00 + d * m01 + d2 * m02 + c0 * m03 + s * q00;
        p[P01 * lanes + l] = m01 + d * m02 + c1 * m03 + s * q01;
        p[P02 * lanes + l] = m02 + c2 * m03 + s * q02;
        p[P03 * lanes + l] = c3 * m03 + s * q03;
        p[P11 * lanes + l] = m11 + d * m12 + c1 * m13 + s * q11;
        p[P12 * lanes + l] = m12 + c2 * m13 + s * q12;
        p[P13 * lanes + l] = c3 * m13 + s * q13;
        p[P22 * lanes + l] = m22 + c2 * m23 + s * q22;
        p[P23 * lanes + l] = c3 * m23 + s * q23;
        p[P33 * lanes + l] = c3 * c3 * p33 + s * q33;
    }
}

/* Update the mean error of the predicted positions, in standard deviations; widen the covariance where it is no chance.
 *
 * The newest error has the weight `share` in the mean, whose variance is `usual` if errors are white.
 */
TARGET static void NAME(widen)(Filter *f, const double *restrict z, const double *restrict r, double share, ptrdiff_t n) {
    const ptrdiff_t lanes = f->lanes;
    double *restrict x = f->x, *restrict p = f->p, *restrict mean = f->mean, *restrict factor = f->gq;
    const double usual = share / (2.0 - share), least = f->surprise * f->surprise;
    double most = 1.0;
    for (ptrdiff_t l = 0; l < n; l++) {
        const double error = (z[l] - x[l]) / sqrt(p[l] + r[l]);
        const double bounded = error > f->surprise ? f->surprise : error < -f->surprise ? -f->surprise : error;
        const double now = mean[l] + share * (bounded - mean[l]), square = now * now / usual;
        const int surprising = square > least && r[l] < UNSEEN;
        factor[l] = surprising ? square / (CHANCE * CHANCE) : 1.0;
        mean[l] = surprising ? 0.0 : now;
        most = factor[l] > most ? factor[l] : most;
    }
    if (most == 1.0) return;
    for (int i = 0; i < PAIRS; i++)
        for (ptrdiff_t l = 0; l < n; l++) p[i * lanes + l] *= factor[l];
}

/* Update the lanes by positions `z` of variance `r`. */
TARGET static void NAME(take_position)(Filter *f, const double *restrict z, const double *restrict r, ptrdiff_t n) {
    const ptrdiff_t lanes = f->lanes;
    double *restrict x = f->x, *restrict p = f->p, *restrict gain = f->kq, *restrict weighted = f->gq;
#pragma omp simd
    for (ptrdiff_t l = 0; l < n; l++) {
        const double h0 = p[l], h1 = p[P01 * lanes + l], h2 = p[P02 * lanes + l], h3 = p[P03 * lanes + l];
        const double inverse = 1.0 / (h0 + r[l]), g = (z[l] - x[l]) * inverse, rest = r[l] * inverse;
        weighted[l] = g;
        correct(x + l, p + l, gain + l, h0, h1, h2, h3, g, inverse, lanes);
        p[l] = h0 * rest; /* positive in spite of rounding, since it is no difference */
        p[P01 * lanes + l] = h1 * rest;
        p[P02 * lanes + l] = h2 * rest;
        p[P03 * lanes + l] = h3 * rest;
    }
}

/* Update the lanes by velocities `z` of variance `r`, each `delay` older than the sample: v(t - d) = v - d a + d^2/2 j. */
TARGET static void NAME(take_velocity)(Filter *f, const double *restrict z, const double *restrict r, ptrdiff_t n) {
    const ptrdiff_t lanes = f->lanes;
    double *restrict x = f->x, *restrict p = f->p, *restrict gain = f->kv, *restrict weighted = f->gv;
    const double *restrict delay = f->delay;
#pragma omp simd
    for (ptrdiff_t l = 0; l < n; l++) {
        const double d = delay[l], d2 = d * d / 2.0;
        const double h0 = p[P01 * lanes + l] - d * p[P02 * lanes + l] + d2 * p[P03 * lanes + l];
        const double h1 = p[P11 * lanes + l] - d * p[P12 * lanes + l] + d2 * p[P13 * lanes + l];
        const double h2 = p[P12 * lanes + l] - d * p[P22 * lanes + l] + d2 * p[P23 * lanes + l];
        const double h3 = p[P13 * lanes + l] - d * p[P23 * lanes + l] + d2 * p[P33 * lanes + l];
        const double inverse = 1.0 / (h1 - d * h2 + d2 * h3 + r[l]);
        const double g = (z[l] - x[lanes + l] + d * x[2 * lanes + l] - d2 * x[3 * lanes + l]) * inverse;
        weighted[l] = g;
        correct(x + l, p + l, gain + l, h0, h1, h2, h3, g, inverse, lanes);
        p[l] -= h0 * (h0 * inverse);
        p[P01 * lanes + l] -= h0 * (h1 * inverse);
        p[P02 * lanes + l] -= h0 * (h2 * inverse);
        p[P03 * lanes + l] -= h0 * (h3 * inverse);
    }
}

/* One step of the adjoint recursion over a record's measurements and the time before it, for `width` lanes. */
TARGET static void NAME(step_back)(const Record *record, double *restrict a, ptrdiff_t width) {
    const double d = record->delay, d2 = d * d / 2.0;
    const Passage f = passage(record->step, record->leak);
    const double *restrict kq = record->x + KQ * width, *restrict gq = record->x + GQ * width;
    const double *restrict kv = record->x + KV * width, *restrict gv = record->x + GV * width;
#pragma omp simd
    for (ptrdiff_t l = 0; l < width; l++) {
        double a0 = a[l], a1 = a[width + l], a2 = a[2 * width + l], a3 = a[3 * width + l];
        const double v = gv[l] - kv[l] * a0 - kv[width + l] * a1 - kv[2 * width + l] * a2 - kv[3 * width + l] * a3;
        a1 += v;
        a2 -= d * v;
        a3 += d2 * v;
        a0 += gq[l] - kq[l] * a0 - kq[width + l] * a1 - kq[2 * width + l] * a2 - kq[3 * width + l] * a3;
        a[l] = a0;
        a[width + l] = a1 + f.d * a0;
        a[2 * width + l] = a2 + f.d * a1 + f.d2 * a0;
        a[3 * width + l] = f.stays * a3 + f.to_a * a2 + f.to_v * a1 + f.to_q * a0;
    }
}

#include "_jump_bank_loops.h"
