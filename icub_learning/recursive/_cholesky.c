/* The fixed-cost step of recursive regularized least squares: rank-k Cholesky update, gain, new weights.
 *
 * One step reads and writes the triangle once (rotations or reflections, top to bottom) and reads it once more (back
 * substitution). `plain` tells which samples need no conversion.
 */
#include "recursive/_learning.h"
#include <float.h>

/* Reads size, features and, where it is wanted, outputs. `size` is `features` rounded up to whole tiles. */
static int take_sizes(PyObject *const *objects, Py_ssize_t *size, Py_ssize_t *features, Py_ssize_t *outputs) {
    *size = PyLong_AsSsize_t(objects[0]);
    *features = PyLong_AsSsize_t(objects[1]);
    const Py_ssize_t count = outputs ? PyLong_AsSsize_t(objects[2]) : 1;
    if (PyErr_Occurred()) return 0;
    if (outputs) *outputs = count;
    if (*size > 0 && *size <= LARGEST_SIZE && *size % BLOCK == 0 && *features > *size - BLOCK && *features <= *size &&
        count > 0 && count <= LARGEST_SIZE)
        return 1;
    PyErr_Format(PyExc_ValueError, "size %zd must be a multiple of %d in 1..%d, features %zd less by 0..%d, outputs %zd in 1..%d",
                 *size, BLOCK, LARGEST_SIZE, *features, BLOCK - 1, count, LARGEST_SIZE);
    return 0;
}

static int check_count(const char *name, Py_ssize_t given, Py_ssize_t wanted) {
    if (given == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", name, wanted, given);
    return 0;
}

/* Opens a C-contiguous float64 buffer of shape (width,) or (k, width), each number within +-limit. Raises nothing. */
static int take_plain(PyObject *object, Py_buffer *view, ptrdiff_t width, double limit) {
    if (!look(object, view, "", 0)) {
        PyErr_Clear();
        return 0;
    }
    if ((view->ndim == 1 || view->ndim == 2) && view->shape[view->ndim - 1] == width &&
        !CHOSEN(count_beyond)(view->buf, length_of(view), limit))
        return 1;
    PyBuffer_Release(view);
    return 0;
}

/* Number of rows of `features` numbers in z. */
static ptrdiff_t count_rows(const Py_buffer *z, ptrdiff_t features) { return length_of(z) / features; }

PyDoc_STRVAR(plain_doc,
             "plain(values, width, limit)\n--\n\n"
             "Return whether values is C-contiguous float64 of shape (width,) or (k, width), each number within +-limit.");
static PyObject *plain(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_buffer view;
    if (!check_count("plain", n_args, 3)) return NULL;
    const Py_ssize_t width = PyLong_AsSsize_t(args[1]);
    const double limit = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred()) return NULL;
    if (!take_plain(args[0], &view, width, limit)) Py_RETURN_FALSE;
    PyBuffer_Release(&view);
    Py_RETURN_TRUE;
}

PyDoc_STRVAR(update_doc,
             "update(triangle, weights, work, z, y, size, features, outputs, forgetting, limit)\n--\n\n"
             "Learn the rows z (k, features), y (k, outputs) in place; the past is multiplied by `forgetting` once.\n"
             "Returns k, or None where z or y is not plain or their numbers of rows differ: nothing is learned then.\n"
             "triangle: size (size + BLOCK) / 2 numbers, see _sweep.h; weights (outputs, size); work: MAX_RANK (2 size + outputs) numbers.");
