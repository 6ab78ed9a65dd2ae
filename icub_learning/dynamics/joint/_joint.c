/* One sample of a joint process in one call, and its loops over the entries of Y_b.
 *
 * Compiled because NumPy would copy what it picks, or call BLAS for each output, and because other threads may run meanwhile.
 */
#include "recursive/_learning.h"

#define LEAST 1e-300 /* a variance of noise, where there is none */

/* BaseColumns.memory: Y_b (T, p) is the sum of scale[e] times the learned entry source[e] at row output[e], column place[e]. */
typedef struct {
    Py_buffer views[7];
    ptrdiff_t terms, learned, T, p;
    const long long *output, *place, *source, *entry;
    const double *scale, *root, *offset; /* root (p, p), lower triangular, offset (p,) */
} COLUMNS;

/* Opens the columns for T outputs. */
static int take_columns(PyObject *tuple, COLUMNS *c, ptrdiff_t T) {
    if (!take_tuple(tuple, c->views, 7, 4, 0)) return 0;
    c->entry = c->views[0].buf, c->output = c->views[1].buf, c->place = c->views[2].buf, c->source = c->views[3].buf;
    c->scale = c->views[4].buf, c->root = c->views[5].buf, c->offset = c->views[6].buf;
    c->learned = length_of(&c->views[0]), c->terms = length_of(&c->views[1]), c->T = T, c->p = length_of(&c->views[6]);
    if (length_of(&c->views[2]) == c->terms && length_of(&c->views[3]) == c->terms && length_of(&c->views[4]) == c->terms &&
        length_of(&c->views[5]) == c->p * c->p && are_below(c->entry, c->learned, T * c->p) && are_below(c->output, c->terms, T) &&
        are_below(c->place, c->terms, c->p) && are_below(c->source, c->terms, c->learned))
        return 1;
    PyErr_SetString(PyExc_ValueError, "an entry is outside of the columns, or arrays of the columns do not fit");
    release_all(c->views, 7);
    return 0;
}

/* Rows z (k T, p) and targets (k T,) of the second factor from residuals left (k, T + learned). */
static void make_rows(double *z, double *target, const double *left, ptrdiff_t k, const COLUMNS *c, const double *weights) {
    memset(z, 0, k * c->T * c->p * sizeof(double));
    for (ptrdiff_t l = 0; l < k; l++, left += c->T + c->learned, z += c->T * c->p, target += c->T) {
        for (ptrdiff_t t = 0; t < c->T; t++) target[t] = weights[t] * left[t];
        for (ptrdiff_t e = 0; e < c->terms; e++) {
            const ptrdiff_t place = c->place[e];
            const double value = weights[c->output[e]] * c->scale[e] * left[c->T + c->source[e]], *of_place = c->root + place * c->p;
            double *row = z + c->output[e] * c->p;
            for (ptrdiff_t j = 0; j <= place; j++) row[j] += value * of_place[j];
            target[c->output[e]] -= value * c->offset[place];
        }
    }
}

PyDoc_STRVAR(rows_doc, "rows(z, target, left, columns, weights)\n--\n\n"
             "Rows z (k T, p) and targets (k T,) of the second factor from residuals left (k, T + learned) of the first: Y_b times root,\n"
             "and y - Y_b offset, both times weights (T,). columns: BaseColumns.memory.");
static PyObject *rows(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 5) return PyErr_Format(PyExc_TypeError, "rows takes 5 arguments, got %zd", n_args);
    PyObject *const objects[] = {args[0], args[1], args[2], args[4]};
    static const char *const names[] = {"z", "target", "left", "weights"};
    const ptrdiff_t least[] = {0, 0, 0, 1};
    Py_buffer views[4];
    COLUMNS c;
    if (!take_all(objects, views, names, least, 4, 2)) return NULL;
    const ptrdiff_t T = length_of(&views[3]), k = length_of(&views[1]) / T;
    int fit = take_columns(args[3], &c, T);
    if (fit) {
        fit = length_of(&views[0]) == k * T * c.p && length_of(&views[1]) == k * T && length_of(&views[2]) == k * (T + c.learned);
        if (fit)
            make_rows(views[0].buf, views[1].buf, views[2].buf, k, &c, views[3].buf);
        else
            PyErr_SetString(PyExc_ValueError, "z, target and left do not fit");
        release_all(c.views, 7);
    }
    release_all(views, 4);
    if (!fit) return NULL;
    Py_RETURN_NONE;
}

