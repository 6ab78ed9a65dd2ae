/* Checks on the numbers of joint states, motions and measurements.
 *
 * Compiled because a joint state finds all caches cold: each kind of call into NumPy brings code and tables of its own
 * with it, which takes longer than what it is called for.
 */
#include "_buffers.h"
#include <math.h>

PyDoc_STRVAR(select_doc, "select(out, values, indices, largest)\n\n"
             "Write values[indices] into out (joints,); return whether all of them are finite and at most `largest` in magnitude.\n"
             "values: float64, aligned in memory or not; indices: (joints,) of 8 bytes each.");
static PyObject *select_bounded(PyObject *self, PyObject *args) {
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

PyDoc_STRVAR(finite_vectors_doc, "finite_vectors(vectors, size)\n\n"
             "Return whether each object of a tuple is an array of shape (size,) of finite float64.");
static PyObject *finite_vectors(PyObject *self, PyObject *args) {
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

PyDoc_STRVAR(sensor_doc, "sensor(state, reached, measured, position, m, n, now, frozen_after, moved, saturated_after, lively_from, share) -> int\n\n"
             "One step of SensorFaults: 1 where the outputs measured (m,) are frozen, 2 where one is saturated, else 0. state (4, m): their\n"
             "last values, since when [ns] these, how lively they are, and the largest magnitudes so far; reached (n,): the position at the\n"
             "last change, which `position` (n,) is written to. now [ns], frozen_after and saturated_after [s]; see SensorFaults.");
static PyObject *sensor(PyObject *self, PyObject *args) {
    PyObject *o[4];
    Py_ssize_t m, n;
    double now, frozen_after, moved, saturated_after, lively_from, share, newest = -INFINITY, way = 0.0;
    if (!PyArg_ParseTuple(args, "OOOOnndddddd", &o[0], &o[1], &o[2], &o[3], &m, &n, &now, &frozen_after, &moved, &saturated_after, &lively_from, &share))
        return NULL;
    Py_buffer v[4];
    static const char *names[] = {"state", "reached", "measured", "position"};
    const ptrdiff_t least[] = {4 * m, n, m, n};
    if (!take_all(o, v, names, least, 4, 2)) return NULL;
    double *last = v[0].buf, *since = last + m, *lively = since + m, *largest = lively + m, *reached = v[1].buf;
    const double *measured = v[2].buf, *position = v[3].buf;
    int same = 1, stuck = 0;
    for (ptrdiff_t i = 0; i < m; i++) {
        same &= measured[i] == last[i];
        newest = fmax(newest, since[i]);
        largest[i] = fmax(largest[i], fabs(measured[i]));
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        way = fmax(way, fabs(position[j] - reached[j]));
        if (!same) reached[j] = position[j];
    }
    const int frozen = same && (now - newest) * 1e-9 >= frozen_after && way > moved;
    for (ptrdiff_t i = 0; i < m && !frozen; i++) {
        if (measured[i] != last[i]) since[i] = now;
        stuck |= measured[i] == last[i] && fabs(measured[i]) == largest[i] && (now - since[i]) * 1e-9 >= saturated_after && lively[i] > lively_from;
    }
    const int saturated = stuck && !same;
    for (ptrdiff_t i = 0; i < m && !frozen; i++) {
        const int changed = measured[i] != last[i], at_end = !changed && fabs(measured[i]) == largest[i];
        last[i] = measured[i];
        /* What may be stuck tells nothing. */
        if (!saturated && !(at_end && (now - since[i]) * 1e-9 < 2.0 * saturated_after)) lively[i] += share * (changed - lively[i]);
    }
    release_all(v, 4);
    return PyLong_FromLong(frozen ? 1 : saturated ? 2 : 0);
}

PLAIN_MODULE(_checks, "Checks on the numbers of joint states, motions and measurements.",
             {"select", select_bounded, METH_VARARGS, select_doc}, {"finite_vectors", finite_vectors, METH_VARARGS, finite_vectors_doc},
             {"sensor", sensor, METH_VARARGS, sensor_doc})