static PyObject *update(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features, outputs;
    if (!check_count("update", n_args, 10) || !take_sizes(args + 5, &size, &features, &outputs)) return NULL;
    const double forgetting = PyFloat_AsDouble(args[8]), limit = PyFloat_AsDouble(args[9]);
    static const char *const names[] = {"triangle", "weights", "work"};
    const ptrdiff_t least[] = {PACKED(size), outputs * size, MAX_RANK * (2 * size + outputs)};
    Py_buffer views[3], z, y;
    if (PyErr_Occurred() || !take_all(args, views, names, least, 3, 3)) return NULL;
    Py_ssize_t count = -1;
    if (take_plain(args[3], &z, features, limit)) {
        if (take_plain(args[4], &y, outputs, limit)) {
            if (count_rows(&z, features) == count_rows(&y, outputs)) count = count_rows(&z, features);
            double *triangle = views[0].buf;
            PyThreadState *thread = size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
            learn_all(triangle, views[1].buf, views[2].buf, z.buf, y.buf, size, features, outputs, count, forgetting);
            if (thread) PyEval_RestoreThread(thread);
            PyBuffer_Release(&y);
        }
        PyBuffer_Release(&z);
    }
    release_all(views, 3);
    if (PyErr_Occurred()) return NULL;
    if (count < 0) Py_RETURN_NONE;
    return PyLong_FromSsize_t(count);
}

PyDoc_STRVAR(observe_doc,
             "observe(learner, errors, leverages, estimates, rows, y, weights, order, root)\n--\n\n"
             "One sample, which counts root^2 times, of one target: rows (k, d), the columns of which are learned in `order` (d,), and y (k,),\n"
             "both times weights (k,). errors (k,) of y and leverages (k,) before any was learned; estimates (k,): what they tell of the variance\n"
             "of the noise. learner: RecursiveLeastSquares.ahead.");