/* maps (2, T, d): weights of features alone, and beside Y_b beta with beta = offset + root gamma; from learned (T + entries, stride), to
   which the product of innovation (T + entries,) and gain (stride,) is added first, where gain is not NULL. work (p,). */
static void make_maps(double *maps, double *learned, const double *gamma, const double *gain, const double *innovation, double *work,
                      const COLUMNS *c, ptrdiff_t d, ptrdiff_t stride) {
    double *beta = work;
    for (ptrdiff_t i = 0; i < c->p; i++) {
        beta[i] = c->offset[i];
        for (ptrdiff_t j = 0; j <= i; j++) beta[i] += c->root[i * c->p + j] * gamma[j];
    }
    for (ptrdiff_t r = 0, e = 0; r < c->T + c->learned; r++, learned += stride) { /* each row is read and written once */
        if (gain) CHOSEN(add)(learned, gain, innovation[r], d);
        if (r < c->T) {
            memcpy(maps + r * d, learned, d * sizeof(double));
            memcpy(maps + (c->T + r) * d, learned, d * sizeof(double));
        }
        for (; r >= c->T && e < c->terms && c->source[e] == r - c->T; e++)
            CHOSEN(add)(maps + (c->T + c->output[e]) * d, learned, -beta[c->place[e]] * c->scale[e], d);
    }
}

/* One sample, see `learn`; due[0] coordinates of the features from first[0] on are refilled, due[1] of the parameters. */
static void learn_sample(LEARNER *features, LEARNER *rigid, const COLUMNS *c, const double *phi, const double *rows, const double *y,
                         const double *weights, double *estimates, double *maps, double *memory, const Py_ssize_t *first, const Py_ssize_t *due,
                         double forgetting, double root) {
    const ptrdiff_t d = features->features, n = features->outputs, T = c->T, k = 1 + due[0], count = k * T + due[1];
    double *z = memory, *targets = z + k * d, *left = targets + k * n, *of_rigid = left + k * n, *goals = of_rigid + count * c->p;
    double *errors = goals + count, *leverages = errors + T;
    for (ptrdiff_t j = 0; j < d; j++) z[j] = root * phi[j];
    for (ptrdiff_t t = 0; t < T; t++) targets[t] = root * y[t];
    for (ptrdiff_t e = 0; e < c->learned; e++) targets[T + e] = root * rows[c->entry[e]];
    refill(features, z + d, targets + n, first[0], due[0], forgetting);
    const double *gain = NULL, *innovation = features->work + 2 * MAX_RANK * features->size;
    if (k == 1) { /* the weights follow below, together with what predictions make of them */
        gain = solve_rows(features->triangle, features->weights, features->work, z, targets, features->size, d, n, 1, forgetting);
        residuals(left, features->work, z, features->size, d, n, 1);
    } else
        absorb_all(features->triangle, features->weights, features->work, left, z, targets, features->size, d, n, k, forgetting);
    make_rows(of_rigid, goals, left, k, c, weights);
    refill(rigid, of_rigid + k * T * c->p, goals + k * T, first[1], due[1], forgetting);
    /* The sample's own rows come first, then those of the features' prior. */
    observe_all(rigid->triangle, rigid->weights, rigid->work, errors, leverages, of_rigid, goals, rigid->size, c->p, 1, T, count,
                forgetting);
    for (ptrdiff_t t = 0; t < T; t++) {
        const double error = errors[t] / (root * weights[t]);
        estimates[t] = error * error / (1.0 + leverages[t] / (root * root));
    }
    make_maps(maps, features->weights, rigid->weights, gain, innovation, leverages + T, c, d, features->size);
}

PyDoc_STRVAR(learn_doc,
             "learn(features, rigid, columns, estimates, maps, phi, rows, y, weights, first, due, first_rigid, due_rigid, forgetting, root)\n--\n\n"
             "One sample phi (d,), rows (T, p) of Y_b, y (T,), which counts root^2 times, into both factors; estimates (T,): what it tells of\n"
             "the variance of the noise; maps (2, T, d): see `maps`. features and rigid: RecursiveLeastSquares.memory, and which coordinates are refilled.");
