/* The fixed-cost step of recursive regularized least squares: rank-k Cholesky update, gain, new weights.
 *
 * One step reads and writes the triangle once (rotations, top to bottom) and reads it once more (back substitution). Samples
 * are read as they are if they are `plain`.
 */
#include "recursive/_learning.h"
#include <float.h>

/* Whether `size` is `features` rounded up to whole tiles and no product of two sizes overflows; sets an error otherwise. */
static int sizes_fit(ptrdiff_t size, ptrdiff_t features, ptrdiff_t outputs) {
    return fits(size > 0 && size <= LARGEST_SIZE && size == PADDED(features) && outputs >= 0 && outputs <= LARGEST_SIZE,
                "size, features and outputs");
}

/* Opens a C-contiguous float64 buffer, (width,) or (k, width), each number within +-limit; NULL without an error otherwise. */
static const Py_buffer *take_plain(Arguments *a, PyObject *object, ptrdiff_t width, double limit) {
    const Py_buffer *view = open_buffer(a->opened, object, 'd', 0);
    PyErr_Clear();
    if (view && (view->ndim == 1 || view->ndim == 2) && view->shape[view->ndim - 1] == width &&
        !CHOSEN(count_beyond)(view->buf, view->len / 8, limit))
        return view;
    return NULL;
}

/* Returns the number of rows in a view of shape (width,) or (k, width). */
static ptrdiff_t count_rows(const Py_buffer *z) { return z->ndim == 1 ? 1 : z->shape[0]; }

FUNCTION(plain, "@ w: %",
         "plain(values, width, limit)\n--\n\n"
         "Return whether values is C-contiguous float64 of shape (width,) or (k, width), each number within +-limit.") {
    return PyBool_FromLong(take_plain(a, a->object[0], SIZE('w'), a->number[0]) != NULL);
}

FUNCTION(update, "!0 !=os !0 ~!0 @ @ s: f: o: % %",
         "update(triangle, weights, work, left, z, y, size, features, outputs, forgetting, limit)\n--\n\n"
         "Learn the rows z (k, features), y (k, outputs) in place; the past is multiplied by `forgetting` once. left (k, outputs): their\n"
         "recursive residuals, or None.\n"
         "Returns k, or None where z or y is not plain or their numbers of rows differ: nothing is learned then.\n"
         "triangle: size (size + BLOCK) / 2 numbers, see _sweep.h; weights (outputs, size); work: MAX_RANK (2 size + outputs) numbers.") {
    const LEARNER l = {.size = SIZE('s'), .features = SIZE('f'), .outputs = SIZE('o'), .triangle = a->array[0], .weights = a->array[1],
                       .work = a->array[2], .forgetting = a->number[0]};
    if (!sizes_fit(l.size, l.features, l.outputs) ||
        !fits(a->length[0] >= PACKED(l.size) && a->length[2] >= MAX_RANK * (2 * l.size + l.outputs), "triangle, work and size"))
        return NULL;
    const Py_buffer *z = take_plain(a, a->object[0], l.features, a->number[1]);
    const Py_buffer *y = z ? take_plain(a, a->object[1], l.outputs, a->number[1]) : NULL;
    if (!y || count_rows(z) != count_rows(y)) Py_RETURN_NONE;
    const ptrdiff_t count = count_rows(z);
    if (a->array[3] && !fits(l.outputs && a->length[3] == count * l.outputs, "left and y")) return NULL;
    const RELEASED released = release(l.size);
    learn_all(&l, a->array[3], z->buf, y->buf, count);
    take_back(released);
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
    observe_all(&l, errors, leverages, estimates, z, goals, weights, root, k, count);
    Py_RETURN_NONE;
}

static PyObject *numpy_empty;

/* Returns a new array (outputs,), or (rows, outputs) if rows >= 0, its data in `numbers`; NULL and an error otherwise. */
static PyObject *new_array(Arguments *a, Py_ssize_t rows, Py_ssize_t outputs, double **numbers) {
    PyObject *array = rows < 0 ? PyObject_CallFunction(numpy_empty, "n", outputs) : PyObject_CallFunction(numpy_empty, "((nn))", rows, outputs);
    const Py_buffer *view = array ? open_buffer(a->opened, array, 'd', PyBUF_WRITABLE) : NULL;
    if (view) *numbers = view->buf;
    else Py_CLEAR(array);
    return array;
}

FUNCTION(predict, "=os @ s: f: o:",
         "predict(weights, z, size, features, outputs)\n--\n\n"
         "Return z (k, features) weights^T, a new array (k, outputs), or (outputs,) for z (features,).\n"
         "None where z is not plain, or has more than MAX_RANK rows, for which BLAS is faster.") {
    if (!sizes_fit(SIZE('s'), SIZE('f'), SIZE('o'))) return NULL;
    const Py_buffer *z = take_plain(a, a->object[0], SIZE('f'), DBL_MAX);
    const ptrdiff_t count = z ? count_rows(z) : 0;
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
    const ptrdiff_t count = count_rows(z);
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
    for (ptrdiff_t start = 0; start < count; start += MAX_RANK, out += MAX_RANK * size) {
        const ptrdiff_t rank = rank_at(start, count);
        const double *tile = a->array[2];
        CHOSEN(leverage)(tile, out, leverages + start, size, rank);
        for (ptrdiff_t i = 0; i < size; tile += (size - i) * BLOCK, i += BLOCK)
            for (ptrdiff_t r = 0; r < BLOCK; r++)
                for (ptrdiff_t l = 0; l < rank; l++) out[l * size + i + r] /= tile[r * BLOCK + r];
        CHOSEN(solve_back)(a->array[2], out, size, rank);
    }
    Py_RETURN_NONE;
}

static int is_unprepared(PyObject *self) {
    use_best_version();
    PyObject *numpy = PyImport_ImportModule("numpy");
    numpy_empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
    Py_XDECREF(numpy);
    return !numpy_empty || PyModule_AddIntConstant(self, "BLOCK", BLOCK) || PyModule_AddIntConstant(self, "MAX_RANK", MAX_RANK) ||
           PyModule_AddIntConstant(self, "LENT_PRIORITY", LENT_PRIORITY);
}

PREPARED_MODULE(_cholesky, "Compiled update of a Cholesky factor.", is_unprepared(self), METHOD(plain), METHOD(update), METHOD(observe),
                METHOD(predict), METHOD(leverage), METHOD(solve), VERSION_METHODS)
