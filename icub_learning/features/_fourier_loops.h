/* Cosines and sines of one row of phases, and the phases of one input (see _versions.h). */

/* Fill one row: out[0..half) = scale * cos, out[half..2 half) = scale * sin; returns 0 if a phase is not finite. */
TARGET static int NAME(fill_row)(double *restrict out, const double *restrict phase, ptrdiff_t half, double scale) {
    ptrdiff_t beyond = 0;
    for (ptrdiff_t i = 0; i < half; i++) beyond += !(fabs(phase[i]) <= LARGEST_PHASE);
    if (beyond) {
        int finite = 1;
        for (ptrdiff_t i = 0; i < half; i++) {
            finite &= !!isfinite(phase[i]);
            out[i] = scale * cos(phase[i]);
            out[half + i] = scale * sin(phase[i]);
        }
        return finite;
    }
    double *restrict sines = out + half;
    for (ptrdiff_t i = 0; i < half; i++) {
        const double n = rint(phase[i] * TWO_OVER_PI);
        const double r = ((phase[i] - n * PART_1) - n * PART_2) - n * PART_3;
        const double z = r * r, c = 1.0 - (0.5 * z - z * z * polynomial(COSINE, 6, z)), s = r + r * z * polynomial(SINE, 6, z);
        const double quarter = n - 4.0 * floor(0.25 * n); /* quarter of the circle, 0 to 3 */
        const double swapped_c = quarter == 0.0 || quarter == 2.0 ? c : s;
        const double swapped_s = quarter == 0.0 || quarter == 2.0 ? s : c;
        out[i] = quarter == 1.0 || quarter == 2.0 ? -scale * swapped_c : scale * swapped_c;
        sines[i] = quarter >= 2.0 ? -scale * swapped_s : scale * swapped_s;
    }
    return 1;
}

/* Fill the phases (half,) of one input x (n,), which is standardized into `standard` (n,). */
TARGET static void NAME(fill_phases)(double *restrict phase, double *restrict standard, const double *restrict x,
                               const double *restrict mean, const double *restrict scale,
                               const double *restrict frequencies, ptrdiff_t half, ptrdiff_t n) {
    for (ptrdiff_t k = 0; k < n; k++) standard[k] = (x[k] - mean[k]) / scale[k];
    for (ptrdiff_t i = 0; i < half; i++) phase[i] = dot(frequencies + i * n, standard, n);
}
