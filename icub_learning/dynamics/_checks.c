/* Checks on the numbers of joint states, motions and measurements.
 *
 * Compiled because all caches are cold when a joint state arrives: each kind of call into NumPy loads code and tables of
 * its own, which takes longer than the check itself.
 */
#include "_arguments.h"

FUNCTION(select, "!0 @ I0 %",
         "select(out, values, indices, largest)\n\n"
         "Write values[indices] into out (joints,); return whether all of them are finite and at most `largest` in magnitude.\n"
         "values: float64, aligned in memory or not; indices: (joints,) of 8 bytes each.") {
    double *picked = a->array[0];
    const long long *indices = a->array[1];
    Py_buffer *values = &a->opened->views[a->opened->n_views];
    if (PyObject_GetBuffer(a->object[0], values, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) return NULL;
    a->opened->n_views++;
    if (values->itemsize != 8 || !values->format || (strcmp(values->format, "d") && strcmp(values->format, "=d")))
        return PyErr_Format(PyExc_ValueError, "values: expected float64, got format '%s'", values->format ? values->format : "?");
    if (!fits(a->length[0] >= a->length[1], "out and indices")) return NULL;
    const Py_ssize_t count = values->len / 8;
    int inside = 1;
    for (ptrdiff_t j = 0; j < a->length[1]; j++) {
        if (indices[j] < 0 || indices[j] >= count) return PyErr_Format(PyExc_IndexError, "index %lld of %zd values", indices[j], count);
        memcpy(&picked[j], (const char *)values->buf + 8 * indices[j], 8);
        inside &= picked[j] <= a->number[0] && picked[j] >= -a->number[0]; /* false for NaN */
    }
    return PyBool_FromLong(inside);
}

FUNCTION(finite_vectors, "() # n",
         "finite_vectors(vectors, size, largest)\n\n"
         "Return whether each object of a tuple is a float64 array of shape (size,), with no magnitude above its bound in largest (n,).") {
    PyObject *vectors = a->object[0];
    const double *largest = a->array[0];
    if (!fits(SIZE('n') >= PyTuple_GET_SIZE(vectors), "vectors and largest")) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(vectors); i++) {
        give_back(a->opened, 1); /* `largest` stays */
        const Py_buffer *view = open_buffer(a->opened, PyTuple_GET_ITEM(vectors, i), 'd', 0);
        PyErr_Clear(); /* the object may be a list */
        int good = view && view->ndim == 1 && view->len == 8 * a->integer[0];
        for (Py_ssize_t j = 0; good && j < a->integer[0]; j++) good = fabs(((const double *)view->buf)[j]) <= largest[i];
        if (!good) Py_RETURN_FALSE; /* NaN, too */
    }
    Py_RETURN_TRUE;
}

FUNCTION(sensor, "!4m !n m n m: n: % % % % % %",
         "sensor(state, reached, measured, position, m, n, now, frozen_after, moved, saturated_after, lively_from, share) -> int\n\n"
         "One step of SensorFaults: 1 where the outputs measured (m,) are frozen, 2 where one is saturated, else 0. state (4, m): their\n"
         "last values, since when [ns] these, how lively they are, and the largest magnitudes so far; reached (n,): the position at the\n"
         "last change, which `position` (n,) is written to. now [ns], frozen_after and saturated_after [s]; see SensorFaults.") {
    const ptrdiff_t m = SIZE('m'), n = SIZE('n');
    double *last = a->array[0], *since = last + m, *lively = since + m, *largest = lively + m, *reached = a->array[1];
    const double *measured = a->array[2], *position = a->array[3];
    const double now = a->number[0], saturated_after = a->number[3];
    double newest = -INFINITY, way = 0.0;
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
    const int frozen = same && (now - newest) * 1e-9 >= a->number[1] && way > a->number[2];
    for (ptrdiff_t i = 0; i < m && !frozen; i++) {
        if (measured[i] != last[i]) since[i] = now;
        stuck |= measured[i] == last[i] && fabs(measured[i]) == largest[i] && (now - since[i]) * 1e-9 >= saturated_after && lively[i] > a->number[4];
    }
    const int saturated = stuck && !same;
    for (ptrdiff_t i = 0; i < m && !frozen; i++) {
        const int changed = measured[i] != last[i], at_end = !changed && fabs(measured[i]) == largest[i];
        last[i] = measured[i];
        /* An output that may be stuck at its largest magnitude does not show how lively it is. */
        if (!saturated && !(at_end && (now - since[i]) * 1e-9 < 2.0 * saturated_after)) lively[i] += a->number[5] * (changed - lively[i]);
    }
    return PyLong_FromLong(frozen ? 1 : saturated ? 2 : 0);
}

PLAIN_MODULE(_checks, "Checks on the numbers of joint states, motions and measurements.", METHOD(select), METHOD(finite_vectors), METHOD(sensor))
