/* The fixed-cost step of recursive regularized least squares: rank-k Cholesky update, gain, new weights.
 *
 * One step reads and writes the triangle once (rotations or reflections, top to bottom) and reads it once more (back
 * substitution). `plain` tells which samples need no conversion.
 */
#include "recursive/_learning.h"
#include <float.h>

/* Whether `size` is `features` rounded up to whole tiles, and no product of two sizes overflows. */
static int sizes_fit(Py_ssize_t size, Py_ssize_t features, Py_ssize_t outputs) {
    if (size > 0 && size <= LARGEST_SIZE && size == PADDED(features) && outputs > 0 && outputs <= LARGEST_SIZE) return 1;
    PyErr_Format(PyExc_ValueError, "size %zd must be a multiple of %d in 1..%d, features %zd less by 0..%d, outputs %zd in 1..%d",
                 size, BLOCK, LARGEST_SIZE, features, BLOCK - 1, outputs, LARGEST_SIZE);
    return 0;
}

/* Opens a C-contiguous float64 buffer of shape (width,) or (k, width), each number within +-limit; NULL, without an error, otherwise. */
static const Py_buffer *take_plain(Arguments *a, PyObject *object, ptrdiff_t width, double limit) {
    const Py_buffer *view = open_buffer(a->opened, object, 'd', 0);
    PyErr_Clear();
    if (view && (view->ndim == 1 || view->ndim == 2) && view->shape[view->ndim - 1] == width &&
        !CHOSEN(count_beyond)(view->buf, view->len / 8, limit))
        return view;
    return NULL;
}

/* Number of rows of a view whose rows are `width` numbers long. */
static ptrdiff_t count_rows(const Py_buffer *z, ptrdiff_t width) { return z->len / 8 / width; }

FUNCTION(plain, "@ w: %",
         "plain(values, width, limit)\n--\n\n"
         "Return whether values is C-contiguous float64 of shape (width,) or (k, width), each number within +-limit.") {
    return PyBool_FromLong(take_plain(a, a->object[0], SIZE('w'), a->number[0]) != NULL);
}

FUNCTION(update, "!0 !os !0 @ @ s: f: o: % %",
         "update(triangle, weights, work, z, y, size, features, outputs, forgetting, limit)\n--\n\n"
         "Learn the rows z (k, features), y (k, outputs) in place; the past is multiplied by `forgetting` once.\n"
         "Returns k, or None where z or y is not plain or their numbers of rows differ: nothing is learned then.\n"
         "triangle: size (size + BLOCK) / 2 numbers, see _sweep.h; weights (outputs, size); work: MAX_RANK (2 size + outputs) numbers.") {
    const ptrdiff_t size = SIZE('s'), features = SIZE('f'), outputs = SIZE('o');
    if (!sizes_fit(size, features, outputs) ||
        !fits(a->length[0] >= PACKED(size) && a->length[2] >= MAX_RANK * (2 * size + outputs), "triangle, work and size"))
        return NULL;
    const Py_buffer *z = take_plain(a, a->object[0], features, a->number[1]);
    const Py_buffer *y = z ? take_plain(a, a->object[1], outputs, a->number[1]) : NULL;
    if (!y || count_rows(z, features) != count_rows(y, outputs)) Py_RETURN_NONE;
    const ptrdiff_t count = count_rows(z, features);
    PyThreadState *thread = size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
    learn_all(a->array[0], a->array[1], a->array[2], z->buf, y->buf, size, features, outputs, count, a->number[0]);
    if (thread) PyEval_RestoreThread(thread);
    return PyLong_FromSsize_t(count);
}

