/* The fixed-cost step of recursive regularized least squares: rank-k Cholesky update, gain, new weights.
 *
 * One step reads and writes the triangle once (rotations, top to bottom) and reads it once more (back substitution).
 * Compiled for the plain processor, AVX2 and AVX-512; the best one that the machine has is chosen at import, so a build
 * made on one machine runs on another. Arrays come through the buffer protocol; `plain` tells what may be passed on.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define BLOCK 8      /* side of a tile of the triangle; sizes are multiples of it */
#define MAX_RANK 8   /* rows taken in one sweep; longer batches are split */
#define UNROLL 4     /* independent sums of a dot product */
#define STRIP 128    /* columns that several right-hand sides share */
#define LARGEST_SIZE (1 << 28) /* keeps products of two sizes far from overflow */

/* Ones for the columns from r on, or right of r, in a tile; zeros for the others. */
static const double STEP[2 * BLOCK] = {[BLOCK] = 1, 1, 1, 1, 1, 1, 1, 1};
#define FROM(r) (STEP + BLOCK - (r))
#define RIGHT_OF(r) (STEP + BLOCK - 1 - (r))

#define LANES 2
#define SUFFIX _portable
#define TARGET
#include "_sweep.h"
#undef LANES
#undef SUFFIX
#undef TARGET

#if defined(__x86_64__)
#define LANES 4
#define SUFFIX _avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "_sweep.h"
#undef LANES
#undef SUFFIX
#undef TARGET

#define LANES 8
#define SUFFIX _avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#include "_sweep.h"
#undef LANES
#undef SUFFIX
#undef TARGET
#endif

typedef struct {
    const char *name;
    void (*rotate)(double *, double *, double *, ptrdiff_t, ptrdiff_t, double);
    void (*solve_back)(const double *, double *, ptrdiff_t, ptrdiff_t);
    void (*leverage)(const double *, double *, double *, ptrdiff_t, ptrdiff_t);
    void (*solve)(const double *, double *, double *, ptrdiff_t, ptrdiff_t);
    void (*predict)(const double *, const double *, double *, ptrdiff_t, ptrdiff_t, ptrdiff_t);
    void (*correct)(double *, const double *, const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t);
    ptrdiff_t (*count_beyond)(const double *, ptrdiff_t, double);
} Kernel;

#define KERNEL(suffix)                                                                                       \
    {#suffix, rotate_##suffix, solve_back_##suffix, leverage_##suffix, solve_##suffix, predict_##suffix, \
     correct_##suffix, count_beyond_##suffix}

static const Kernel kernels[] = {
    KERNEL(portable),
#if defined(__x86_64__)
    KERNEL(avx2),
    KERNEL(avx512),
#endif
};
static const Kernel *kernel = &kernels[0];

static int supported(const Kernel *candidate) {
#if defined(__x86_64__)
    if (!strcmp(candidate->name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
    if (!strcmp(candidate->name, "avx2")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return 1;
}

/* A C-contiguous buffer of native float64. */
static int take(PyObject *object, Py_buffer *view, int writable) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0))) return 0;
    if (view->itemsize == sizeof(double) && view->format && !strcmp(view->format, "d")) return 1;
    PyErr_Format(PyExc_ValueError, "expected an array of float64, got format '%s'", view->format ? view->format : "?");
    PyBuffer_Release(view);
    return 0;
}

/* Takes `count` buffers, the first `n_writable` of them writable; all or none. */
static int take_all(PyObject **objects, Py_buffer *views, int count, int n_writable) {
    for (int i = 0; i < count; i++)
        if (!take(objects[i], &views[i], i < n_writable)) {
            while (i > 0) PyBuffer_Release(&views[--i]);
            return 0;
        }
    return 1;
}

static void release_all(Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) PyBuffer_Release(&views[i]);
}