static PyObject *observe(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (!check_count("observe", n_args, 9)) return NULL;
    const double root = PyFloat_AsDouble(args[8]);
    static const char *const names[] = {"errors", "leverages", "estimates", "rows", "y", "weights"};
    const ptrdiff_t least[] = {1, 1, 1, 1, 1, 1};
    Py_buffer views[6], columns;
    if (PyErr_Occurred() || !take_all(args + 1, views, names, least, 6, 3)) return NULL;
    const ptrdiff_t k = length_of(&views[0]);
    const double *rows = views[3].buf, *y = views[4].buf, *weights = views[5].buf;
    double *errors = views[0].buf, *leverages = views[1].buf, *estimates = views[2].buf, *memory = NULL;
    LEARNER l;
    if (take_ahead(args[0], &l, 1)) {
        const ptrdiff_t d = l.features, count = k + l.due;
        if (!PyObject_GetBuffer(args[7], &columns, PyBUF_C_CONTIGUOUS)) {
            const long long *order = columns.buf;
            int fit = columns.itemsize == 8 && length_of(&columns) == d && are_below(order, d, d) && length_of(&views[3]) == k * d;
            for (int i = 1; i < 6; i++) fit = fit && (i == 3 || length_of(&views[i]) == k);
            if (!fit)
                PyErr_SetString(PyExc_ValueError, "rows, y, weights and order do not fit");
            else if (!(memory = PyMem_RawMalloc(count * (d + 1) * sizeof(double))))
                PyErr_NoMemory();
            else {
                double *z = memory, *goals = memory + count * d;
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
            }
            PyMem_RawFree(memory);
            PyBuffer_Release(&columns);
        }
        release_all(l.views, 6);
    }
    release_all(views, 6);
    if (!memory) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(absorb_doc,
             "absorb(triangle, weights, work, left, z, y, size, features, outputs, forgetting)\n--\n\n"
             "As update, for arrays of the right kind; left (k, outputs): recursive residuals of the rows z (k, features), y (k, outputs).\n"
             "At least min(k, MAX_RANK) outputs.");
static PyObject *absorb(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features, outputs;
    if (!check_count("absorb", n_args, 10) || !take_sizes(args + 6, &size, &features, &outputs)) return NULL;
    double forgetting = PyFloat_AsDouble(args[9]);
    Py_buffer views[6];
    static const char *const names[] = {"triangle", "weights", "work", "left", "z", "y"};
    const ptrdiff_t least[] = {PACKED(size), outputs * size, MAX_RANK * (2 * size + outputs), 0, 0, 0};
    if (PyErr_Occurred() || !take_all(args, views, names, least, 6, 4)) return NULL;
    const ptrdiff_t count = length_of(&views[4]) / features;
    const int fit = length_of(&views[4]) == count * features && length_of(&views[3]) == count * outputs &&
                    length_of(&views[5]) == count * outputs;
    PyThreadState *thread = fit && size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
    if (fit)
        absorb_all(views[0].buf, views[1].buf, views[2].buf, views[3].buf, views[4].buf, views[5].buf, size, features, outputs, count,
                   forgetting);
    if (thread) PyEval_RestoreThread(thread);
    if (!fit) PyErr_SetString(PyExc_ValueError, "left, z and y do not fit");
    release_all(views, 6);
    if (!fit) return NULL;
    Py_RETURN_NONE;
}

/* Releases z and the first `count` views; None, or NULL after an error. */
static PyObject *finish(Py_buffer *z, Py_buffer *views, int count) {
    release_all(views, count);
    PyBuffer_Release(z);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(rotate_doc,
             "rotate(triangle, work, z, size, features)\n--\n\n"
             "Add z^T z to A for the rows of z (k, features), in place; work: 2 MAX_RANK size numbers.");
static PyObject *rotate(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features;
    Py_buffer z, views[2];
    if (!check_count("rotate", n_args, 5) || !take_sizes(args + 3, &size, &features, NULL) || !look(args[2], &z, "z", 0))
        return NULL;
    static const char *const names[] = {"triangle", "work"};
    const ptrdiff_t least[] = {PACKED(size), 2 * MAX_RANK * size}, count = count_rows(&z, features);
    const int taken = take_all(args, views, names, least, 2, 2);
    for (ptrdiff_t start = 0; taken && start < count; start += MAX_RANK) {
        const ptrdiff_t rank = rank_at(start, count);
        double *rows = views[1].buf, sides[MAX_RANK][MAX_RANK];
        pad(rows, (const double *)z.buf + start * features, size, features, rank);
        if (reflects(size, rank))
            CHOSEN(reflect)(views[0].buf, rows, NULL, sides, size, features, rank, 0, 1.0);
        else
            CHOSEN(rotate)(views[0].buf, rows, rows + MAX_RANK * size, size, rank, 1.0);
    }
    return finish(&z, views, taken ? 2 : 0);
}

static PyObject *numpy_empty; /* numpy.empty */

/* A new array (outputs,), or (rows, outputs) where `rows` is not negative. */
static PyObject *new_array(Py_ssize_t rows, Py_ssize_t outputs) {
    PyObject *shape = rows < 0 ? Py_BuildValue("(n)", outputs) : Py_BuildValue("(nn)", rows, outputs);
    PyObject *array = shape ? PyObject_CallOneArg(numpy_empty, shape) : NULL;
    Py_XDECREF(shape);
    return array;
}

PyDoc_STRVAR(predict_doc,
             "predict(weights, z, size, features, outputs)\n--\n\n"
             "Return z (k, features) weights^T, a new array (k, outputs), or (outputs,) for z (features,).\n"
             "None where z is not plain, or has more than MAX_RANK rows, for which BLAS is faster.");
static PyObject *predict(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features, outputs;
    Py_buffer weights, z, made;
    if (!check_count("predict", n_args, 5) || !take_sizes(args + 2, &size, &features, &outputs) ||
        !look(args[0], &weights, "weights", outputs * size))
        return NULL;
    PyObject *out = NULL;
    if (take_plain(args[1], &z, features, DBL_MAX)) {
        const ptrdiff_t count = count_rows(&z, features);
        if (count <= MAX_RANK && (out = new_array(z.ndim == 1 ? -1 : count, outputs))) {
            if (take(out, &made, "out", count * outputs)) {
                CHOSEN(predict)(weights.buf, z.buf, made.buf, size, features, outputs, count);
                PyBuffer_Release(&made);
            } else
                Py_CLEAR(out);
        }
        PyBuffer_Release(&z);
    }
    if (!out && !PyErr_Occurred()) out = Py_NewRef(Py_None);
    PyBuffer_Release(&weights);
    return out;
}

PyDoc_STRVAR(leverage_doc,
             "leverage(triangle, z, size, features)\n--\n\n"
             "Return z_i^T A^-1 z_i for the rows of z (k, features), a new array (k,); a number for z (features,).\n"
             "None where z is not plain.");
static PyObject *leverage(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features;
    Py_buffer triangle, z, made;
    if (!check_count("leverage", n_args, 4) || !take_sizes(args + 2, &size, &features, NULL) ||
        !look(args[0], &triangle, "triangle", PACKED(size)))
        return NULL;
    PyObject *out = NULL;
    if (take_plain(args[1], &z, features, DBL_MAX)) {
        const ptrdiff_t count = count_rows(&z, features);
        double one, *work = PyMem_RawMalloc(rank_at(0, count) * size * sizeof(double));
        if (!work)
            PyErr_NoMemory();
        else if (z.ndim == 1) {
            leverage_all(triangle.buf, work, &one, z.buf, size, features, 1);
            out = PyFloat_FromDouble(one);
        } else if ((out = new_array(-1, count))) {
            if (take(out, &made, "out", count)) {
                leverage_all(triangle.buf, work, made.buf, z.buf, size, features, count);
                PyBuffer_Release(&made);
            } else
                Py_CLEAR(out);
        }
        PyMem_RawFree(work);
        PyBuffer_Release(&z);
    }
    if (!out && !PyErr_Occurred()) out = Py_NewRef(Py_None);
    PyBuffer_Release(&triangle);
    return out;
}

PyDoc_STRVAR(solve_doc,
             "solve(out, leverages, triangle, z, size, features)\n--\n\n"
             "out (k, size) = A^-1 z_i, padded with zeros, and leverages (k,) = z_i^T A^-1 z_i, for the rows of z (k, features).");
static PyObject *solve(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features;
    Py_buffer z, views[3];
    if (!check_count("solve", n_args, 6) || !take_sizes(args + 4, &size, &features, NULL) || !look(args[3], &z, "z", 0))
        return NULL;
    const ptrdiff_t count = count_rows(&z, features);
    static const char *const names[] = {"out", "leverages", "triangle"};
    const ptrdiff_t least[] = {count * size, count, PACKED(size)};
    const int taken = take_all(args, views, names, least, 3, 2);
    if (taken) pad(views[0].buf, z.buf, size, features, count);
    for (ptrdiff_t start = 0; taken && start < count; start += MAX_RANK)
        CHOSEN(solve)(views[2].buf, (double *)views[0].buf + start * size, (double *)views[1].buf + start, size,
                      rank_at(start, count));
    return finish(&z, views, taken ? 3 : 0);
}

static PyMethodDef methods[] = {
    {"plain", (PyCFunction)(void (*)(void))plain, METH_FASTCALL, plain_doc},
    {"update", (PyCFunction)(void (*)(void))update, METH_FASTCALL, update_doc},
    {"observe", (PyCFunction)(void (*)(void))observe, METH_FASTCALL, observe_doc},
    {"absorb", (PyCFunction)(void (*)(void))absorb, METH_FASTCALL, absorb_doc},
    {"rotate", (PyCFunction)(void (*)(void))rotate, METH_FASTCALL, rotate_doc},
    {"predict", (PyCFunction)(void (*)(void))predict, METH_FASTCALL, predict_doc},
    {"leverage", (PyCFunction)(void (*)(void))leverage, METH_FASTCALL, leverage_doc},
    {"solve", (PyCFunction)(void (*)(void))solve, METH_FASTCALL, solve_doc},
    VERSION_METHODS,
    {NULL, NULL, 0, NULL},
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