FUNCTION(observe, "@ !k !=k !=k 0 =k =k Id %",
         "observe(learner, errors, leverages, estimates, rows, y, weights, order, root)\n--\n\n"
         "One sample, which counts root^2 times, of one target: rows (k, d), the columns of which are learned in `order` (d,), and y (k,),\n"
         "both times weights (k,). errors (k,) of y and leverages (k,) before any was learned; estimates (k,): what they tell of the variance\n"
         "of the noise. learner: RecursiveLeastSquares.ahead.") {
    const ptrdiff_t k = SIZE('k'), d = SIZE('d');
    const double *rows = a->array[3], *y = a->array[4], *weights = a->array[5], root = a->number[0];
    double *errors = a->array[0], *leverages = a->array[1], *estimates = a->array[2];
    const long long *order = a->array[6];
    LEARNER l;
    if (!take_ahead(a, a->object[0], &l, 1) ||
        !fits(d == l.features && are_below(order, d, d) && a->length[3] == k * d, "rows, y, weights and order"))
        return NULL;
    const ptrdiff_t count = k + l.due;
    double *z = scratch(a, count * (d + 1)), *goals = z + count * d;
    if (!z) return NULL;
    for (ptrdiff_t i = 0; i < k; i++) {
        const double weight = root * weights[i];
        for (ptrdiff_t j = 0; j < d; j++) z[i * d + j] = weight * rows[i * d + order[j]];
        goals[i] = weight * y[i];
    }
    refill(&l, z + k * d, goals + k);
    observe_all(l.triangle, l.weights, l.work, errors, leverages, z, goals, l.size, d, 1, k, count, l.forgetting);
    for (ptrdiff_t i = 0; i < k; i++) {
        errors[i] /= root * weights[i];
        leverages[i] /= root * root;
        estimates[i] = errors[i] * errors[i] / (1.0 + leverages[i]);
    }
    Py_RETURN_NONE;
}

FUNCTION(absorb, "!0 !os !0 !0 0 0 s: f: o: %",
         "absorb(triangle, weights, work, left, z, y, size, features, outputs, forgetting)\n--\n\n"
         "As update, for arrays of the right kind; left (k, outputs): recursive residuals of the rows z (k, features), y (k, outputs).\n"
         "At least min(k, MAX_RANK) outputs.") {
    const ptrdiff_t size = SIZE('s'), features = SIZE('f'), outputs = SIZE('o');
    if (!sizes_fit(size, features, outputs)) return NULL;
    const ptrdiff_t count = a->length[4] / features;
    if (!fits(a->length[0] >= PACKED(size) && a->length[2] >= MAX_RANK * (2 * size + outputs) && a->length[4] == count * features &&
                  a->length[3] == count * outputs && a->length[5] == count * outputs,
              "triangle, work, left, z and y"))
        return NULL;
    PyThreadState *thread = size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
    absorb_all(a->array[0], a->array[1], a->array[2], a->array[3], a->array[4], a->array[5], size, features, outputs, count, a->number[0]);
    if (thread) PyEval_RestoreThread(thread);
    Py_RETURN_NONE;
}

FUNCTION(rotate, "!0 !0 0 s: f:",
         "rotate(triangle, work, z, size, features)\n--\n\n"
         "Add z^T z to A for the rows of z (k, features), in place; work: 2 MAX_RANK size numbers.") {
    const ptrdiff_t size = SIZE('s'), features = SIZE('f');
    if (!sizes_fit(size, features, 1) ||
        !fits(a->length[0] >= PACKED(size) && a->length[1] >= 2 * MAX_RANK * size, "triangle, work and size"))
        return NULL;
    const double *z = a->array[2];
    double *rows = a->array[1], sides[MAX_RANK][MAX_RANK];
    const ptrdiff_t count = a->length[2] / features;
    for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
        const ptrdiff_t rank = rank_at(start, count);
        pad(rows, z + start * features, size, features, rank);
        if (reflects(size, rank))
            CHOSEN(reflect)(a->array[0], rows, NULL, sides, size, features, rank, 0, 1.0);
        else
            CHOSEN(rotate)(a->array[0], rows, rows + MAX_RANK * size, size, rank, 1.0);
    }
    Py_RETURN_NONE;
}

static PyObject *numpy_empty; /* numpy.empty */

