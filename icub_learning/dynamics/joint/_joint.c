/* One sample of a joint process in one call, and its loops over the entries of Y_b.
 *
 * Compiled because NumPy would copy what it picks, or call BLAS for each output, and because other threads may run meanwhile.
 */
#include "_columns.h"

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

/* Learns T rows of gamma and what is due besides; estimates (T,): what the rows tell of the variance of the noise. work (2 T,). */
static void learn_body(LEARNER *rigid, const double *z, const double *goals, ptrdiff_t count, const double *weights, ptrdiff_t T,
                       double root, double *estimates, double *work) {
    double *errors = work, *leverages = work + T;
    observe_all(rigid->triangle, rigid->weights, rigid->work, errors, leverages, z, goals, rigid->size, rigid->features, 1, T, count,
                rigid->forgetting);
    for (ptrdiff_t t = 0; t < T; t++) {
        const double error = errors[t] / (root * weights[t]);
        estimates[t] = error * error / (1.0 + leverages[t] / (root * root));
    }
}

/* One sample, see `learn`. */
static void learn_sample(LEARNER *features, LEARNER *rigid, const COLUMNS *c, const double *phi, const double *rows, const double *y,
                         const double *weights, double *estimates, double *maps, double *memory, double root) {
    const ptrdiff_t d = features->features, n = features->outputs, T = c->T, k = 1 + features->due, count = k * T + rigid->due;
    const double forgetting = features->forgetting;
    double *z = memory, *targets = z + k * d, *left = targets + k * n, *of_rigid = left + k * n, *goals = of_rigid + count * c->p;
    double *work = goals + count;
    for (ptrdiff_t j = 0; j < d; j++) z[j] = root * phi[j];
    for (ptrdiff_t t = 0; t < T; t++) targets[t] = root * y[t];
    for (ptrdiff_t e = 0; e < c->learned; e++) targets[T + e] = root * rows[c->entry[e]];
    refill(features, z + d, targets + n);
    const double *gain = NULL, *innovation = features->work + 2 * MAX_RANK * features->size;
    if (k == 1) { /* the weights follow below, together with what predictions make of them */
        gain = solve_rows(features->triangle, features->weights, features->work, z, targets, features->size, d, n, 1, forgetting);
        residuals(left, features->work, z, features->size, d, n, 1);
    } else
        absorb_all(features->triangle, features->weights, features->work, left, z, targets, features->size, d, n, k, forgetting);
    make_rows(of_rigid, goals, left, k, c, weights);
    refill(rigid, of_rigid + k * T * c->p, goals + k * T);
    /* The sample's own rows come first, then those of the features' prior. */
    learn_body(rigid, of_rigid, goals, count, weights, T, root, estimates, work);
    make_maps(maps, features->weights, rigid->weights, gain, innovation, work + 2 * T, c, d, features->size);
}

PyDoc_STRVAR(learn_doc,
             "learn(features, rigid, columns, estimates, maps, phi, rows, y, weights, root)\n--\n\n"
             "One sample phi (d,), rows (T, p) of Y_b, y (T,), which counts root^2 times, into both factors; estimates (T,): what it tells of\n"
             "the variance of the noise; maps (2, T, d): see `maps`. features and rigid: RecursiveLeastSquares.ahead.");
