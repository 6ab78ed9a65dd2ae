/* What the experts of a joint model predict, how sure they are, and their combination.
 *
 * Compiled because an answer finds all caches cold: each kind of call into NumPy brings code and tables of its own with it.
 */
#include "_columns.h"

#define LEAST 1e-300 /* a variance of noise, where there is none */

PyDoc_STRVAR(unlearned_doc,
             "unlearned(out, phi, rows, maps, columns, bodies)\n--\n\n"
             "out (k, T): variances of what k bodies have not learned of rows (T, p) of Y_b; of the first body, of what features phi (d,) leave\n"
             "of them by maps (entries, d or padded). bodies: a tuple of packed triangle, weights (T,) of outputs, variance (T,) of noise.");
static PyObject *unlearned(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 6 || !PyTuple_Check(args[5])) return PyErr_Format(PyExc_TypeError, "unlearned takes 6 arguments, the last a tuple");
    static const char *const names[] = {"out", "phi", "rows", "maps"};
    const ptrdiff_t least[] = {1, 1, 1, 1}, bodies = PyTuple_GET_SIZE(args[5]);
    Py_buffer views[4], body[3];
    if (!take_all(args, views, names, least, 4, 1)) return NULL;
    const ptrdiff_t T = bodies ? length_of(&views[0]) / bodies : 0, stride = views[3].ndim == 2 ? views[3].shape[1] : 0;
    const double *rows = views[2].buf;
    double *out = views[0].buf;
    COLUMNS c;
    if (take_columns(args[4], &c, T)) {
        const ptrdiff_t size = PADDED(c.p), d = length_of(&views[1]);
        const int fit = length_of(&views[0]) == bodies * T && length_of(&views[2]) == T * c.p && (stride == d || stride == PADDED(d)) &&
                        views[3].shape[0] == c.learned;
        const size_t numbers = T + c.learned + T * (c.p + 1) + MAX_RANK * size;
        double *left = fit ? PyMem_RawCalloc(numbers, sizeof(double)) : NULL;
        if (!left) PyErr_SetString(PyExc_ValueError, "out, phi, rows and maps do not fit");
        double *entries = left + T, *z = entries + c.learned, *targets = z + T * c.p;
        if (left) CHOSEN(predict)(views[3].buf, views[1].buf, entries, stride, d, c.learned, 1);
        for (ptrdiff_t i = 0; left && i < bodies && take_tuple(PyTuple_GET_ITEM(args[5], i), body, 3, 0, 0); i++, out += T) {
            for (ptrdiff_t e = 0; e < c.learned; e++) entries[e] = rows[c.entry[e]] - (i ? 0.0 : entries[e]);
            if (length_of(&body[0]) == PACKED(size) && length_of(&body[1]) == T && length_of(&body[2]) == T) {
                make_rows(z, targets, left, 1, &c, body[1].buf);
                leverage_all(body[0].buf, targets + T, out, z, size, c.p, T);
                for (ptrdiff_t t = 0; t < T; t++) out[t] *= ((const double *)body[2].buf)[t];
            } else
                PyErr_SetString(PyExc_ValueError, "a body does not fit the columns");
            release_all(body, 3);
        }
        PyMem_RawFree(left);
        release_all(c.views, 7);
    }
    release_all(views, 4);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(parameters_doc, "parameters(out, start, back, gammas)\n--\n\n"
             "out (k, n) = start (n,) + back (n, p) gamma, for each of a tuple of k gammas (p or padded,).");