static PyObject *learn(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 15) return PyErr_Format(PyExc_TypeError, "learn takes 15 arguments, got %zd", n_args);
    const Py_ssize_t first[] = {PyLong_AsSsize_t(args[9]), PyLong_AsSsize_t(args[11])};
    const Py_ssize_t due[] = {PyLong_AsSsize_t(args[10]), PyLong_AsSsize_t(args[12])};
    const double forgetting = PyFloat_AsDouble(args[13]), root = PyFloat_AsDouble(args[14]);
    Py_buffer views[6];
    static const char *const names[] = {"estimates", "maps", "phi", "rows", "y", "weights"};
    const ptrdiff_t least[] = {1, 1, 1, 1, 1, 1};
    if (PyErr_Occurred() || !take_all(args + 3, views, names, least, 6, 2)) return NULL;
    const ptrdiff_t T = length_of(&views[0]);
    COLUMNS c;
    LEARNER features, rigid;
    int done = 0;
    if (take_columns(args[2], &c, T)) {
        if (take_learner(args[0], &features, T + c.learned)) {
            if (take_learner(args[1], &rigid, 1)) {
                const ptrdiff_t k = 1 + due[0], count = k * T + due[1];
                done = length_of(&views[2]) == features.features && length_of(&views[3]) == T * c.p && length_of(&views[4]) == T &&
                       length_of(&views[5]) == T && length_of(&views[1]) == 2 * T * features.features && rigid.features == c.p && first[0] >= 0 && first[1] >= 0 && due[0] >= 0 &&
                       due[1] >= 0 && due[0] <= features.features && due[1] <= rigid.features;
                if (!done) PyErr_SetString(PyExc_ValueError, "the sample does not fit the learners");
                const size_t numbers = k * (features.features + 2 * features.outputs) + count * (c.p + 1) + 2 * T + c.p;
                double *memory = done ? PyMem_RawMalloc(numbers * sizeof(double)) : NULL;
                if (done && !memory) PyErr_NoMemory();
                done = memory != NULL;
                PyThreadState *thread = done && features.size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
                if (done)
                    learn_sample(&features, &rigid, &c, views[2].buf, views[3].buf, views[4].buf, views[5].buf, views[0].buf,
                                 views[1].buf, memory, first, due, forgetting, root);
                if (thread) PyEval_RestoreThread(thread);
                PyMem_RawFree(memory);
                release_all(rigid.views, 6);
            }
            release_all(features.views, 6);
        }
        release_all(c.views, 7);
    }
    release_all(views, 6);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(maps_doc, "maps(both, work, learned, columns, gamma)\n--\n\n"
             "both (2, T, d): weights of features alone, and beside Y_b beta, beta = offset + root gamma (p,); work (p,); from learned (T + entries, >= d), those of y and of the\n"
             "entries of Y_b that are learned. columns: BaseColumns.memory.");
static PyObject *maps(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 5) return PyErr_Format(PyExc_TypeError, "maps takes 5 arguments, got %zd", n_args);
    PyObject *const objects[] = {args[0], args[1], args[2], args[4]};
    static const char *const names[] = {"both", "work", "learned", "gamma"};
    const ptrdiff_t least[] = {2, 1, 1, 1};
    Py_buffer views[4];
    if (!take_all(objects, views, names, least, 4, 2)) return NULL;
    const ptrdiff_t T = views[0].ndim == 3 ? views[0].shape[1] : 0, d = T ? views[0].shape[2] : 0;
    const ptrdiff_t stride = views[2].ndim == 2 ? views[2].shape[1] : 0;
    COLUMNS c;
    int fit = take_columns(args[3], &c, T);
    if (fit) {
        fit = T && views[0].shape[0] == 2 && stride >= d && views[2].shape[0] == T + c.learned && length_of(&views[1]) == c.p &&
              length_of(&views[3]) == c.p;
        if (fit)
            make_maps(views[0].buf, views[2].buf, views[3].buf, NULL, NULL, views[1].buf, &c, d, stride);
        else
            PyErr_SetString(PyExc_ValueError, "both, work, learned and gamma do not fit");
        release_all(c.views, 7);
    }
    release_all(views, 4);
    if (!fit) return NULL;
    Py_RETURN_NONE;
}

