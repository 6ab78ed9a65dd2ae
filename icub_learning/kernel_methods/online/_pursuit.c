/* Destructive matching pursuit on a kernel dictionary of n points: O(n^2 + n C) a removal.
 *
 * Kept are the Gram matrix K and a factor T of its inverse, K^-1 = T T^T, in the leading n x n blocks of arrays with
 * `capacity` columns. Points come by a new row and column of T and go by a reflection, so that the inverse stays positive
 * and loses half as many digits to an ill-conditioned K as its own update would. Sizes of a robot's dictionary are some
 * tens, where calls of a library would cost more than the arithmetic.
 */
#include "_buffers.h"
#include "_vectors.h"

#include <math.h>

/* out = T T^T k; `middle` holds T^T k afterwards. */
INLINE void solve(double *out, double *middle, const double *factor, const double *k, ptrdiff_t capacity, ptrdiff_t n) {
    memset(middle, 0, n * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) add_multiple(middle, k[i], factor + i * capacity, n);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = dot(factor + i * capacity, middle, n);
}

INLINE void swap(double *a, double *b, ptrdiff_t n, ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double kept = a[i * stride];
        a[i * stride] = b[i * stride];
        b[i * stride] = kept;
    }
}

#define LOOPS "_pursuit_loops.h"
#include "_versions.h"

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
    if (!take_all(objects, views, names, least, 7, 7)) return NULL;
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
        const double one = CHOSEN(add_point)(views[0].buf, views[1].buf, views[2].buf, capacity, size, columns, outputs,
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
    if (!take_all(objects, views, names, least, 5, 5)) return NULL;
    const ptrdiff_t left = CHOSEN(remove_points)(views[0].buf, views[1].buf, views[2].buf, views[3].buf, capacity, n, columns,
                                         outputs, budget, limit, views[4].buf, &lost);
    release_all(views, 5);
    return Py_BuildValue("nd", (Py_ssize_t)left, lost);
}

MODULE(_pursuit, "Compiled matching pursuit on a kernel dictionary.",
       {"extend", extend, METH_VARARGS, extend_doc},
       {"prune", prune, METH_VARARGS, prune_doc})
