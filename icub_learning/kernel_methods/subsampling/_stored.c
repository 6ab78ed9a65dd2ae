/* A matrix of numbers between 0 and 1, kept as whole numbers of 24 bits in two parts, and products with it.
 *
 * A number is (256 high + low) / WHOLE, with high of 16 bits and low, signed, of 8. Memory sets the pace of the products: high
 * alone, which is the number to 16 bits, is read in half the time of single precision, both parts in three quarters. What is
 * kept is summed in double, so that nothing but the fixed point is rounded (high alone is summed in single).
 */
#include "_buffers.h"
#include <stdint.h>

#define WHOLE 16776960.0 /* 256 * 65535: 1 is kept exactly, and high alone is a number of 65535ths */
#define GROUP 8          /* rows that stay in the first-level cache between their two products */
#define STRETCH 64       /* columns, a cache line of low: lines of the next group are asked for in between */

#define LOWEST -100.0                  /* logarithm of the least number: smaller ones are the same to 24 bits */
#define LN2 0.69314718055994530942     /* times an integer above -145 it is wrong by less than 2e-15 */
#define ROUNDING 6755399441055744.0    /* 1.5 * 2^52: added, it leaves the nearest integer in the low bits */

#define LOOPS "_stored_loops.h"
#include "_versions.h"

/* Opens a C-contiguous buffer of the given native type with at least `least` numbers; NULL and an error otherwise. */
static void *part(PyObject *object, Py_buffer *view, const char *name, char type, ptrdiff_t least, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags)) return NULL;
    if (!view->format || view->format[0] != type || view->format[1])
        PyErr_Format(PyExc_ValueError, "%s: expected format '%c', got '%s'", name, type, view->format ? view->format : "?");
    else if (view->len / view->itemsize < least)
        PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, needs %zd", name, view->len / view->itemsize, least);
    else
        return view->buf;
    PyBuffer_Release(view);
    return NULL;
}

/* Opens both parts, or none; `low` may be None where it is only read. */
static int parts(PyObject *const *objects, Py_buffer *views, ptrdiff_t least, int flags) {
    if (!part(objects[0], &views[0], "high", 'H', least, flags)) return 0;
    views[1].buf = NULL;
    views[1].obj = NULL;
    if ((objects[1] == Py_None && !flags) || part(objects[1], &views[1], "low", 'b', least, flags)) return 1;
    PyBuffer_Release(&views[0]);
    return 0;
}

static int check_size(Py_ssize_t rows, Py_ssize_t columns) {
    if (rows >= 0 && columns >= 1 && rows <= PY_SSIZE_T_MAX / 8 / columns) return 1;
    PyErr_Format(PyExc_ValueError, "(rows, columns) is (%zd, %zd)", rows, columns);
    return 0;
}

PyDoc_STRVAR(keep_doc, "keep(high, low, numbers, rows, columns)\n--\n\n"
             "Write the float64 numbers (rows, columns), which lie between 0 and 1, into their parts high (uint16) and low (int8).");
PyDoc_STRVAR(keep_decay_doc, "keep_decay(high, low, numbers, rows, columns)\n--\n\n"
             "Replace the float64 numbers (rows, columns) by exp(min(number, 0)), with an error below 2e-14 of it or, where it is\n"
             "tiny, below 1e-43, and write that into its parts high (uint16) and low (int8).");
static PyObject *keep_numbers(PyObject *args, int decay) {
    PyObject *objects[3];
    Py_ssize_t rows, columns;
    if (!PyArg_ParseTuple(args, "OOOnn", &objects[0], &objects[1], &objects[2], &rows, &columns)) return NULL;
    if (!check_size(rows, columns)) return NULL;
    Py_buffer views[3];
    if (!parts(objects, views, rows * columns, PyBUF_WRITABLE)) return NULL;
    double *numbers = buffer(objects[2], &views[2], "numbers", rows * columns, decay ? PyBUF_WRITABLE : 0);
    if (numbers) {
        Py_BEGIN_ALLOW_THREADS
        if (decay) CHOSEN(split_decay)(views[0].buf, views[1].buf, numbers, rows * columns);
        else CHOSEN(split)(views[0].buf, views[1].buf, numbers, rows * columns);
        Py_END_ALLOW_THREADS
        PyBuffer_Release(&views[2]);
    }
    release_all(views, 2);
    if (!numbers) return NULL;
    Py_RETURN_NONE;
}

static PyObject *keep(PyObject *self, PyObject *args) { return keep_numbers(args, 0); }

static PyObject *keep_decay(PyObject *self, PyObject *args) { return keep_numbers(args, 1); }

PyDoc_STRVAR(expand_doc, "expand(out, high, low, rows, columns)\n--\n\n"
             "Write the numbers of the given parts into out, float64 (rows, columns); low may be None.");
static PyObject *expand(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t rows, columns;
    if (!PyArg_ParseTuple(args, "OOOnn", &objects[0], &objects[1], &objects[2], &rows, &columns)) return NULL;
    if (!check_size(rows, columns)) return NULL;
    Py_buffer views[3];
    double *out = take(objects[0], &views[0], "out", rows * columns);
    if (!out) return NULL;
    const int found = parts(objects + 1, views + 1, rows * columns, 0);
    if (found) {
        Py_BEGIN_ALLOW_THREADS
        if (views[2].buf) CHOSEN(join)(out, views[1].buf, views[2].buf, rows * columns);
        else CHOSEN(join_high)(out, views[1].buf, rows * columns);
        Py_END_ALLOW_THREADS
    }
    release_all(views, found ? 3 : 1);
    if (!found) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(add_product_doc, "add_product(total, vector, work, high, low, rows, columns)\n--\n\n"
             "Add K^T (K vector) to total, float64 (columns,) both, for the matrix K (rows, columns) of the given parts. Where low\n"
             "is None, sums of eight rows are in single precision. work: `columns` numbers.");
static PyObject *add_product(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t rows, columns;
    if (!PyArg_ParseTuple(args, "OOOOOnn", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &rows, &columns))
        return NULL;
    if (!check_size(rows, columns)) return NULL;
    Py_buffer views[5];
    static const char *names[] = {"total", "work", "vector"};
    const ptrdiff_t least[] = {columns, columns, columns};
    PyObject *const numbers[] = {objects[0], objects[2], objects[1]};
    if (!take_all(numbers, views, names, least, 3, 2)) return NULL;
    const int found = parts(objects + 3, views + 3, rows * columns, 0);
    if (found) {
        Py_BEGIN_ALLOW_THREADS
        if (views[4].buf) CHOSEN(add_rows)(views[0].buf, views[2].buf, views[3].buf, views[4].buf, rows, columns);
        else CHOSEN(add_high_rows)(views[0].buf, views[2].buf, views[1].buf, views[3].buf, rows, columns);
        Py_END_ALLOW_THREADS
    }
    release_all(views, found ? 5 : 3);
    if (!found) return NULL;
    Py_RETURN_NONE;
}

MODULE(_stored, "Compiled products with a matrix in fixed point.",
       {"keep", keep, METH_VARARGS, keep_doc},
       {"keep_decay", keep_decay, METH_VARARGS, keep_decay_doc},
       {"expand", expand, METH_VARARGS, expand_doc},
       {"add_product", add_product, METH_VARARGS, add_product_doc})
