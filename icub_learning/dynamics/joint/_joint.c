/* Learning of one sample by a joint process in one call, and its loops over the entries of Y_b.
 *
 * Compiled because NumPy would copy the entries that it picks or call BLAS for each output, and to let other threads run.
 */
#include "_columns.h"

FUNCTION(rows, "!0 !0 0 @ t",
         "rows(z, target, left, columns, weights)\n--\n\n"
         "Rows z (k T, p) and targets (k T,) of the second factor from residuals left (k, T + learned) of the first: Y_b times root,\n"
         "and y - Y_b offset, both times weights (T,). columns: BaseColumns.memory.") {
    const ptrdiff_t T = SIZE('t'), k = T ? a->length[1] / T : 0;
    COLUMNS c;
    if (!take_columns(a, a->object[0], &c, T)) return NULL;
    if (!fits(a->length[0] == k * T * c.p && a->length[1] == k * T && a->length[2] == k * (T + c.learned), "z, target and left")) return NULL;
    make_rows(a->array[0], a->array[1], a->array[2], k, &c, a->array[3]);
    Py_RETURN_NONE;
}

/* Writes maps (2, T, d), the weights of features alone and of features beside Y_b beta, beta = offset + root gamma, from learned
   (T + entries, stride); work: p + 2 (terms + 1) numbers. */
static void make_maps(double *maps, const double *learned, const double *gamma, double *work, const COLUMNS *c, ptrdiff_t d, ptrdiff_t stride) {
    double *beta = work, *factor = beta + c->p;
    const double **row = (const double **)(factor + c->terms + 1);
    for (ptrdiff_t i = 0; i < c->p; i++) {
        beta[i] = c->offset[i];
        for (ptrdiff_t j = 0; j <= i; j++) beta[i] += c->root[i * c->p + j] * gamma[j];
    }
    for (ptrdiff_t t = 0; t < c->T; t++) { /* sums in registers: storing takes longer than adding */
        ptrdiff_t count = 1;
        row[0] = learned + t * stride, factor[0] = 1.0;
        for (ptrdiff_t e = 0; e < c->terms; e++)
            if (c->output[e] == t) row[count] = learned + (c->T + c->source[e]) * stride, factor[count++] = -beta[c->place[e]] * c->scale[e];
        memcpy(maps + t * d, row[0], d * sizeof(double));
        CHOSEN(combine)(maps + (c->T + t) * d, row, factor, count, d);
    }
}

/* Learns one sample, see `learn`. */
static void learn_sample(LEARNER *features, LEARNER *rigid, const COLUMNS *c, const double *phi, const double *rows, const double *y,
                         const double *weights, double *estimates, double *maps, double *memory, double root) {
    const ptrdiff_t d = features->features, n = features->outputs, T = c->T, k = 1 + features->due, count = k * T + rigid->due;
    double *z = memory, *targets = z + k * d, *left = targets + k * n, *of_rigid = left + k * n, *goals = of_rigid + count * c->p;
    double *work = goals + count;
    for (ptrdiff_t j = 0; j < d; j++) z[j] = root * phi[j];
    for (ptrdiff_t t = 0; t < T; t++) targets[t] = root * y[t];
    for (ptrdiff_t e = 0; e < c->learned; e++) targets[T + e] = root * rows[c->entry[e]];
    refill(features, z + d, targets + n);
    learn_all(features, left, z, targets, k);
    make_rows(of_rigid, goals, left, k, c, weights);
    refill(rigid, of_rigid + k * T * c->p, goals + k * T);
    /* The sample's own rows come first, then those of the features' prior. */
    observe_all(rigid, work, work + T, estimates, of_rigid, goals, weights, root, T, count);
    make_maps(maps, features->weights, rigid->weights, work + 2 * T, c, d, features->size);
}

FUNCTION(learn, "@ @ @ !t !0 f 0 =t =t %",
         "learn(features, rigid, columns, estimates, maps, phi, rows, y, weights, root)\n--\n\n"
         "One sample phi (d,), rows (T, p) of Y_b, y (T,), which counts root^2 times, into both factors; estimates (T,): what it tells of\n"
         "the variance of the noise; maps (2, T, d): see `maps`. features and rigid: RecursiveLeastSquares.ahead.") {
    const ptrdiff_t T = SIZE('t');
    COLUMNS c;
    LEARNER features, rigid;
    if (!take_columns(a, a->object[2], &c, T) || !take_ahead(a, a->object[0], &features, T + c.learned) ||
        !take_ahead(a, a->object[1], &rigid, 1) ||
        !fits(SIZE('f') == features.features && a->length[3] == T * c.p && a->length[1] == 2 * T * SIZE('f') && rigid.features == c.p,
              "the sample and the learners"))
        return NULL;
    const ptrdiff_t k = 1 + features.due, count = k * T + rigid.due;
    double *memory = scratch(a, k * (features.features + 2 * features.outputs) + count * (c.p + 1) + 2 * T + c.p + 2 * (c.terms + 1));
    if (!memory) return NULL;
    const RELEASED released = release(features.size);
    learn_sample(&features, &rigid, &c, a->array[2], a->array[3], a->array[4], a->array[5], a->array[0], a->array[1], memory, a->number[0]);
    take_back(released);
    Py_RETURN_NONE;
}

