/* The fixed-cost step of recursive regularized least squares: rank-k Cholesky update, gain, new weights.
 *
 * One step reads and writes the triangle once (rotations, top to bottom) and reads it once more (back substitution).
 * Compiled for the plain processor, AVX2 and AVX-512; the best one that the machine has is chosen at import, so a build
 * made on one machine runs on another. Arrays come through the buffer protocol; Python has checked what they hold.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define BLOCK 8      /* rows whose rotations are applied in one pass over the columns; sizes are multiples of it */
#define MAX_RANK 8   /* rows taken in one sweep; the caller splits longer batches */
#define UNROLL 4

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
    void (*solve_forward)(const double *, double *, ptrdiff_t, ptrdiff_t);
    void (*predict)(const double *, const double *, double *, ptrdiff_t, ptrdiff_t, ptrdiff_t);
    void (*correct)(double *, const double *, const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t);
} Kernel;

#define KERNEL(suffix) \
    {#suffix, rotate_##suffix, solve_back_##suffix, solve_forward_##suffix, predict_##suffix, correct_##suffix}

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

/* A writable C-contiguous float64 buffer with at least `length` numbers. */
static int take(PyObject *object, Py_buffer *view, ptrdiff_t length, int writable) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0))) return 0;
    if (view->itemsize == sizeof(double) && view->format && !strcmp(view->format, "d") &&
        view->len >= length * (ptrdiff_t)sizeof(double))
        return 1;
    PyErr_Format(PyExc_ValueError, "expected a contiguous float64 array of at least %zd numbers, got %zd bytes of '%s'",
                 length, view->len, view->format ? view->format : "?");
    PyBuffer_Release(view);
    return 0;
}

static int check_sizes(Py_ssize_t size, Py_ssize_t outputs, Py_ssize_t rank) {
    if (size > 0 && size % BLOCK == 0 && outputs > 0 && rank > 0 && rank <= MAX_RANK) return 1;
    PyErr_Format(PyExc_ValueError, "size %zd must be a positive multiple of %d, outputs %zd positive, rank %zd in 1..%d",
                 size, BLOCK, outputs, rank, MAX_RANK);
    return 0;
}

PyDoc_STRVAR(update_doc,
             "update(factor, weights, rows, targets, gain, size, outputs, rank, root_forgetting)\n--\n\n"
             "One step in place: factor (size, size), weights (outputs, size). `rows` (rank, size) is destroyed,\n"
             "`targets` (rank, outputs) becomes the innovation, `gain` (rank, size) becomes A_new^-1 rows^T.");
static PyObject *update(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t size, outputs, rank;
    double root_forgetting;
    if (!PyArg_ParseTuple(args, "OOOOOnnnd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &size,
                          &outputs, &rank, &root_forgetting) || !check_sizes(size, outputs, rank))
        return NULL;
    const ptrdiff_t lengths[5] = {size * size, outputs * size, rank * size, rank * outputs, rank * size};
    Py_buffer views[5];
    int taken = 0;
    while (taken < 5 && take(objects[taken], &views[taken], lengths[taken], 1)) taken++;
    if (taken == 5) {
        double *factor = views[0].buf, *weights = views[1].buf, *rows = views[2].buf, *targets = views[3].buf;
        double *gain = views[4].buf, predicted[MAX_RANK * 64], *prediction = predicted;
        for (ptrdiff_t start = 0; start < outputs; start += 64) { /* in slices, so that the stack suffices */
            const ptrdiff_t count = outputs - start < 64 ? outputs - start : 64;
            kernel->predict(weights + start * size, rows, prediction, size, count, rank);
            for (ptrdiff_t l = 0; l < rank; l++)
                for (ptrdiff_t o = 0; o < count; o++) targets[l * outputs + start + o] -= prediction[l * count + o];
        }
        kernel->rotate(factor, rows, gain, size, rank, root_forgetting);
        kernel->solve_back(factor, gain, size, rank);
        kernel->correct(weights, gain, targets, size, outputs, rank);
    }
    while (taken > 0) PyBuffer_Release(&views[--taken]);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(predict_doc, "predict(weights, rows, out, size, outputs, rank)\n--\n\nout (rank, outputs) = rows weights^T.");
static PyObject *predict(PyObject *self, PyObject *args) {
    PyObject *weights, *rows, *out;
    Py_ssize_t size, outputs, rank;
    Py_buffer w, z, o;
    if (!PyArg_ParseTuple(args, "OOOnnn", &weights, &rows, &out, &size, &outputs, &rank)) return NULL;
    if (!check_sizes(size, outputs, rank > MAX_RANK ? 1 : rank)) return NULL;
    if (!take(weights, &w, outputs * size, 0)) return NULL;
    if (take(rows, &z, rank * size, 0)) {
        if (take(out, &o, rank * outputs, 1)) {
            kernel->predict(w.buf, z.buf, o.buf, size, outputs, rank);
            PyBuffer_Release(&o);
        }
        PyBuffer_Release(&z);
    }
    PyBuffer_Release(&w);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *solve(PyObject *args, int forward) {
    PyObject *factor, *rows;
    Py_ssize_t size, rank;
    Py_buffer f, z;
    if (!PyArg_ParseTuple(args, "OOnn", &factor, &rows, &size, &rank)) return NULL;
    if (!check_sizes(size, 1, rank > MAX_RANK ? 1 : rank)) return NULL;
    if (!take(factor, &f, size * size, 0)) return NULL;
    if (take(rows, &z, rank * size, 1)) {
        (forward ? kernel->solve_forward : kernel->solve_back)(f.buf, z.buf, size, rank);
        PyBuffer_Release(&z);
    }
    PyBuffer_Release(&f);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(forward_doc, "solve_forward(factor, rows, size, rank)\n--\n\nrows (rank, size) becomes (factor^-T rows^T)^T.");
static PyObject *solve_forward(PyObject *self, PyObject *args) { return solve(args, 1); }

PyDoc_STRVAR(back_doc, "solve_back(factor, rows, size, rank)\n--\n\nrows (rank, size) becomes (factor^-1 rows^T)^T.");
static PyObject *solve_back(PyObject *self, PyObject *args) { return solve(args, 0); }

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
    {"update", update, METH_VARARGS, update_doc},
    {"predict", predict, METH_VARARGS, predict_doc},
    {"solve_forward", solve_forward, METH_VARARGS, forward_doc},
    {"solve_back", solve_back, METH_VARARGS, back_doc},
    {"available", available, METH_NOARGS, available_doc},
    {"use", use, METH_VARARGS, use_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", "Compiled update of a Cholesky factor.", -1, methods};

PyMODINIT_FUNC PyInit__kernel(void) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (supported(&kernels[i])) kernel = &kernels[i];
    PyObject *self = PyModule_Create(&module);
    if (self && (PyModule_AddIntConstant(self, "BLOCK", BLOCK) || PyModule_AddIntConstant(self, "MAX_RANK", MAX_RANK)))
        Py_CLEAR(self);
    return self;
}