/* The share of phi (features,) that a member has: phi itself, or `scale` times the numbers at `places`, in work; NULL outside. */
static const double *share_of(const double *phi, const Py_buffer *places, double scale, double *work, ptrdiff_t features) {
    if (!places->buf) return phi;
    const long long *place = places->buf;
    const ptrdiff_t count = length_of(places);
    if (count > features || !are_below(place, count, features)) return NULL;
    for (ptrdiff_t j = 0; j < count; j++) work[j] = scale * phi[place[j]];
    return work;
}

PyDoc_STRVAR(predict_doc,
             "predict(values, work, phi, tare, rows, parameters, members)\n--\n\n"
             "values (experts, T): P, then NP and SP of each member, plus tare (T,). rows (T, n) of the regressor times parameters\n"
             "(1 + members, n), those of P first; both None: NP of each member alone. members: a tuple of (maps, places or None, scale),\n"
             "maps as `maps` makes them; phi and work (features,).");
static PyObject *predict(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 7 || !PyTuple_Check(args[6])) return PyErr_Format(PyExc_TypeError, "predict takes 7 arguments, the last one a tuple");
    const int rigid = args[4] != Py_None;
    static const char *const names[] = {"values", "work", "phi", "tare", "rows", "parameters"};
    const ptrdiff_t least[] = {1, 1, 1, 1, 1, 1}, members = PyTuple_GET_SIZE(args[6]);
    const int count = rigid ? 6 : 4;
    Py_buffer views[6];
    if (!take_all(args, views, names, least, count, 2)) return NULL;
    const ptrdiff_t T = length_of(&views[3]), d = length_of(&views[2]), kinds = rigid ? 2 : 1, experts = rigid + kinds * members;
    const ptrdiff_t n = rigid ? length_of(&views[4]) / T : 0;
    double *values = views[0].buf, *work = views[1].buf;
    const double *tare = views[3].buf;
    int fit = length_of(&views[0]) == experts * T && length_of(&views[1]) == d &&
              (!rigid || (length_of(&views[4]) == T * n && length_of(&views[5]) == (1 + members) * n));
    for (ptrdiff_t m = 0; fit && m < members; m++) {
        PyObject *maps, *places;
        double scale;
        Py_buffer learned, chosen = {.buf = NULL};
        PyObject *member = PyTuple_GET_ITEM(args[6], m);
        fit = PyTuple_Check(member) && PyArg_ParseTuple(member, "OOd", &maps, &places, &scale) && look(maps, &learned, "maps", 1);
        if (!fit) break;
        if (places != Py_None) fit = !PyObject_GetBuffer(places, &chosen, PyBUF_C_CONTIGUOUS) && chosen.itemsize == 8;
        const ptrdiff_t own = places == Py_None ? d : length_of(&chosen);
        const double *z = fit ? share_of(views[2].buf, &chosen, scale, work, d) : NULL;
        fit = z && length_of(&learned) == kinds * T * own;
        if (fit) CHOSEN(predict)(learned.buf, z, values + (rigid + kinds * m) * T, own, own, kinds * T, 1);
        if (chosen.buf) PyBuffer_Release(&chosen);
        PyBuffer_Release(&learned);
    }
    for (ptrdiff_t m = 0; fit && rigid && m <= members; m++) { /* P, then what SP of each member adds */
        double *of_bodies = m ? work : values;
        fit = d >= T;
        if (!fit) break;
        CHOSEN(predict)(views[4].buf, (double *)views[5].buf + m * n, of_bodies, n, n, T, 1);
        for (ptrdiff_t t = 0; m && t < T; t++) values[2 * m * T + t] += of_bodies[t];
    }
    for (ptrdiff_t i = 0; fit && i < experts * T; i++) values[i] += tare[i % T];
    release_all(views, count);
    if (!fit && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "values, work, phi, rows, parameters and members do not fit");
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

MODULE(_joint, "Compiled loops of a joint process.", {"learn", (PyCFunction)(void (*)(void))learn, METH_FASTCALL, learn_doc},
       {"rows", (PyCFunction)(void (*)(void))rows, METH_FASTCALL, rows_doc},
       {"maps", (PyCFunction)(void (*)(void))maps, METH_FASTCALL, maps_doc},
       {"predict", (PyCFunction)(void (*)(void))predict, METH_FASTCALL, predict_doc}, {"combine", combine, METH_VARARGS, combine_doc})