/* `size` is `features` rounded up to whole tiles. */
static int check_sizes(Py_ssize_t size, Py_ssize_t features, Py_ssize_t outputs) {
    if (size > 0 && size <= LARGEST_SIZE && size % BLOCK == 0 && features > size - BLOCK && features <= size &&
        outputs > 0 && outputs <= LARGEST_SIZE)
        return 1;
    PyErr_Format(PyExc_ValueError, "size %zd must be a multiple of %d in 1..%d, features %zd less by 0..%d, outputs %zd in 1..%d",
                 size, BLOCK, LARGEST_SIZE, features, BLOCK - 1, outputs, LARGEST_SIZE);
    return 0;
}

static int check_length(const char *name, const Py_buffer *view, ptrdiff_t least) {
    const ptrdiff_t length = view->len / (ptrdiff_t)sizeof(double);
    if (length >= least) return 1;
    PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, needs %zd", name, length, least);
    return 0;
}

/* Number of rows of `features` numbers in z. */
static ptrdiff_t count_rows(const Py_buffer *z, ptrdiff_t features) { return z->len / (features * (ptrdiff_t)sizeof(double)); }

/* Rows of z, each padded with zeros to `size`. */
static void pad(double *out, const double *z, ptrdiff_t size, ptrdiff_t features, ptrdiff_t rank) {
    for (ptrdiff_t l = 0; l < rank; l++) {
        memcpy(out + l * size, z + l * features, features * sizeof(double));
        memset(out + l * size + features, 0, (size - features) * sizeof(double));
    }
}

PyDoc_STRVAR(plain_doc,
             "plain(values, width, limit)\n--\n\n"
             "Whether values is C-contiguous float64 of shape (width,) or (k, width), each number within +-limit.");
enum { RELEASE_SIZE = 256 }; /* features, from which an update takes some 10 us */

static PyObject *plain(PyObject *self, PyObject *args) {
    PyObject *values;
    Py_ssize_t width;
    double limit;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "Ond", &values, &width, &limit)) return NULL;
    if (!take(values, &view, 0)) {
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    const int fits = (view.ndim == 1 || view.ndim == 2) && view.shape[view.ndim - 1] == width &&
                     !kernel->count_beyond(view.buf, view.len / (ptrdiff_t)sizeof(double), limit);
    PyBuffer_Release(&view);
    return PyBool_FromLong(fits);
}

PyDoc_STRVAR(update_doc,
             "update(triangle, weights, work, z, y, size, features, outputs, forgetting)\n--\n\n"
             "Learn the rows z (k, features), y (k, outputs) in place; what was learned before fades by `forgetting` once.\n"
             "triangle size (size + BLOCK) / 2 numbers: see _sweep.h; weights (outputs, size); work: MAX_RANK (2 size + outputs) numbers.");
