/* The walks through the stretches of a packed tensor, from the last index inwards (see _versions.h). */

/* Returns the sum of entry(i_1..i_level) prod alpha_i / prod c! over the sorted indices up to `last`, where the `count`
 * indices before this level were all equal to `last`, and c counts equal indices (the factor 1 / c! is spread over the
 * levels: the c-th equal index brings 1 / c). Writes its gradient into row `level` of `gradients`, up to `last`; adds `factor`
 * times its second derivatives with i >= j to `hessian`, those with i = j halved.
 */
TARGET static double NAME(contract_level)(Walk *walk, int level, ptrdiff_t last, ptrdiff_t count, double factor) {
    const ptrdiff_t n = walk->n;
    const double *alpha = walk->vector;
    double *gradient = walk->gradients + (ptrdiff_t)level * n;
    double sum = 0;
    if (level == 1) {
        const double tie = 1.0 / (double)(count + 1), *entries = walk->entries;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t i = 0; i < last; i++) sum += entries[i] * alpha[i];
        sum += entries[last] * alpha[last] * tie;
        memcpy(gradient, entries, last * sizeof(double));
        gradient[last] = entries[last] * tie;
        walk->entries += last + 1;
        return sum;
    }
    memset(gradient, 0, (last + 1) * sizeof(double));
    for (ptrdiff_t i = 0; i <= last; i++) {
        const double weight = i == last ? 1.0 / (double)(count + 1) : 1.0, scale = alpha[i] * weight;
        const double below = NAME(contract_level)(walk, level - 1, i, i == last ? count + 1 : 1, factor * scale);
        const double *inner = gradient - n;
        for (ptrdiff_t j = 0; j <= i; j++) gradient[j] += scale * inner[j];
        gradient[i] += weight * below;
        if (walk->hessian) {
            double *row = walk->hessian + i * n;
            const double strength = factor * weight;
            for (ptrdiff_t j = 0; j <= i; j++) row[j] += strength * inner[j];
        }
        sum += scale * below;
    }
    return sum;
}

/* Writes sum_k products_k x_{i_1 k} ... x_{i_level k} for all sorted indices up to `last`. */
TARGET static void NAME(fill_level)(Fill *fill, int level, ptrdiff_t last) {
    const ptrdiff_t n = fill->n, d = fill->d;
    const double *products = fill->products + level * d;
    if (level == 1) {
        double *restrict out = fill->out;
        memset(out, 0, (last + 1) * sizeof(double));
        ptrdiff_t k = 0;
        for (; k + 4 <= d; k += 4) { /* four at once: a quarter of the stores */
            const double *restrict c = fill->columns + k * n, *p = products + k;
            const double p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];
            for (ptrdiff_t i = 0; i <= last; i++)
                out[i] += p0 * c[i] + p1 * c[i + n] + p2 * c[i + 2 * n] + p3 * c[i + 3 * n];
        }
        for (; k < d; k++) {
            const double *restrict column = fill->columns + k * n, factor = products[k];
            for (ptrdiff_t i = 0; i <= last; i++) out[i] += factor * column[i];
        }
        fill->out += last + 1;
        return;
    }
    double *restrict next = fill->products + (level - 1) * d;
    for (ptrdiff_t i = 0; i <= last; i++) {
        const double *sample = fill->samples + i * d;
        for (ptrdiff_t k = 0; k < d; k++) next[k] = products[k] * sample[k];
        NAME(fill_level)(fill, level - 1, i);
    }
}
