/* The fixed-cost step of recursive regularized least squares: rank-k Cholesky update, gain, new weights.
 *
 * One step reads and writes the triangle once (rotations or reflections, top to bottom) and reads it once more (back
 * substitution).
 * Compiled for the plain processor, AVX2 and AVX-512; the best one that the machine has is chosen at import, so a build
 * made on one machine runs on another. Arrays come through the buffer protocol; `plain` tells what may be passed on.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
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
    void (*reflect)(double *, double *, double *, double (*)[MAX_RANK], ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t,
                    double);
    void (*solve_back)(const double *, double *, ptrdiff_t, ptrdiff_t);
    void (*leverage)(const double *, double *, double *, ptrdiff_t, ptrdiff_t);
    void (*solve)(const double *, double *, double *, ptrdiff_t, ptrdiff_t);
    void (*predict)(const double *, const double *, double *, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t);
    void (*correct)(double *, const double *, const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t);
    ptrdiff_t (*count_beyond)(const double *, ptrdiff_t, double);
} Kernel;

#define KERNEL(suffix)                                                                                       \
    {#suffix, rotate_##suffix, reflect_##suffix, solve_back_##suffix, leverage_##suffix, solve_##suffix, \
     predict_##suffix, correct_##suffix, count_beyond_##suffix}

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

#include "_arguments.h"

PyDoc_STRVAR(plain_doc,
             "plain(values, width, limit)\n--\n\n"
             "Whether values is C-contiguous float64 of shape (width,) or (k, width), each number within +-limit.");
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

/* Where reflections are faster than rotations: with AVX-512 from rank 4 and up to some 200 features; the others alike. */
static int reflects(ptrdiff_t size, ptrdiff_t rank) { return rank >= 4 && size <= 128; }

/* Learn up to MAX_RANK rows. */
static void learn(double *triangle, double *weights, double *rows, const double *z, const double *y, ptrdiff_t size,
                  ptrdiff_t features, ptrdiff_t outputs, ptrdiff_t rank, double forgetting) {
    double *gain = rows + MAX_RANK * size, *innovation = gain + MAX_RANK * size;
    pad(rows, z, size, features, rank);
    kernel->predict(weights, z, innovation, size, features, outputs, rank);
    for (ptrdiff_t n = 0; n < rank * outputs; n++) innovation[n] = y[n] - innovation[n];
    const int few = outputs < rank; /* then solve for the corrections of the weights, which are fewer than the gains */
    double *correction = gain;
    if (reflects(size, rank)) {
        double sides[MAX_RANK][MAX_RANK] = {{0.0}};
        for (ptrdiff_t l = 0; l < rank; l++)
            if (few)
                memcpy(sides[l], innovation + l * outputs, outputs * sizeof(double));
            else
                sides[l][l] = 1.0;
        kernel->reflect(triangle, rows, gain, sides, size, features, rank, few ? outputs : rank, forgetting);
    } else {
        kernel->rotate(triangle, rows, gain, size, rank, forgetting);
        if (few) {
            correction = rows; /* done with */
            memset(correction, 0, outputs * size * sizeof(double));
            kernel->correct(correction, gain, innovation, size, outputs, rank);
        }
    }
    kernel->solve_back(triangle, correction, size, few ? outputs : rank);
    if (few)
        for (ptrdiff_t j = 0; j < outputs * size; j++) weights[j] += correction[j];
    else
        kernel->correct(weights, gain, innovation, size, outputs, rank);
}

PyDoc_STRVAR(update_doc,
             "update(triangle, weights, work, z, y, size, features, outputs, forgetting, limit)\n--\n\n"
             "Learn the rows z (k, features), y (k, outputs) in place; what was learned before fades by `forgetting` once.\n"
             "Returns k, or None where z or y is not plain or their numbers of rows differ: nothing is learned then.\n"
             "triangle size (size + BLOCK) / 2 numbers: see _sweep.h; weights (outputs, size); work: MAX_RANK (2 size + outputs) numbers.");
enum { RELEASE_SIZE = 256 }; /* features, from which an update takes some 10 us */