static PyObject *update(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t size, features, outputs;
    double forgetting;
    if (!PyArg_ParseTuple(args, "OOOOOnnnd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &size,
                          &features, &outputs, &forgetting) || !check_sizes(size, features, outputs))
        return NULL;
    Py_buffer views[5];
    if (!take_all(objects, views, 5, 3)) return NULL;
    const ptrdiff_t count = count_rows(&views[3], features);
    if (check_length("triangle", &views[0], size * (size + BLOCK) / 2) && check_length("weights", &views[1], outputs * size) &&
        check_length("work", &views[2], MAX_RANK * (2 * size + outputs)) && check_length("y", &views[4], count * outputs)) {
        double *triangle = views[0].buf, *weights = views[1].buf, *rows = views[2].buf;
        double *gain = rows + MAX_RANK * size, *innovation = gain + MAX_RANK * size;
        const double *z = views[3].buf, *y = views[4].buf;
        /* Other threads may run meanwhile, where it takes long enough to be worth the hand-over. */
        PyThreadState *thread = size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
        for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
            const ptrdiff_t rank = count - start < MAX_RANK ? count - start : MAX_RANK;
            pad(rows, z + start * features, size, features, rank);
            kernel->predict(weights, rows, innovation, size, outputs, rank);
            for (ptrdiff_t n = 0; n < rank * outputs; n++) innovation[n] = y[start * outputs + n] - innovation[n];
            kernel->rotate(triangle, rows, gain, size, rank, start ? 1.0 : forgetting);
            if (outputs < rank) { /* solve for the corrections of the weights, which are fewer than the gains */
                double *correction = rows; /* done with */
                memset(correction, 0, outputs * size * sizeof(double));
                kernel->correct(correction, gain, innovation, size, outputs, rank);
                kernel->solve_back(triangle, correction, size, outputs);
                for (ptrdiff_t j = 0; j < outputs * size; j++) weights[j] += correction[j];
            } else {
                kernel->solve_back(triangle, gain, size, rank);
                kernel->correct(weights, gain, innovation, size, outputs, rank);
            }
        }
        double *last_tile = triangle + size * (size + BLOCK) / 2 - BLOCK * BLOCK;
        for (ptrdiff_t r = features - (size - BLOCK); r < BLOCK; r++) last_tile[r * BLOCK + r] = 1.0; /* must not fade */
        if (thread) PyEval_RestoreThread(thread);
    }
    release_all(views, 5);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(rotate_doc,
             "rotate(triangle, work, z, size, features)\n--\n\n"
             "Add z^T z to A for the rows of z (k, features), in place; work: 2 MAX_RANK size numbers.");
static PyObject *rotate(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t size, features;
    if (!PyArg_ParseTuple(args, "OOOnn", &objects[0], &objects[1], &objects[2], &size, &features) ||
        !check_sizes(size, features, 1))
        return NULL;
    Py_buffer views[3];
    if (!take_all(objects, views, 3, 2)) return NULL;
    const ptrdiff_t count = count_rows(&views[2], features);
    if (check_length("triangle", &views[0], size * (size + BLOCK) / 2) && check_length("work", &views[1], 2 * MAX_RANK * size))
        for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
            const ptrdiff_t rank = count - start < MAX_RANK ? count - start : MAX_RANK;
            double *rows = views[1].buf;
            pad(rows, (const double *)views[2].buf + start * features, size, features, rank);
            kernel->rotate(views[0].buf, rows, rows + MAX_RANK * size, size, rank, 1.0);
        }
    release_all(views, 3);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(predict_doc,
             "predict(out, work, weights, z, size, features, outputs)\n--\n\n"
             "out (k, outputs) = z (k, features) weights^T; work: MAX_RANK size numbers.");
static PyObject *predict(PyObject *self, PyObject *args) {
    PyObject *objects[4];
    Py_ssize_t size, features, outputs;
    if (!PyArg_ParseTuple(args, "OOOOnnn", &objects[0], &objects[1], &objects[2], &objects[3], &size, &features,
                          &outputs) || !check_sizes(size, features, outputs))
        return NULL;
    Py_buffer views[4];
    if (!take_all(objects, views, 4, 2)) return NULL;
    const ptrdiff_t count = count_rows(&views[3], features);
    if (check_length("out", &views[0], count * outputs) && check_length("work", &views[1], MAX_RANK * size) &&
        check_length("weights", &views[2], outputs * size))
        for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
            const ptrdiff_t rank = count - start < MAX_RANK ? count - start : MAX_RANK;
            pad(views[1].buf, (const double *)views[3].buf + start * features, size, features, rank);
            kernel->predict(views[2].buf, views[1].buf, (double *)views[0].buf + start * outputs, size, outputs, rank);
        }
    release_all(views, 4);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(leverage_doc,
             "leverage(out, work, triangle, z, size, features)\n--\n\n"
             "out (k,) = z_i^T A^-1 z_i for the rows of z (k, features); work: MAX_RANK size numbers.");
