/* Cosines and sines of many phases at once, in vectors; NumPy would call the C library for each number. */
#include "_buffers.h"
#include <math.h>

#define LARGEST_PHASE 1e5 /* up to here the three parts of pi / 2 subtract its multiples exactly */

/* pi / 2 in parts of 33 bits each, and the polynomials of sine and cosine on [-pi/4, pi/4]: fdlibm (Sun, 1993). */
static const double PART_1 = 1.57079632673412561417e+00, PART_2 = 6.07710050630396597660e-11,
                    PART_3 = 2.02226624879595063154e-21, TWO_OVER_PI = 6.36619772367581382433e-01;

INLINE double sine(double r, double z) {
    double p = 1.58969099521155010221e-10;
    p = p * z - 2.50507602534068634195e-08;
    p = p * z + 2.75573137070700676789e-06;
    p = p * z - 1.98412698298579493134e-04;
    p = p * z + 8.33333333332248946124e-03;
    p = p * z - 1.66666666666666324348e-01;
    return r + r * z * p;
}

INLINE double cosine(double z) {
    double p = -1.13596475577881948265e-11;
    p = p * z + 2.08757232129817482790e-09;
    p = p * z - 2.75573143513906633035e-07;
    p = p * z + 2.48015872894767294178e-05;
    p = p * z - 1.38888888888741095749e-03;
    p = p * z + 4.16666666666666019037e-02;
    return 1.0 - (0.5 * z - z * z * p);
}

#define LOOPS "_fourier_loops.h"
#include "_versions.h"

PyDoc_STRVAR(waves_doc, "waves(out, phase, rows, half, scale)\n\n"
             "Write scale * cos and scale * sin of each row of phase (rows, half) into that of out (rows, 2 half). Returns whether\n"
             "all phases are finite.");
static PyObject *waves(PyObject *self, PyObject *args) {
    PyObject *objects[2];
    Py_ssize_t rows, half;
    double scale;
    if (!PyArg_ParseTuple(args, "OOnnd", &objects[0], &objects[1], &rows, &half, &scale)) return NULL;
    if (rows < 0 || half < 1 || (rows && half > PY_SSIZE_T_MAX / 16 / rows)) {
        PyErr_Format(PyExc_ValueError, "(rows, half) is (%zd, %zd)", rows, half);
        return NULL;
    }
    Py_buffer views[2];
    static const char *names[] = {"out", "phase"};
    const ptrdiff_t least[] = {2 * rows * half, rows * half};
    if (!take_all(objects, views, names, least, 2, 1)) return NULL;
    double *out = views[0].buf;
    const double *phase = views[1].buf;
    int finite = 1;
    for (Py_ssize_t row = 0; row < rows; row++) finite &= CHOSEN(fill_row)(out + 2 * half * row, phase + half * row, half, scale);
    release_all(views, 2);
    return PyBool_FromLong(finite);
}

PyDoc_STRVAR(row_doc, "row(out, work, x, mean, scale, frequencies, half, inputs, amplitude)\n\n"
             "Write the features of the standardized input (x - mean) / scale, all of (inputs,), into out (2 half,), each times\n"
             "amplitude; frequencies (half, inputs), work (half + inputs,). Returns whether all phases are finite.");
static PyObject *row(PyObject *self, PyObject *args) {
    PyObject *objects[6];
    Py_ssize_t half, n;
    double amplitude;
    if (!PyArg_ParseTuple(args, "OOOOOOnnd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &objects[5],
                          &half, &n, &amplitude))
        return NULL;
    if (half < 1 || n < 1 || half > PY_SSIZE_T_MAX / 16 / n) {
        PyErr_Format(PyExc_ValueError, "(half, inputs) is (%zd, %zd)", half, n);
        return NULL;
    }
    Py_buffer views[6];
    static const char *names[] = {"out", "work", "x", "mean", "scale", "frequencies"};
    const ptrdiff_t least[] = {2 * half, half + n, n, n, n, half * n};
    if (!take_all(objects, views, names, least, 6, 2)) return NULL;
    double *work = views[1].buf;
    CHOSEN(fill_phases)(work, work + half, views[2].buf, views[3].buf, views[4].buf, views[5].buf, half, n);
    const int finite = CHOSEN(fill_row)(views[0].buf, work, half, amplitude);
    release_all(views, 6);
    return PyBool_FromLong(finite);
}

MODULE(_fourier, "Compiled random Fourier features.",
       {"row", row, METH_VARARGS, row_doc},
       {"waves", waves, METH_VARARGS, waves_doc})
