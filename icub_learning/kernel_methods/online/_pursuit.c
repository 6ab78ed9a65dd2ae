/* Destructive matching pursuit on a kernel dictionary of n points: O(n^2 + n C) a removal.
 *
 * Kept are the Gram matrix K and a factor T of its inverse, K^-1 = T T^T, in the leading n x n blocks of arrays with
 * `capacity` columns. Points come by a new row and column of T and go by a reflection, so that the inverse stays positive
 * and loses half as many digits to an ill-conditioned K as its own update would. Sizes of a robot's dictionary are some
 * tens, where calls of a library would cost more than the arithmetic.
 */
#include "_buffers.h"

#include <math.h>

INLINE double dot(const double *a, const double *b, ptrdiff_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

INLINE void add(double *restrict to, double factor, const double *restrict from, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] += factor * from[i];
}

/* out = T T^T k; `middle` holds T^T k afterwards. */
INLINE void solve(double *out, double *middle, const double *factor, const double *k, ptrdiff_t capacity, ptrdiff_t n) {
    memset(middle, 0, n * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) add(middle, k[i], factor + i * capacity, n);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = dot(factor + i * capacity, middle, n);
}

/* Adds the function with kernel values `cross` (n numbers, then its own) to the dictionary, with weights `added`.
 * Weights have `columns` numbers, and the first `outputs` of them decide; others only follow (here and below).
 *
 * With v = K^-1 k and the pivot s = k(x, x) - k^T v, T becomes [[T, -v / sqrt(s)], [0, 1 / sqrt(s)]]. v is refined once,
 * which keeps rounding from accumulating. Where s is within `tolerance` of zero, relative to k(x, x), the function is in
 * the span of the others already: its weights go to them and the norm of what is lost is returned. Returns -1 if it was
 * added. *drift: the relative residual that the refinement has seen. work: 4 capacity numbers.
 */
CLONES static double add_point(double *gram, double *factor, double *weights, ptrdiff_t capacity, ptrdiff_t n,
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
        for (ptrdiff_t i = 0; i < n; i++) add(weights + i * columns, v[i], added, columns);
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

INLINE void swap(double *a, double *b, ptrdiff_t n, ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double kept = a[i * stride];
        a[i * stride] = b[i * stride];
        b[i * stride] = kept;
    }
}

/* Removes points while the squared norm of all that is lost stays within `budget`, or more than `limit` are left.
 *
 * With A = K_II^-1 the best weights after removing j are w_k - A_kj w_j / A_jj, and the loss grows by |w_j|^2 / A_jj. A
 * reflection that turns row j of T into (0, ..., 0, r), r^2 = A_jj, leaves A as it is; then A without row and column j,
 * less A_j A_j^T / A_jj, is T without row j and the last column. A removed point changes places with the last one, in
 * `gram` too, so that what is left stays in front; `order` follows. Returns the number left; *lost is the squared norm.
 * work: 2 capacity numbers.
 */
CLONES static ptrdiff_t remove_points(double *gram, double *factor, double *weights, double *order, ptrdiff_t capacity,
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
            add(row, -scale * dot(normal, row, n + 1), normal, n + 1);
            diagonal[k] = dot(row, row, n);
            add(weights + k * columns, sign * row[n] / length, w, columns);
        }
    }
    return n;
}

static int check_sizes(Py_ssize_t capacity, Py_ssize_t n, Py_ssize_t columns, Py_ssize_t outputs) {
    if (n >= 0 && n <= capacity && capacity < (1 << 24) && outputs > 0 && outputs <= columns && columns < (1 << 24))
        return 1;
    PyErr_Format(PyExc_ValueError, "n %zd must be in 0..capacity %zd, outputs %zd in 1..columns %zd", n, capacity, outputs,
                 columns);
    return 0;
}

PyDoc_STRVAR(extend_doc,
             "extend(gram, factor, weights, cross, added, accepted, work, capacity, n, columns, outputs, count, tolerance)\n--\n\n"
             "Add `count` functions: cross (count, n + count) kernel values with those before and with each other, added\n"
             "(count, columns) their weights; accepted (count,) becomes 1 for those added, 0 for those in the span already.\n"
             "work: 5 capacity numbers. Returns (new n, norm of what was lost, drift: relative error found in the factor).");
static PyObject *extend(PyObject *self, PyObject *args) {
    PyObject *objects[7];
    Py_ssize_t capacity, n, columns, outputs, count;
    double tolerance;
    if (!PyArg_ParseTuple(args, "OOOOOOOnnnnnd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &capacity, &n, &columns, &outputs, &count, &tolerance) ||
        !check_sizes(capacity, n, columns, outputs) || !check_sizes(capacity, n + count, columns, outputs))
        return NULL;
    const char *names[] = {"gram", "factor", "weights", "cross", "added", "accepted", "work"};
    const ptrdiff_t least[] = {capacity * capacity, capacity * capacity, capacity * columns, count * (n + count),
                               count * columns, count, 5 * capacity};
    Py_buffer views[7];
    if (!take_all(objects, views, names, least, 7)) return NULL;
    double *accepted = views[5].buf, *work = views[6].buf, *row = work + 4 * capacity;
    double lost = 0, drift = 0;
    ptrdiff_t size = n;
    for (ptrdiff_t b = 0; b < count; b++) {
        const double *cross = (const double *)views[3].buf + b * (n + count);
        memcpy(row, cross, n * sizeof(double));
        ptrdiff_t place = n;
        for (ptrdiff_t before = 0; before < b; before++)
            if (accepted[before] > 0) row[place++] = cross[n + before];
        row[place] = cross[n + b];
        const double one = add_point(views[0].buf, views[1].buf, views[2].buf, capacity, size, columns, outputs,
                                     row, (const double *)views[4].buf + b * columns, work, tolerance, &drift);
        accepted[b] = one < 0;
        if (one < 0) size++;
        else lost += one;
    }
    release_all(views, 7);
    return Py_BuildValue("ndd", (Py_ssize_t)size, lost, drift);
}

PyDoc_STRVAR(prune_doc,
             "prune(gram, factor, weights, order, work, capacity, n, columns, outputs, budget, limit)\n--\n\n"
             "Remove the cheapest points while the squared norm of the change is at most `budget`, or more than `limit` are left;\n"
             "order (n,) follows the exchanges; work: 2 capacity numbers. Returns (number left, squared norm).");
static PyObject *prune(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t capacity, n, columns, outputs, limit;
    double budget, lost;
    if (!PyArg_ParseTuple(args, "OOOOOnnnndn", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &capacity, &n,
                          &columns, &outputs, &budget, &limit) || !check_sizes(capacity, n, columns, outputs))
        return NULL;
    const char *names[] = {"gram", "factor", "weights", "order", "work"};
    const ptrdiff_t least[] = {capacity * capacity, capacity * capacity, capacity * columns, n, 2 * capacity};
    Py_buffer views[5];
    if (!take_all(objects, views, names, least, 5)) return NULL;
    const ptrdiff_t left = remove_points(views[0].buf, views[1].buf, views[2].buf, views[3].buf, capacity, n, columns,
                                         outputs, budget, limit, views[4].buf, &lost);
    release_all(views, 5);
    return Py_BuildValue("nd", (Py_ssize_t)left, lost);
}

static PyMethodDef methods[] = {
    {"extend", extend, METH_VARARGS, extend_doc},
    {"prune", prune, METH_VARARGS, prune_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_pursuit", "Compiled matching pursuit on a kernel dictionary.",
                                    -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__pursuit(void) { return PyModule_Create(&module); }
