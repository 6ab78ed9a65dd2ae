/* The inner loops of an aggregate of linear experts on shared random features.
 *
 * Compiled because a learner that wakes for each sample finds all caches cold: half a dozen kinds of NumPy calls take longer
 * than their arithmetic.
 */
#include "_buffers.h"
#include <math.h>

#define LOOPS "_experts_loops.h"
#include "_versions.h"

/* Whether sizes are positive and their product is small enough for no size in bytes to overflow. */
static int check_sizes(const Py_ssize_t *sizes, int count) {
    Py_ssize_t product = 1;
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 1 || sizes[i] > PY_SSIZE_T_MAX / 64 / product) {
            PyErr_Format(PyExc_ValueError, "size %d is %zd", i, sizes[i]);
            return 0;
        }
        product *= sizes[i];
    }
    return 1;
}

PyDoc_STRVAR(judge_doc,
             "judge(errors, weights, rows, rigid, measured, ages, scales, learners, outputs, features)\n\n"
             "Write errors (ages, experts, outputs), predicted minus measured, and return whether all are finite.\n"
             "weights (scales, ages, learners, outputs, features), rows (scales, features), measured (outputs,). rigid (ages, outputs) or\n"
             "None: what the first expert predicts, of which every second learner of a scale predicts the rest.");
static PyObject *judge(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t sizes[5];
    if (!PyArg_ParseTuple(args, "OOOOOnnnnn", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &sizes[0], &sizes[1],
                          &sizes[2], &sizes[3], &sizes[4]) ||
        !check_sizes(sizes, 5))
        return NULL;
    const ptrdiff_t ages = sizes[0], scales = sizes[1], learners = sizes[2], outputs = sizes[3], features = sizes[4];
    const int has_rigid = objects[3] != Py_None;
    PyObject *const buffers[] = {objects[0], objects[1], objects[2], objects[4], objects[3]};
    static const char *const names[] = {"errors", "weights", "rows", "measured", "rigid"};
    const ptrdiff_t least[] = {ages * (has_rigid + scales * learners) * outputs, scales * ages * learners * outputs * features,
                               scales * features, outputs, ages * outputs};
    Py_buffer views[5];
    const int count = has_rigid ? 5 : 4;
    if (!take_all(buffers, views, names, least, count, 1)) return NULL;
    const int finite = CHOSEN(judge)(views[0].buf, views[1].buf, views[2].buf, has_rigid ? views[4].buf : NULL, views[3].buf, ages,
                                     scales, learners, outputs, features);
    release_all(views, count);
    return PyBool_FromLong(finite);
}

PyDoc_STRVAR(weigh_doc,
             "weigh(out, tables, errors, ages, rows, experts, outputs)\n\n"
             "out (ages, rows, outputs): errors (ages, experts, outputs) under each table of weights, tables (ages, rows, experts, outputs).");
static PyObject *weigh(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t sizes[4];
    if (!PyArg_ParseTuple(args, "OOOnnnn", &objects[0], &objects[1], &objects[2], &sizes[0], &sizes[1], &sizes[2], &sizes[3]) ||
        !check_sizes(sizes, 4))
        return NULL;
    const ptrdiff_t ages = sizes[0], rows = sizes[1], experts = sizes[2], outputs = sizes[3];
    static const char *const names[] = {"out", "tables", "errors"};
    const ptrdiff_t least[] = {ages * rows * outputs, ages * rows * experts * outputs, ages * experts * outputs};
    Py_buffer views[3];
    if (!take_all(objects, views, names, least, 3, 1)) return NULL;
    for (ptrdiff_t age = 0; age < ages; age++)
        CHOSEN(weigh)((double *)views[0].buf + age * rows * outputs, (double *)views[1].buf + age * rows * experts * outputs,
                      (double *)views[2].buf + age * experts * outputs, rows, experts, outputs);
    release_all(views, 3);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(combine_doc,
             "combine(out, shares, weights, scales, learners, outputs, half, stride)\n\n"
             "out (outputs, 2, scales, half): for each scale the sum of the learners' weights, each times its share.\n"
             "shares (scales, learners, outputs); weights (scales, learners, outputs, stride), of which the first 2 half count.");
static PyObject *combine(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t sizes[5];
    if (!PyArg_ParseTuple(args, "OOOnnnnn", &objects[0], &objects[1], &objects[2], &sizes[0], &sizes[1], &sizes[2], &sizes[3],
                          &sizes[4]) ||
        !check_sizes(sizes, 5))
        return NULL;
    const ptrdiff_t scales = sizes[0], learners = sizes[1], outputs = sizes[2], half = sizes[3], stride = sizes[4];
    if (stride < 2 * half) return PyErr_Format(PyExc_ValueError, "stride is %zd, below 2 * %zd", stride, half);
    static const char *const names[] = {"out", "shares", "weights"};
    const ptrdiff_t least[] = {outputs * 2 * scales * half, scales * learners * outputs, scales * learners * outputs * stride};
    Py_buffer views[3];
    if (!take_all(objects, views, names, least, 3, 1)) return NULL;
    CHOSEN(combine)(views[0].buf, views[1].buf, views[2].buf, scales, learners, outputs, half, stride);
    release_all(views, 3);
    Py_RETURN_NONE;
}

MODULE(_experts, "Inner loops of an aggregate of linear experts.", {"judge", judge, METH_VARARGS, judge_doc},
       {"weigh", weigh, METH_VARARGS, weigh_doc}, {"combine", combine, METH_VARARGS, combine_doc})
