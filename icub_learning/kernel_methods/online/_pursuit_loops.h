/* Adding and removing one point of the dictionary at a time (see _versions.h). */

/* Adds the function with kernel values `cross` (n numbers, then its own) to the dictionary, with weights `added`.
 * A function has `columns` weights; norms count the first `outputs` of them only, the others follow (here and below).
 *
 * With v = K^-1 k and the pivot s = k(x, x) - k^T v, T becomes [[T, -v / sqrt(s)], [0, 1 / sqrt(s)]]. v is refined once,
 * which keeps rounding from accumulating. Where s is within `tolerance` of zero, relative to k(x, x), the function is in
 * the span of the others already: its weights are passed on to them and the norm of what is lost is returned. Returns -1 if
 * it was added. *drift: largest relative residual found by the refinement. work: 4 capacity numbers.
 */
TARGET static double NAME(add_point)(double *gram, double *factor, double *weights, ptrdiff_t capacity, ptrdiff_t n,
                               ptrdiff_t columns, ptrdiff_t outputs, const double *cross, const double *added,
                               double *work, double tolerance, double *drift) {
    double *v = work, *residual = work + capacity, *correction = residual + capacity, *middle = correction + capacity;
    double largest = 0;
    const double own = cross[n];
    solve(v, middle, factor, cross, capacity, n);
    for (ptrdiff_t i = 0; i < n; i++) {
        residual[i] = cross[i] - dot(gram + i * capacity, v, n);
        if (!(fabs(residual[i]) <= largest)) largest = fabs(residual[i]); /* NaN counts as large */
    }
    if (!(largest <= *drift * own)) *drift = own > 0 ? largest / own : 0;
    solve(correction, middle, factor, residual, capacity, n);
    for (ptrdiff_t i = 0; i < n; i++) v[i] += correction[i];
    const double pivot = own - dot(cross, v, n);
    if (!(pivot > tolerance * own)) {
        for (ptrdiff_t i = 0; i < n; i++) add_multiple(weights + i * columns, v[i], added, columns);
        return pivot > 0 ? sqrt(pivot * dot(added, added, outputs)) : 0;
    }
    const double root = sqrt(pivot);
    for (ptrdiff_t i = 0; i < n; i++) {
        factor[i * capacity + n] = -v[i] / root;
        factor[n * capacity + i] = 0;
        gram[i * capacity + n] = gram[n * capacity + i] = cross[i];
    }
    factor[n * capacity + n] = 1 / root;
    gram[n * capacity + n] = own;
    memcpy(weights + n * columns, added, columns * sizeof(double));
    return -1;
}

/* Removes points while the squared norm of all that is lost stays within `budget` or more than `limit` points are left.
 *
 * With A = K_II^-1 the best weights after removing j are w_k - A_kj w_j / A_jj, and the loss grows by |w_j|^2 / A_jj. A
 * reflection that turns row j of T into (0, ..., 0, r), r^2 = A_jj, leaves A as it is; then T without row j and the last
 * column is a factor of A - A_j A_j^T / A_jj without row and column j. A removed point changes places with the last one, in
 * `gram` too, so that the others stay in front; `order` follows. Returns the number left; *lost is the squared norm.
 * work: 2 capacity numbers.
 */
TARGET static ptrdiff_t NAME(remove_points)(double *gram, double *factor, double *weights, double *order, ptrdiff_t capacity,
                                      ptrdiff_t n, ptrdiff_t columns, ptrdiff_t outputs, double budget, ptrdiff_t limit,
                                      double *work, double *lost) {
    const ptrdiff_t all = n;
    double *diagonal = work, *normal = work + capacity;
    *lost = 0;
    for (ptrdiff_t k = 0; k < n; k++) diagonal[k] = dot(factor + k * capacity, factor + k * capacity, n);
    while (n > 0) {
        ptrdiff_t best = 0;
        double least = INFINITY;
        for (ptrdiff_t j = 0; j < n; j++) {
            const double *w = weights + j * columns, cost = dot(w, w, outputs) / diagonal[j];
            if (cost < least) least = cost, best = j;
        }
        if (n <= limit && !(*lost + least <= budget)) break;
        *lost += least;
        n--;
        if (best != n) {
            swap(factor + best * capacity, factor + n * capacity, n + 1, 1);
            swap(gram + best * capacity, gram + n * capacity, all, 1);
            swap(gram + best, gram + n, all, capacity);
            swap(weights + best * columns, weights + n * columns, columns, 1);
            swap(order + best, order + n, 1, 1);
            swap(diagonal + best, diagonal + n, 1, 1);
        }
        const double length = sqrt(diagonal[n]), sign = factor[n * capacity + n] < 0 ? -1 : 1;
        const double *w = weights + n * columns;
        memcpy(normal, factor + n * capacity, (n + 1) * sizeof(double));
        normal[n] += sign * length;
        const double scale = 1 / (length * fabs(normal[n])); /* 2 / |normal|^2 */
        for (ptrdiff_t k = 0; k < n; k++) {
            double *row = factor + k * capacity;
            add_multiple(row, -scale * dot(normal, row, n + 1), normal, n + 1);
            diagonal[k] = dot(row, row, n);
            add_multiple(weights + k * columns, sign * row[n] / length, w, columns);
        }
    }
    return n;
}