/* A new array (outputs,), or (rows, outputs) where `rows` is not negative, and its numbers; NULL and an error otherwise. */
static PyObject *new_array(Arguments *a, Py_ssize_t rows, Py_ssize_t outputs, double **numbers) {
    PyObject *shape = rows < 0 ? Py_BuildValue("(n)", outputs) : Py_BuildValue("(nn)", rows, outputs);
    PyObject *array = shape ? PyObject_CallOneArg(numpy_empty, shape) : NULL;
    const Py_buffer *view = array ? open_buffer(a->opened, array, 'd', PyBUF_WRITABLE) : NULL;
    if (view) *numbers = view->buf;
    else Py_CLEAR(array);
    Py_XDECREF(shape);
    return array;
}

FUNCTION(predict, "os @ s: f: o:",
         "predict(weights, z, size, features, outputs)\n--\n\n"
         "Return z (k, features) weights^T, a new array (k, outputs), or (outputs,) for z (features,).\n"
         "None where z is not plain, or has more than MAX_RANK rows, for which BLAS is faster.") {
    if (!sizes_fit(SIZE('s'), SIZE('f'), SIZE('o'))) return NULL;
    const Py_buffer *z = take_plain(a, a->object[0], SIZE('f'), DBL_MAX);
    const ptrdiff_t count = z ? count_rows(z, SIZE('f')) : 0;
    if (!z || count > MAX_RANK) Py_RETURN_NONE;
    double *numbers;
    PyObject *out = new_array(a, z->ndim == 1 ? -1 : count, SIZE('o'), &numbers);
    if (out) CHOSEN(predict)(a->array[0], z->buf, numbers, SIZE('s'), SIZE('f'), SIZE('o'), count);
    return out;
}

FUNCTION(leverage, "0 @ s: f:",
         "leverage(triangle, z, size, features)\n--\n\n"
         "Return z_i^T A^-1 z_i for the rows of z (k, features), a new array (k,); a number for z (features,).\n"
         "None where z is not plain.") {
    const ptrdiff_t size = SIZE('s'), features = SIZE('f');
    if (!sizes_fit(size, features, 1) || !fits(a->length[0] >= PACKED(size), "triangle and size")) return NULL;
    const Py_buffer *z = take_plain(a, a->object[0], features, DBL_MAX);
    if (!z) Py_RETURN_NONE;
    const ptrdiff_t count = count_rows(z, features);
    double one, *found = &one, *work = scratch(a, rank_at(0, count) * size);
    PyObject *out = work && z->ndim == 2 ? new_array(a, -1, count, &found) : NULL;
    if (!work || (z->ndim == 2 && !out)) return NULL;
    leverage_all(a->array[0], work, found, z->buf, size, features, count);
    return out ? out : PyFloat_FromDouble(one);
}

FUNCTION(solve, "!0 !0 0 0 s: f:",
         "solve(out, leverages, triangle, z, size, features)\n--\n\n"
         "out (k, size) = A^-1 z_i, padded with zeros, and leverages (k,) = z_i^T A^-1 z_i, for the rows of z (k, features).") {
    const ptrdiff_t size = SIZE('s'), features = SIZE('f');
    if (!sizes_fit(size, features, 1)) return NULL;
    const ptrdiff_t count = a->length[3] / features;
    double *out = a->array[0], *leverages = a->array[1];
    if (!fits(a->length[0] >= count * size && a->length[1] >= count && a->length[2] >= PACKED(size), "out, leverages, triangle and z")) return NULL;
    pad(out, a->array[3], size, features, count);
    for (ptrdiff_t start = 0; start < count; start += MAX_RANK)
        CHOSEN(solve)(a->array[2], out + start * size, leverages + start, size, rank_at(start, count));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    METHOD(plain), METHOD(update), METHOD(observe), METHOD(absorb), METHOD(rotate), METHOD(predict), METHOD(leverage), METHOD(solve),
    VERSION_METHODS, {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_cholesky", "Compiled update of a Cholesky factor.", -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__cholesky(void) {
    use_best_version();
    PyObject *numpy = PyImport_ImportModule("numpy");
    numpy_empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
    Py_XDECREF(numpy);
    if (!numpy_empty) return NULL;
    PyObject *self = PyModule_Create(&module);
    if (self && (PyModule_AddIntConstant(self, "BLOCK", BLOCK) || PyModule_AddIntConstant(self, "MAX_RANK", MAX_RANK)))
        Py_CLEAR(self);
    return self;
}
