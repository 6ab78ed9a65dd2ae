/* A ring of the last samples of a stream, and linear combinations of them.
 *
 * Compiled because a joint state finds all caches cold: each kind of call into NumPy brings code and tables of its own
 * with it, which takes longer than what it is called for.
 */
#include "_buffers.h"

PyDoc_STRVAR(push_doc, "push(samples, place, window, joints, position, velocity, weight)\n\n"
             "Write a sample, position and weight * velocity (zeros for None), into samples (2 window, 2, joints) at `place` and at\n"
             "place + window, so that the last `window` samples always lie side by side.");
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

PyDoc_STRVAR(combine_doc, "combine(out, coefficients, samples, first, count, joints, moving)\n\n"
             "Multiply coefficients (3, count; with velocities 2 count) with the `count` samples from `first` on, into out (3, joints).");
static PyObject *combine(PyObject *self, PyObject *args) {
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
    static const char *names[] = {"out", "coefficients", "samples"};
    const ptrdiff_t least[] = {3 * joints, 3 * columns, 2 * joints * (first + count)};
    if (!take_all(objects, views, names, least, 3, 1)) return NULL;
    double *out = views[0].buf;
    const double *coefficients = views[1].buf, *samples = (const double *)views[2].buf + 2 * joints * first;
    memset(out, 0, 3 * joints * sizeof(double));
    for (Py_ssize_t order = 0; order < 3; order++)
        for (Py_ssize_t i = 0; i < columns; i++) {
            const double *values = samples + joints * (moving ? i : 2 * i), factor = coefficients[order * columns + i];
            for (Py_ssize_t j = 0; j < joints; j++) out[order * joints + j] += factor * values[j];
        }
    release_all(views, 3);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"push", push, METH_VARARGS, push_doc},
    {"combine", combine, METH_VARARGS, combine_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_window", "A ring of the last samples of a stream, and linear combinations of them.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__window(void) { return PyModule_Create(&module); }