static PyObject *update(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features, outputs;
    if (!check_count("update", n_args, 10) || !take_sizes(args + 5, &size, &features, &outputs)) return NULL;
    const double forgetting = PyFloat_AsDouble(args[8]), limit = PyFloat_AsDouble(args[9]);
    Py_buffer views[3], z, y;
    if (PyErr_Occurred() || !take_all(args, views, 3, 3)) return NULL;
    Py_ssize_t count = -1;
    if (check_length("triangle", &views[0], size * (size + BLOCK) / 2) && check_length("weights", &views[1], outputs * size) &&
        check_length("work", &views[2], MAX_RANK * (2 * size + outputs)) && take_plain(args[3], &z, features, limit)) {
        if (take_plain(args[4], &y, outputs, limit)) {
            if (count_rows(&z, features) == count_rows(&y, outputs)) count = count_rows(&z, features);
            double *triangle = views[0].buf;
            /* Other threads may run meanwhile, where it takes long enough to be worth the hand-over. */
            PyThreadState *thread = size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
            for (Py_ssize_t start = 0; start < count; start += MAX_RANK)
                learn(triangle, views[1].buf, views[2].buf, (double *)z.buf + start * features, (double *)y.buf + start * outputs,
                      size, features, outputs, count - start < MAX_RANK ? count - start : MAX_RANK, start ? 1.0 : forgetting);
            double *last_tile = triangle + size * (size + BLOCK) / 2 - BLOCK * BLOCK;
            for (ptrdiff_t r = features - (size - BLOCK); r < BLOCK; r++) last_tile[r * BLOCK + r] = 1.0; /* must not fade */
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

PyDoc_STRVAR(rotate_doc,
             "rotate(triangle, work, z, size, features)\n--\n\n"
             "Add z^T z to A for the rows of z (k, features), in place; work: 2 MAX_RANK size numbers.");
static PyObject *rotate(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features;
    Py_buffer views[3];
    if (!check_count("rotate", n_args, 5) || !take_sizes(args + 3, &size, &features, NULL) || !take_all(args, views, 3, 2))
        return NULL;
    const ptrdiff_t count = count_rows(&views[2], features);
    if (check_length("triangle", &views[0], size * (size + BLOCK) / 2) && check_length("work", &views[1], 2 * MAX_RANK * size))
        for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
            const ptrdiff_t rank = count - start < MAX_RANK ? count - start : MAX_RANK;
            double *rows = views[1].buf, sides[MAX_RANK][MAX_RANK];
            pad(rows, (const double *)views[2].buf + start * features, size, features, rank);
            if (reflects(size, rank))
                kernel->reflect(views[0].buf, rows, NULL, sides, size, features, rank, 0, 1.0);
            else
                kernel->rotate(views[0].buf, rows, rows + MAX_RANK * size, size, rank, 1.0);
        }
    release_all(views, 3);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
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
             "z (k, features) weights^T, a new array (k, outputs), or (outputs,) for z (features,).\n"
             "None where z is not plain, or has more than MAX_RANK rows: matrix products are not the business of this kernel.");
static PyObject *predict(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features, outputs;
    Py_buffer weights, z, made;
    if (!check_count("predict", n_args, 5) || !take_sizes(args + 2, &size, &features, &outputs) || !take(args[0], &weights, 0))
        return NULL;
    PyObject *out = NULL;
    if (check_length("weights", &weights, outputs * size)) {
        if (take_plain(args[1], &z, features, DBL_MAX)) {
            const ptrdiff_t count = count_rows(&z, features);
            if (count <= MAX_RANK && (out = new_array(z.ndim == 1 ? -1 : count, outputs))) {
                if (take(out, &made, 1)) {
                    kernel->predict(weights.buf, z.buf, made.buf, size, features, outputs, count);
                    PyBuffer_Release(&made);
                } else
                    Py_CLEAR(out);
            }
            PyBuffer_Release(&z);
        }
        if (!out && !PyErr_Occurred()) out = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&weights);
    return out;
}

PyDoc_STRVAR(leverage_doc,
             "leverage(out, work, triangle, z, size, features)\n--\n\n"
             "out (k,) = z_i^T A^-1 z_i for the rows of z (k, features); work: MAX_RANK size numbers.");
static PyObject *leverage(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features;
    Py_buffer views[4];
    if (!check_count("leverage", n_args, 6) || !take_sizes(args + 4, &size, &features, NULL) || !take_all(args, views, 4, 2))
        return NULL;
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
static PyObject *solve(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    Py_ssize_t size, features;
    Py_buffer views[4];
    if (!check_count("solve", n_args, 6) || !take_sizes(args + 4, &size, &features, NULL) || !take_all(args, views, 4, 2))
        return NULL;
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
    {"plain", (PyCFunction)(void (*)(void))plain, METH_FASTCALL, plain_doc},
    {"update", (PyCFunction)(void (*)(void))update, METH_FASTCALL, update_doc},
    {"rotate", (PyCFunction)(void (*)(void))rotate, METH_FASTCALL, rotate_doc},
    {"predict", (PyCFunction)(void (*)(void))predict, METH_FASTCALL, predict_doc},
    {"leverage", (PyCFunction)(void (*)(void))leverage, METH_FASTCALL, leverage_doc},
    {"solve", (PyCFunction)(void (*)(void))solve, METH_FASTCALL, solve_doc},
    {"available", available, METH_NOARGS, available_doc},
    {"use", use, METH_VARARGS, use_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", "Compiled update of a Cholesky factor.", -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (supported(&kernels[i])) kernel = &kernels[i];
    PyObject *numpy = PyImport_ImportModule("numpy");
    numpy_empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
    Py_XDECREF(numpy);
    if (!numpy_empty) return NULL;
    PyObject *self = PyModule_Create(&module);
    if (self && (PyModule_AddIntConstant(self, "BLOCK", BLOCK) || PyModule_AddIntConstant(self, "MAX_RANK", MAX_RANK)))
        Py_CLEAR(self);
    return self;
}
