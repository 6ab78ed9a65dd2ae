/* The small steps from a joint state to its prediction.
 *
 * Next to nothing is computed here; but a joint state finds all caches cold, and each kind of call into NumPy brings code
 * and tables of its own with it, which takes longer than what it is called for.
 */
#include "_buffers.h"
#include <math.h>

/* One to read from, of exactly `size` numbers. */
static const double *look_exactly(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t size) {
    const double *numbers = look(object, view, name, size);
    if (!numbers || view->len == size * (ptrdiff_t)sizeof(double)) return numbers;
    PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, not %zd", name, view->len / (ptrdiff_t)sizeof(double), size);
    PyBuffer_Release(view);
    return NULL;
}

PyDoc_STRVAR(push_doc, "push(samples, place, window, joints, position, velocity, weight)\n\n"
             "Write a sample, position and weight * velocity (None: zeros), into samples (2 window, 2, joints) at `place` and a\n"
             "window later.");
static PyObject *push(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t place, window, joints;
    double weight;
    if (!PyArg_ParseTuple(args, "OnnnOOd", &objects[0], &place, &window, &joints, &objects[1], &objects[2], &weight))
        return NULL;
    if (joints < 1 || window < 1 || place < 0 || place >= window || window > PY_SSIZE_T_MAX / 64 / joints) {
        PyErr_Format(PyExc_ValueError, "(place, window, joints) is (%zd, %zd, %zd)", place, window, joints);
        return NULL;
    }
    Py_buffer views[3];
    double *samples = take(objects[0], &views[0], "samples", 4 * window * joints);
    if (!samples) return NULL;
    const double *position = look_exactly(objects[1], &views[1], "position", joints);
    if (!position) {
        PyBuffer_Release(&views[0]);
        return NULL;
    }
    const int moving = objects[2] != Py_None;
    const double *velocity = moving ? look_exactly(objects[2], &views[2], "velocity", joints) : NULL;
    if (velocity || !moving) {
        double *sample = samples + 2 * joints * place;
        for (Py_ssize_t j = 0; j < joints; j++) {
            sample[j] = position[j];
            sample[joints + j] = moving ? weight * velocity[j] : 0.0;
        }
        memcpy(sample + 2 * joints * window, sample, 2 * joints * sizeof(double));
    }
    release_all(views, velocity ? 3 : 2);
    if (moving && !velocity) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(read_doc, "read(out, reader, samples, first, count, joints, moving)\n\n"
             "Write reader (3, count or, with velocities, 2 count) times the `count` samples from `first` on into out (3, joints).");
static PyObject *read_motion(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t first, count, joints;
    int moving;
    if (!PyArg_ParseTuple(args, "OOOnnnp", &objects[0], &objects[1], &objects[2], &first, &count, &joints, &moving))
        return NULL;
    if (joints < 1 || first < 0 || count < 0 || first > PY_SSIZE_T_MAX / 64 / joints || count > PY_SSIZE_T_MAX / 64 / joints) {
        PyErr_Format(PyExc_ValueError, "(first, count, joints) is (%zd, %zd, %zd)", first, count, joints);
        return NULL;
    }
    const Py_ssize_t columns = moving ? 2 * count : count;
    Py_buffer views[3];
    static const char *names[] = {"out", "reader", "samples"};
    const ptrdiff_t least[] = {3 * joints, 3 * columns, 2 * joints * (first + count)};
    if (!take_all(objects, views, names, least, 3, 1)) return NULL;
    double *out = views[0].buf;
    const double *reader = views[1].buf, *samples = (const double *)views[2].buf + 2 * joints * first;
    memset(out, 0, 3 * joints * sizeof(double));
    for (Py_ssize_t order = 0; order < 3; order++)
        for (Py_ssize_t i = 0; i < columns; i++) {
            const double *values = samples + joints * (moving ? i : 2 * i), factor = reader[order * columns + i];
            for (Py_ssize_t j = 0; j < joints; j++) out[order * joints + j] += factor * values[j];
        }
    release_all(views, 3);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pick_doc, "pick(out, values, indices, largest)\n\n"
             "Write values[indices] into out (joints,); whether all of these are finite and of magnitude at most `largest`.\n"
             "values: float64, aligned in memory or not; indices: (joints,) of 8 bytes each.");
static PyObject *pick(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    double largest;
    if (!PyArg_ParseTuple(args, "OOOd", &objects[0], &objects[1], &objects[2], &largest)) return NULL;
    Py_buffer values, indices, out;
    if (PyObject_GetBuffer(objects[1], &values, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) return NULL;
    if (values.itemsize != 8 || !values.format || (strcmp(values.format, "d") && strcmp(values.format, "=d"))) {
        PyErr_Format(PyExc_ValueError, "values: expected float64, got format '%s'", values.format ? values.format : "?");
        PyBuffer_Release(&values);
        return NULL;
    }
    if (PyObject_GetBuffer(objects[2], &indices, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
        PyBuffer_Release(&values);
        return NULL;
    }
    const Py_ssize_t joints = indices.len / 8, count = values.len / 8;
    double *picked = NULL;
    int inside = 1, known = indices.itemsize == 8;
    if (!known) PyErr_SetString(PyExc_ValueError, "indices: expected integers of 8 bytes");
    if (known) picked = take(objects[0], &out, "out", joints);
    for (Py_ssize_t j = 0; picked && known && j < joints; j++) {
        const long long index = ((const long long *)indices.buf)[j];
        if ((known = index >= 0 && index < count)) {
            memcpy(&picked[j], (const char *)values.buf + 8 * index, 8);
            inside &= picked[j] <= largest && picked[j] >= -largest; /* false for NaN */
        } else
            PyErr_Format(PyExc_IndexError, "index %lld of %zd values", index, count);
    }
    if (picked) PyBuffer_Release(&out);
    PyBuffer_Release(&indices);
    PyBuffer_Release(&values);
    return picked && known ? PyBool_FromLong(inside) : NULL;
}

#define LOOPS "_cycle_loops.h"
#include "_versions.h"

PyDoc_STRVAR(linear_doc, "linear(out, start, matrix, vector)\n\n"
             "Write matrix (rows, columns), whose rows lie whole in memory, times vector (columns,) into out from out[start] on.");
static PyObject *linear(PyObject *self, PyObject *args) {
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
        PyErr_SetString(PyExc_ValueError, "matrix: expected float64 in two dimensions, rows whole; start: at least 0");
    else if ((out = take(objects[0], &views[0], "out", start + matrix.shape[0])) &&
             (vector = look_exactly(objects[2], &views[1], "vector", matrix.shape[1])))
        CHOSEN(multiply)(out + start, matrix.buf, vector, matrix.shape[0], matrix.shape[1], matrix.strides[0] / 8);
    release_all(views, vector ? 2 : out ? 1 : 0);
    PyBuffer_Release(&matrix);
    if (!vector) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(plain_doc, "plain(vectors, size)\n\n"
             "Whether each of a tuple of objects is an array of `size` finite float64.");
static PyObject *plain(PyObject *self, PyObject *args) {
    PyObject *vectors;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "O!n", &PyTuple_Type, &vectors, &size)) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(vectors); i++) {
        Py_buffer view;
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(vectors, i), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
            PyErr_Clear(); /* a list, say */
            Py_RETURN_FALSE;
        }
        int good = view.ndim == 1 && view.len == 8 * size && view.format && !strcmp(view.format, "d");
        for (Py_ssize_t j = 0; good && j < size; j++) good = isfinite(((const double *)view.buf)[j]);
        PyBuffer_Release(&view);
        if (!good) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

MODULE(_cycle, "Compiled steps to a prediction.",
       {"push", push, METH_VARARGS, push_doc},
       {"read", read_motion, METH_VARARGS, read_doc},
       {"plain", plain, METH_VARARGS, plain_doc},
       {"pick", pick, METH_VARARGS, pick_doc},
       {"linear", linear, METH_VARARGS, linear_doc})