static PyObject *learn(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 10) return PyErr_Format(PyExc_TypeError, "learn takes 10 arguments, got %zd", n_args);
    const double root = PyFloat_AsDouble(args[9]);
    Py_buffer views[6];
    static const char *const names[] = {"estimates", "maps", "phi", "rows", "y", "weights"};
    const ptrdiff_t least[] = {1, 1, 1, 1, 1, 1};
    if (PyErr_Occurred() || !take_all(args + 3, views, names, least, 6, 2)) return NULL;
    const ptrdiff_t T = length_of(&views[0]);
    COLUMNS c;
    LEARNER features, rigid;
    int done = 0;
    if (take_columns(args[2], &c, T)) {
        if (take_ahead(args[0], &features, T + c.learned)) {
            if (take_ahead(args[1], &rigid, 1)) {
                const ptrdiff_t k = 1 + features.due, count = k * T + rigid.due;
                done = length_of(&views[2]) == features.features && length_of(&views[3]) == T * c.p && length_of(&views[4]) == T &&
                       length_of(&views[5]) == T && length_of(&views[1]) == 2 * T * features.features && rigid.features == c.p;
                if (!done) PyErr_SetString(PyExc_ValueError, "the sample does not fit the learners");
                const size_t numbers = k * (features.features + 2 * features.outputs) + count * (c.p + 1) + 2 * T + c.p;
                double *memory = done ? PyMem_RawMalloc(numbers * sizeof(double)) : NULL;
                if (done && !memory) PyErr_NoMemory();
                done = memory != NULL;
                PyThreadState *thread = done && features.size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL;
                if (done)
                    learn_sample(&features, &rigid, &c, views[2].buf, views[3].buf, views[4].buf, views[5].buf, views[0].buf,
                                 views[1].buf, memory, root);
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

PyDoc_STRVAR(learn_recent_doc,
             "learn_recent(estimates, features, places, bodies, columns, phi, rows, y, weights, scale, root)\n--\n\n"
             "One sample, which counts root^2 times, into what is learned of late: scale phi[places] with y (T,) into features, and rows (T, p)\n"
             "of Y_b with y into each of the bodies, whose outputs count by weights (bodies, T); estimates (bodies, T): what they tell of the\n"
             "variance of the noise. features and bodies: RecursiveLeastSquares.ahead; places: a tuple of indices (k,).");
static PyObject *learn_recent(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
    if (n_args != 11 || !PyTuple_Check(args[3])) return PyErr_Format(PyExc_TypeError, "learn_recent takes 11 arguments, the fourth a tuple");
    const ptrdiff_t bodies = PyTuple_GET_SIZE(args[3]);
    const double scale = PyFloat_AsDouble(args[9]), root = PyFloat_AsDouble(args[10]);
    PyObject *const objects[] = {args[0], args[5], args[7], args[6], args[8]};
    static const char *const names[] = {"estimates", "phi", "y", "rows", "weights"};
    const ptrdiff_t least[] = {0, 1, 1, 1, 1};
    const int count = bodies ? 5 : 3;
    Py_buffer views[5], places;
    LEARNER l;
    COLUMNS c;
    if (PyErr_Occurred() || !take_all(objects, views, names, least, count, 1)) return NULL;
    const ptrdiff_t T = length_of(&views[2]);
    const double *phi = views[1].buf, *y = views[2].buf;
    double *memory = NULL;
    if (take_tuple(args[2], &places, 1, 1, 0)) {
        const ptrdiff_t k = length_of(&places);
        if (take_ahead(args[1], &l, T)) {
            const long long *place = places.buf; /* of cosines, then of as many sines */
            if (l.features != k || !are_below(place, k, length_of(&views[1])) || 2 * place[k / 2] != length_of(&views[1]))
                PyErr_SetString(PyExc_ValueError, "places do not fit phi and the features");
            else if (!(memory = PyMem_RawMalloc((1 + l.due) * (k + T) * sizeof(double))))
                PyErr_NoMemory();
            else {
                double *targets = memory + (1 + l.due) * k;
                take_share(memory, phi, place, k, root * scale);
                for (ptrdiff_t t = 0; t < T; t++) targets[t] = root * y[t];
                refill(&l, memory + k, targets + T);
                learn_all(l.triangle, l.weights, l.work, memory, targets, l.size, k, T, 1 + l.due, l.forgetting);
            }
            PyMem_RawFree(memory);
            release_all(l.views, 6);
        }
        PyBuffer_Release(&places);
    }
    if (memory && bodies && take_columns(args[4], &c, T)) {
        int fit = length_of(&views[0]) == bodies * T && length_of(&views[3]) == T * c.p && length_of(&views[4]) == bodies * T;
        double *left = fit ? PyMem_RawMalloc((T + c.learned) * sizeof(double)) : NULL;
        if (left) {
            memcpy(left, y, T * sizeof(double));
            for (ptrdiff_t e = 0; e < c.learned; e++) left[T + e] = ((const double *)views[3].buf)[c.entry[e]];
        }
        for (ptrdiff_t i = 0; left && i < bodies && take_ahead(PyTuple_GET_ITEM(args[3], i), &l, 1); i++) {
            const double *weights = (const double *)views[4].buf + i * T;
            double *z = l.features == c.p ? PyMem_RawMalloc(((T + l.due) * (c.p + 1) + 2 * T) * sizeof(double)) : NULL;
            if (z) {
                double *goals = z + (T + l.due) * c.p;
                make_rows(z, goals, left, 1, &c, weights);
                for (ptrdiff_t j = 0; root != 1.0 && j < T * c.p; j++) z[j] *= root;
                for (ptrdiff_t t = 0; root != 1.0 && t < T; t++) goals[t] *= root;
                refill(&l, z + T * c.p, goals + T);
                learn_body(&l, z, goals, T + l.due, weights, T, root, (double *)views[0].buf + i * T, goals + T + l.due);
            } else
                PyErr_SetString(PyExc_ValueError, "a body does not fit the columns");
            PyMem_RawFree(z);
            release_all(l.views, 6);
        }
        if (!left) PyErr_SetString(PyExc_ValueError, "estimates, rows and weights do not fit the columns");
        PyMem_RawFree(left);
        release_all(c.views, 7);
    }
    release_all(views, count);
    if (PyErr_Occurred()) return NULL;
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

MODULE(_joint, "Compiled loops of a joint process.", {"learn", (PyCFunction)(void (*)(void))learn, METH_FASTCALL, learn_doc},
       {"rows", (PyCFunction)(void (*)(void))rows, METH_FASTCALL, rows_doc},
       {"learn_recent", (PyCFunction)(void (*)(void))learn_recent, METH_FASTCALL, learn_recent_doc},
       {"maps", (PyCFunction)(void (*)(void))maps, METH_FASTCALL, maps_doc})