static PyObject *leverage(PyObject *self, PyObject *args) {
    PyObject *objects[4];
    Py_ssize_t size, features;
    if (!PyArg_ParseTuple(args, "OOOOnn", &objects[0], &objects[1], &objects[2], &objects[3], &size, &features) ||
        !check_sizes(size, features, 1))
        return NULL;
    Py_buffer views[4];
    if (!take_all(objects, views, 4, 2)) return NULL;
    const ptrdiff_t count = count_rows(&views[3], features);
    if (check_length("out", &views[0], count) && check_length("work", &views[1], MAX_RANK * size) &&
        check_length("triangle", &views[2], size * (size + BLOCK) / 2))
        for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
            const ptrdiff_t rank = count - start < MAX_RANK ? count - start : MAX_RANK;
            pad(views[1].buf, (const double *)views[3].buf + start * features, size, features, rank);
            kernel->leverage(views[2].buf, views[1].buf, (double *)views[0].buf + start, size, rank);
        }
    release_all(views, 4);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(solve_doc,
             "solve(out, leverages, triangle, z, size, features)\n--\n\n"
             "out (k, size) = A^-1 z_i, padded with zeros, and leverages (k,) = z_i^T A^-1 z_i, for the rows of z (k, features).");
static PyObject *solve(PyObject *self, PyObject *args) {
    PyObject *objects[4];
    Py_ssize_t size, features;
    if (!PyArg_ParseTuple(args, "OOOOnn", &objects[0], &objects[1], &objects[2], &objects[3], &size, &features) ||
        !check_sizes(size, features, 1))
        return NULL;
    Py_buffer views[4];
    if (!take_all(objects, views, 4, 2)) return NULL;
    const ptrdiff_t count = count_rows(&views[3], features);
    if (check_length("out", &views[0], count * size) && check_length("leverages", &views[1], count) &&
        check_length("triangle", &views[2], size * (size + BLOCK) / 2)) {
        double *out = views[0].buf;
        pad(out, views[3].buf, size, features, count);
        for (ptrdiff_t start = 0; start < count; start += MAX_RANK)
            kernel->solve(views[2].buf, out + start * size, (double *)views[1].buf + start, size,
                          count - start < MAX_RANK ? count - start : MAX_RANK);
    }
    release_all(views, 4);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(available_doc, "available()\n--\n\nNames of the kernels this processor can run, plainest first.");
static PyObject *available(PyObject *self, PyObject *args) {
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < sizeof kernels / sizeof *kernels; i++) {
        if (!supported(&kernels[i])) continue;
        PyObject *name = PyUnicode_FromString(kernels[i].name);
        if (!name || PyList_Append(names, name)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

PyDoc_STRVAR(use_doc, "use(name)\n--\n\nRun the named kernel from now on, in this process; returns the one used before.");
static PyObject *use(PyObject *self, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(kernels[i].name, name) && supported(&kernels[i])) {
            PyObject *before = PyUnicode_FromString(kernel->name);
            kernel = &kernels[i];
            return before;
        }
    return PyErr_Format(PyExc_ValueError, "kernel '%s' is unknown or this processor lacks its instructions", name);
}

static PyMethodDef methods[] = {
    {"plain", plain, METH_VARARGS, plain_doc},
    {"update", update, METH_VARARGS, update_doc},
    {"rotate", rotate, METH_VARARGS, rotate_doc},
    {"predict", predict, METH_VARARGS, predict_doc},
    {"leverage", leverage, METH_VARARGS, leverage_doc},
    {"solve", solve, METH_VARARGS, solve_doc},
    {"available", available, METH_NOARGS, available_doc},
    {"use", use, METH_VARARGS, use_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", "Compiled update of a Cholesky factor.", -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (supported(&kernels[i])) kernel = &kernels[i];
    PyObject *self = PyModule_Create(&module);
    if (self && (PyModule_AddIntConstant(self, "BLOCK", BLOCK) || PyModule_AddIntConstant(self, "MAX_RANK", MAX_RANK)))
        Py_CLEAR(self);
    return self;
}