FUNCTION(learn_recent, "!0 () @ () @ f ~0 t ~0 % %",
         "learn_recent(estimates, features, places, bodies, columns, phi, rows, y, weights, scale, root)\n--\n\n"
         "One sample, which counts root^2 times, into what is learned of late: scale phi[places] with y (T,) into each of the features,\n"
         "rows (T, p) of Y_b with y into each of the bodies, whose outputs count by weights (bodies, T); estimates (features + bodies, T):\n"
         "what each tells of the variance of the noise. features and bodies: tuples of RecursiveLeastSquares.ahead; places: indices (k,).") {
    PyObject *of_features = a->object[0], *of_bodies = a->object[2];
    const ptrdiff_t few = PyTuple_GET_SIZE(of_features), bodies = PyTuple_GET_SIZE(of_bodies), T = SIZE('t'), d = SIZE('f');
    const double *phi = a->array[1], *y = a->array[3], scale = a->number[0], root = a->number[1];
    Arguments places;
    LEARNER l;
    COLUMNS c;
    if (!take_tuple(a, a->object[1], &places, "places(places)", "Ik")) return NULL;
    const ptrdiff_t k = places.length[0];
    const long long *place = places.array[0]; /* indices of cosines, then of as many sines */
    double *estimates = a->array[0], *share = scratch(a, (1 + k) * (k + T)); /* rows and targets of the sample, then the prior */
    if (!share || !fits(a->length[0] == (few + bodies) * T, "estimates, features and bodies")) return NULL;
    const int opened = a->opened->n_views;
    for (ptrdiff_t i = 0; i < few; i++) {
        give_back(a->opened, opened);
        if (!take_ahead(a, PyTuple_GET_ITEM(of_features, i), &l, T) ||
            !fits(l.features == k && are_below(place, k, d) && 2 * place[k / 2] == d, "places, phi and the features"))
            return NULL;
        double *targets = share + (1 + l.due) * k, leverage;
        take_share(share, phi, place, k, scale);
        leverage_all(l.triangle, l.work, &leverage, share, l.size, k, 1);
        CHOSEN(predict)(l.weights, share, estimates, l.size, k, T, 1);
        for (ptrdiff_t t = 0; t < T; t++, estimates++) {
            targets[t] = root * y[t];
            *estimates = (y[t] - *estimates) * (y[t] - *estimates) / (1.0 + leverage);
        }
        for (ptrdiff_t j = 0; j < k; j++) share[j] *= root;
        refill(&l, share + k, targets + T);
        learn_all(&l, NULL, share, targets, 1 + l.due);
    }
    if (!bodies) Py_RETURN_NONE;
    give_back(a->opened, opened);
    if (!take_columns(a, a->object[3], &c, T)) return NULL;
    const int kept = a->opened->n_views;
    const double *rows = a->array[2], *weights = a->array[4];
    if (!fits(a->length[2] == T * c.p && a->length[4] == bodies * T, "rows, weights and the columns")) return NULL;
    double *left = scratch(a, T + c.learned + (T + c.p) * (c.p + 1) + 2 * T), *z = left + T + c.learned;
    if (!left) return NULL;
    memcpy(left, y, T * sizeof(double));
    for (ptrdiff_t e = 0; e < c.learned; e++) left[T + e] = rows[c.entry[e]];
    for (ptrdiff_t i = 0; i < bodies; i++, weights += T, estimates += T) {
        give_back(a->opened, kept);
        if (!take_ahead(a, PyTuple_GET_ITEM(of_bodies, i), &l, 1) || !fits(l.features == c.p, "a body and the columns")) return NULL;
        double *goals = z + (T + l.due) * c.p, *errors = goals + T + l.due;
        make_rows(z, goals, left, 1, &c, weights);
        for (ptrdiff_t j = 0; root != 1.0 && j < T * c.p; j++) z[j] *= root;
        for (ptrdiff_t t = 0; root != 1.0 && t < T; t++) goals[t] *= root;
        refill(&l, z + T * c.p, goals + T);
        observe_all(&l, errors, errors + T, estimates, z, goals, weights, root, T, T + l.due);
    }
    Py_RETURN_NONE;
}

FUNCTION(maps, "!0 0 @ p",
         "maps(both, learned, columns, gamma)\n--\n\n"
         "both (2, T, d): weights of features alone, and beside Y_b beta, beta = offset + root gamma (p,); from learned (T + entries, >= d),\n"
         "those of y and of the entries of Y_b that are learned. columns: BaseColumns.memory.") {
    const Py_buffer *both = a->view[0], *learned = a->view[1];
    const ptrdiff_t T = both->ndim == 3 ? both->shape[1] : 0, d = T ? both->shape[2] : 0, stride = learned->ndim == 2 ? learned->shape[1] : 0;
    COLUMNS c;
    if (!take_columns(a, a->object[0], &c, T)) return NULL;
    if (!fits(T && both->shape[0] == 2 && stride >= d && learned->shape[0] == T + c.learned && SIZE('p') == c.p, "both, learned and gamma"))
        return NULL;
    double *work = scratch(a, c.p + 2 * (c.terms + 1));
    if (!work) return NULL;
    make_maps(a->array[0], a->array[1], a->array[2], work, &c, d, stride);
    Py_RETURN_NONE;
}

MODULE(_joint, "Compiled loops of a joint process.", METHOD(learn), METHOD(rows), METHOD(learn_recent), METHOD(maps))
