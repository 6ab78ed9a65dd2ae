/* The product of a matrix and a vector.
 *
 * Compiled because a joint state finds all caches cold: each kind of call into NumPy brings code and tables of its own
 * with it, which takes longer than what it is called for.
 */
#include "_buffers.h"

#define LOOPS "_product_loops.h"
#include "_versions.h"

PyDoc_STRVAR(multiply_doc, "multiply(out, start, matrix, vector)\n\n"
             "Write matrix (rows, columns) times vector (columns,) into out from out[start] on; each row must be contiguous.");
static PyObject *multiply(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "OnOO", &objects[0], &start, &objects[1], &objects[2])) return NULL;
    Py_buffer matrix, views[2];
    if (PyObject_GetBuffer(objects[1], &matrix, PyBUF_STRIDED_RO | PyBUF_FORMAT)) return NULL;
    const int plain = matrix.ndim == 2 && matrix.itemsize == 8 && matrix.format && !strcmp(matrix.format, "d") &&
                      (matrix.shape[1] < 2 || matrix.strides[1] == 8) && matrix.strides[0] % 8 == 0;
    double *out = NULL;
    const double *vector = NULL;
    if (!plain || start < 0 || start > PY_SSIZE_T_MAX / 2)
        PyErr_SetString(PyExc_ValueError, "matrix: expected float64 in two dimensions, each row contiguous; start: at least 0");
    else if ((out = take(objects[0], &views[0], "out", start + matrix.shape[0])) &&
             (vector = look_exactly(objects[2], &views[1], "vector", matrix.shape[1])))
        CHOSEN(multiply_rows)(out + start, matrix.buf, vector, matrix.shape[0], matrix.shape[1], matrix.strides[0] / 8);
    release_all(views, vector ? 2 : out ? 1 : 0);
    PyBuffer_Release(&matrix);
    if (!vector) return NULL;
    Py_RETURN_NONE;
}

MODULE(_product, "The product of a matrix and a vector.", {"multiply", multiply, METH_VARARGS, multiply_doc})
