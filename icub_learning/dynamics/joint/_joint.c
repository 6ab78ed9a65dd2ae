/* Loops of a joint process over the entries of Y_b that are not zero by structure: entry e is at output[e], place[e].
 *
 * Compiled because NumPy would copy what it picks, or call BLAS for each output.
 */
#include "_buffers.h"
#include <math.h>

#define LEAST 1e-300 /* a variance of noise, where there is none */

/* Opens an array of integers of 8 bytes; NULL and an error otherwise. */
static const long long *look_integers(PyObject *object, Py_buffer *view, Py_ssize_t *count) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) return NULL;
    *count = view->len / 8;
    if (view->itemsize == 8 && view->format && strchr("lq", view->format[0])) return view->buf;
    PyErr_SetString(PyExc_ValueError, "outputs and places: expected integers of 8 bytes");
    PyBuffer_Release(view);
    return NULL;
}

/* Opens `output` and `place`, each number below its limit. */
static int look_entries(PyObject *const *objects, Py_buffer *views, Py_ssize_t *count, Py_ssize_t outputs, Py_ssize_t places) {
    Py_ssize_t others;
    const long long *output = look_integers(objects[0], &views[0], count);
    const long long *place = output ? look_integers(objects[1], &views[1], &others) : NULL;
    if (output && !place) PyBuffer_Release(&views[0]);
    if (!place) return 0;
    int fit = others == *count;
    for (Py_ssize_t e = 0; fit && e < *count; e++)
        fit = output[e] >= 0 && output[e] < outputs && place[e] >= 0 && place[e] < places;
    if (fit) return 1;
    PyErr_SetString(PyExc_IndexError, "an entry is outside of the columns");
    release_all(views, 2);
    return 0;
}

PyDoc_STRVAR(rows_doc, "rows(z, target, left, output, place, root, offset, weights)\n\n"
             "Rows z (k T, p) and targets (k T,) of the second factor from residuals left (k, T + entries): row t of Y_b times root\n"
             "(p, p), lower triangular, and y - Y_b offset (p,), both times weights (T,).");
static PyObject *rows(PyObject *self, PyObject *args) {
    PyObject *o[8];
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7])) return NULL;
    PyObject *const objects[] = {o[0], o[1], o[2], o[5], o[6], o[7]};
    static const char *const names[] = {"z", "target", "left", "root", "offset", "weights"};
    const ptrdiff_t least[] = {0, 0, 0, 0, 0, 1};
    Py_buffer views[6], entries[2];
    if (!take_all(objects, views, names, least, 6, 2)) return NULL;
    const ptrdiff_t T = length_of(&views[5]), p = length_of(&views[4]), k = length_of(&views[1]) / T;
    Py_ssize_t count;
    int fit = look_entries(&o[3], entries, &count, T, p);
    if (fit && (length_of(&views[0]) != k * T * p || length_of(&views[1]) != k * T || length_of(&views[2]) != k * (T + count) ||
                length_of(&views[3]) != p * p)) {
        PyErr_SetString(PyExc_ValueError, "z, target, left and root do not fit");
        release_all(entries, 2);
        fit = 0;
    }
    if (fit) {
        const long long *output = entries[0].buf, *place = entries[1].buf;
        const double *left = views[2].buf, *root = views[3].buf, *offset = views[4].buf, *weights = views[5].buf;
        double *z = views[0].buf, *target = views[1].buf;
        memset(z, 0, k * T * p * sizeof(double));
        for (ptrdiff_t l = 0; l < k; l++, left += T + count, z += T * p, target += T) {
            for (ptrdiff_t t = 0; t < T; t++) target[t] = weights[t] * left[t];
            for (ptrdiff_t e = 0; e < count; e++) {
                const double value = weights[output[e]] * left[T + e], *of_place = root + place[e] * p;
                double *row = z + output[e] * p;
                for (ptrdiff_t j = 0; j <= place[e]; j++) row[j] += value * of_place[j];
                target[output[e]] -= value * offset[place[e]];
            }
        }
        release_all(entries, 2);
    }
    release_all(views, 6);
    if (!fit) return NULL;
    Py_RETURN_NONE;
}

enum { AT_ONCE = 4 };

/* to -= value[0] a + value[1] b + value[2] c + value[3] e. */
static void add(double *restrict to, const double *value, const double *restrict a, const double *restrict b,
                const double *restrict c, const double *restrict e, ptrdiff_t d) {
    const double v0 = value[0], v1 = value[1], v2 = value[2], v3 = value[3];
    for (ptrdiff_t j = 0; j < d; j++) to[j] -= (v0 * a[j] + v1 * b[j]) + (v2 * c[j] + v3 * e[j]);
}