static PyObject *parameters(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 4 || !PyTuple_Check(args[3])) return PyErr_Format(PyExc_TypeError, "parameters takes 4 arguments, the last a tuple");
    static const char *const names[] = {"out", "start", "back"};
    const ptrdiff_t least[] = {1, 1, 1}, count = PyTuple_GET_SIZE(args[3]);
    Py_buffer views[3], gamma;
    if (!take_all(args, views, names, least, 3, 1)) return NULL;
    const ptrdiff_t n = length_of(&views[1]), p = length_of(&views[2]) / n;
    const double *start = views[1].buf;
    double *out = views[0].buf;
    if (length_of(&views[0]) != count * n || length_of(&views[2]) != n * p)
        PyErr_SetString(PyExc_ValueError, "out, start, back and gammas do not fit");
    for (ptrdiff_t i = 0; !PyErr_Occurred() && i < count && look(PyTuple_GET_ITEM(args[3], i), &gamma, "gamma", p); i++, out += n) {
        if (length_of(&gamma) == p || length_of(&gamma) == PADDED(p))
            CHOSEN(predict)(views[2].buf, gamma.buf, out, p, p, n, 1);
        else
            PyErr_SetString(PyExc_ValueError, "a gamma does not fit");
        for (ptrdiff_t j = 0; j < n; j++) out[j] += start[j];
        PyBuffer_Release(&gamma);
    }
    release_all(views, 3);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(predict_doc,
             "predict(values, work, phi, tare, maps, recent, scale, rows, parameters)\n--\n\n"
             "values (experts, T), plus tare (T,): rows (T, n) times parameters[0]; maps (2, T, d) times phi (d,), to the second of which rows\n"
             "times parameters[1] is added; weights (1, T, k) times scale phi[places (k,)], where recent is (places, weights); rows times\n"
             "each further row of parameters. Without rigid bodies rows and parameters are None, and maps is (1, T, d). work (d,).");
static PyObject *predict(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 9) return PyErr_Format(PyExc_TypeError, "predict takes 9 arguments, got %zd", n_args);
    const int rigid = args[7] != Py_None, count = rigid ? 7 : 5;
    PyObject *const objects[] = {args[0], args[1], args[2], args[3], args[4], args[7], args[8]};
    static const char *const names[] = {"values", "work", "phi", "tare", "maps", "rows", "parameters"};
    const ptrdiff_t least[] = {1, 1, 1, 1, 1, 1, 1};
    const double scale = PyFloat_AsDouble(args[6]);
    Py_buffer views[7], recent[2];
    if (PyErr_Occurred() || !take_tuple(args[5], recent, 2, 1, 0)) return NULL;
    if (!take_all(objects, views, names, least, count, 2)) {
        release_all(recent, 2);
        return NULL;
    }
    const ptrdiff_t T = length_of(&views[3]), d = length_of(&views[2]), k = length_of(&recent[0]), kinds = rigid ? 2 : 1;
    const ptrdiff_t n = rigid ? length_of(&views[5]) / T : 0, sets = n ? length_of(&views[6]) / n : 0, experts = 2 + sets;
    double *values = views[0].buf, *work = views[1].buf;
    const double *phi = views[2].buf, *tare = views[3].buf;
    const long long *place = recent[0].buf;
    const int fit = length_of(&views[0]) == experts * T && length_of(&views[1]) == d && d >= T && length_of(&views[4]) == kinds * T * d &&
                    length_of(&recent[1]) == T * k && k <= d && are_below(place, k, d) &&
                    (!rigid || (sets >= 2 && length_of(&views[5]) == T * n && length_of(&views[6]) == sets * n));
    if (fit) {
        double *of_features = values + rigid * T;
        CHOSEN(predict)(views[4].buf, phi, of_features, d, d, kinds * T, 1);
        take_share(work, phi, place, k, scale);
        CHOSEN(predict)(recent[1].buf, work, of_features + kinds * T, k, k, T, 1);
        for (ptrdiff_t m = 0; m < sets; m++) { /* P, what SP adds, and the recent bodies */
            double *of_bodies = m == 0 ? values : m == 1 ? work : values + (m + 2) * T;
            CHOSEN(predict)(views[5].buf, (double *)views[6].buf + m * n, of_bodies, n, n, T, 1);
            for (ptrdiff_t t = 0; m == 1 && t < T; t++) values[2 * T + t] += work[t];
        }
        for (ptrdiff_t i = 0; i < experts * T; i++) values[i] += tare[i % T];
    }
    release_all(views, count);
    release_all(recent, 2);
    if (fit) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "values, work, phi, maps, recent, rows and parameters do not fit");
    return NULL;
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

MODULE(_experts, "Compiled predictions of the experts of a joint model.", {"predict", (PyCFunction)(void (*)(void))predict, METH_FASTCALL, predict_doc},
       {"unlearned", (PyCFunction)(void (*)(void))unlearned, METH_FASTCALL, unlearned_doc},
       {"parameters", (PyCFunction)(void (*)(void))parameters, METH_FASTCALL, parameters_doc}, {"combine", combine, METH_VARARGS, combine_doc})