PyDoc_STRVAR(maps_doc, "maps(both, learned, output, place, beta)\n\n"
             "both (2, T, d): weights of features alone, and beside Y_b beta; from learned (T + entries, >= d), those of y and of the\n"
             "entries of Y_b.");
static PyObject *maps(PyObject *self, PyObject *args) {
    PyObject *o[5];
    if (!PyArg_ParseTuple(args, "OOOOO", &o[0], &o[1], &o[2], &o[3], &o[4])) return NULL;
    PyObject *const objects[] = {o[0], o[1], o[4]};
    static const char *const names[] = {"both", "learned", "beta"};
    const ptrdiff_t least[] = {2, 1, 1};
    Py_buffer views[3], entries[2];
    if (!take_all(objects, views, names, least, 3, 1)) return NULL;
    Py_ssize_t count = 0;
    const ptrdiff_t T = views[0].ndim == 3 ? views[0].shape[1] : 0, d = T ? views[0].shape[2] : 0;
    const ptrdiff_t stride = views[1].ndim == 2 ? views[1].shape[1] : 0;
    int fit = look_entries(&o[2], entries, &count, T, length_of(&views[2]));
    if (fit && (!T || views[0].shape[0] != 2 || stride < d || views[1].shape[0] != T + count)) {
        PyErr_SetString(PyExc_ValueError, "both and learned do not fit");
        release_all(entries, 2);
        fit = 0;
    }
    if (fit) {
        const long long *output = entries[0].buf, *place = entries[1].buf;
        const double *learned = views[1].buf, *beta = views[2].buf;
        double *alone = views[0].buf, *beside = alone + T * d;
        for (ptrdiff_t t = 0; t < T; t++) {
            memcpy(alone + t * d, learned + t * stride, d * sizeof(double));
            memcpy(beside + t * d, learned + t * stride, d * sizeof(double));
        }
        for (ptrdiff_t e = 0, next; e < count; e = next) { /* up to four entries of an output at once, so that it is written once */
            double value[AT_ONCE] = {0.0};
            const double *from[AT_ONCE] = {NULL};
            for (next = e; next < count && next < e + AT_ONCE && output[next] == output[e]; next++) {
                value[next - e] = beta[place[next]];
                from[next - e] = learned + (T + next) * stride;
            }
            for (ptrdiff_t unused = next - e; unused < AT_ONCE; unused++) from[unused] = from[0];
            add(beside + output[e] * d, value, from[0], from[1], from[2], from[3], d);
        }
        release_all(entries, 2);
    }
    release_all(views, 3);
    if (!fit) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(combine_doc, "combine(out, weights, values, unlearned, noise, experts)\n\n"
             "out (k, T): means of values (experts, T) by weights (k, experts, T) times confidences noise / (noise + unlearned), noise (T,),\n"
             "unlearned (experts, T).");
static PyObject *combine(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t experts;
    if (!PyArg_ParseTuple(args, "OOOOOn", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &experts)) return NULL;
    static const char *const names[] = {"out", "weights", "values", "unlearned", "noise"};
    const ptrdiff_t least[] = {1, 1, 1, 1, 1};
    Py_buffer views[5];
    if (!take_all(objects, views, names, least, 5, 1)) return NULL;
    const ptrdiff_t T = length_of(&views[4]), k = length_of(&views[0]) / T;
    const int fit = experts > 0 && length_of(&views[0]) == k * T && length_of(&views[1]) == k * experts * T &&
                    length_of(&views[2]) == experts * T && length_of(&views[3]) == experts * T;
    double *out = views[0].buf;
    const double *weights = views[1].buf, *values = views[2].buf, *unlearned = views[3].buf, *noise = views[4].buf;
    for (ptrdiff_t l = 0; fit && l < k; l++, weights += experts * T)
        for (ptrdiff_t t = 0; t < T; t++) {
            double sum = 0.0, mean = 0.0;
            for (ptrdiff_t i = 0; i < experts; i++) {
                /* Before noise and motion are known, and where there is no noise, all are as confident. */
                const double confidence = (noise[t] + LEAST) / (noise[t] + unlearned[i * T + t] + LEAST);
                const double weight = weights[i * T + t] * (isfinite(noise[t]) ? confidence : 1.0);
                sum += weight;
                mean += weight * values[i * T + t];
            }
            out[l * T + t] = mean / sum;
        }
    release_all(views, 5);
    if (fit) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "out, weights, values and unlearned do not fit");
    return NULL;
}

static PyMethodDef methods[] = {{"rows", rows, METH_VARARGS, rows_doc},
                                {"maps", maps, METH_VARARGS, maps_doc},
                                {"combine", combine, METH_VARARGS, combine_doc},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_joint", "Compiled loops of a joint process.", -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__joint(void) { return PyModule_Create(&module); }
