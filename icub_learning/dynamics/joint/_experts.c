/* Predictions of the experts of a joint model, the variances of what they have not learned, and their combination.
 *
 * Compiled because all caches are cold when a query arrives: each kind of call into NumPy loads code and tables of its own.
 */
#include "_columns.h"

#define LEAST 1e-300 /* variance added to that of the noise, so that confidences are defined without noise */

FUNCTION(unlearned, "!0 d 0 0 @ ()",
         "unlearned(out, phi, rows, maps, columns, bodies)\n--\n\n"
         "out (k, T): variances of what k bodies have not learned of rows (T, p) of Y_b; of the first body, of what features phi (d,) leave\n"
         "of them by maps (entries, d or padded). bodies: a tuple of packed triangle, weights (T,) of outputs, variance (T,) of noise.") {
    PyObject *bodies = a->object[1];
    const ptrdiff_t count = PyTuple_GET_SIZE(bodies), T = count ? a->length[0] / count : 0, d = SIZE('d');
    const double *rows = a->array[2], *maps = a->array[3];
    double *out = a->array[0];
    COLUMNS c;
    if (!take_columns(a, a->object[0], &c, T)) return NULL;
    const ptrdiff_t size = PADDED(c.p), stride = c.learned ? a->length[3] / c.learned : d;
    if (!fits(a->length[0] == count * T && a->length[2] == T * c.p && (stride == d || stride == PADDED(d)) && a->length[3] == c.learned * stride,
              "out, phi, rows and maps"))
        return NULL;
    double *left = scratch(a, T + c.learned + T * (c.p + 1) + MAX_RANK * size);
    if (!left) return NULL;
    double *entries = left + T, *z = entries + c.learned, *targets = z + T * c.p;
    memset(left, 0, T * sizeof(double));
    CHOSEN(predict)(maps, a->array[1], entries, stride, d, c.learned, 1);
    const int opened = a->opened->n_views;
    for (ptrdiff_t i = 0; i < count; i++, out += T) {
        Arguments body;
        give_back(a->opened, opened);
        if (!take_tuple(a, PyTuple_GET_ITEM(bodies, i), &body, "body(triangle, weights, variance)", "0 0 0") ||
            !fits(body.length[0] == PACKED(size) && body.length[1] == T && body.length[2] == T, "a body and the columns"))
            return NULL;
        const double *variance = body.array[2];
        for (ptrdiff_t e = 0; e < c.learned; e++) entries[e] = rows[c.entry[e]] - (i ? 0.0 : entries[e]);
        make_rows(z, targets, left, 1, &c, body.array[1]);
        leverage_all(body.array[0], targets + T, out, z, size, c.p, T);
        for (ptrdiff_t t = 0; t < T; t++) out[t] *= variance[t];
    }
    Py_RETURN_NONE;
}

FUNCTION(parameters, "!0 n 0 ()",
         "parameters(out, start, back, gammas)\n--\n\n"
         "out (k, n) = start (n,) + back (n, p) gamma, for each of a tuple of k gammas (p or padded,).") {
    PyObject *gammas = a->object[0];
    const ptrdiff_t n = SIZE('n'), p = n ? a->length[2] / n : 0;
    const double *start = a->array[1];
    double *out = a->array[0];
    if (!fits(n && a->length[0] == PyTuple_GET_SIZE(gammas) * n && a->length[2] == n * p, "out, start, back and gammas")) return NULL;
    for (ptrdiff_t i = 0; i < PyTuple_GET_SIZE(gammas); i++, out += n) {
        give_back(a->opened, 3);
        const Py_buffer *gamma = open_buffer(a->opened, PyTuple_GET_ITEM(gammas, i), 'd', 0);
        if (!gamma || !fits(gamma->len == 8 * p || gamma->len == 8 * PADDED(p), "a gamma and back")) return NULL;
        CHOSEN(predict)(a->array[2], gamma->buf, out, p, p, n, 1);
        for (ptrdiff_t j = 0; j < n; j++) out[j] += start[j];
    }
    Py_RETURN_NONE;
}

FUNCTION(predict, "!0 !0 d t 0 @ % ~0 ~0",
         "predict(values, work, phi, tare, maps, recent, scale, rows, parameters)\n--\n\n"
         "values (experts, T), plus tare (T,): rows (T, n) times parameters[0]; maps (2, T, d) times phi (d,), to the second of which rows\n"
         "times parameters[1] is added; weights (m, T, k) times scale phi[places (k,)], where recent is (places, weights); rows times\n"
         "each further row of parameters. Without rigid bodies rows and parameters are None, and maps is (1, T, d). work: the larger of d and T.") {
    Arguments recent;
    if (!take_tuple(a, a->object[0], &recent, "recent(places, weights)", "I0 0")) return NULL;
    const int rigid = a->array[5] != NULL, kinds = rigid ? 2 : 1;
    const ptrdiff_t T = SIZE('t'), d = SIZE('d'), k = recent.length[0];
    const ptrdiff_t n = rigid && T ? a->length[5] / T : 0, sets = n ? a->length[6] / n : 0;
    const ptrdiff_t of_recent = T && k ? recent.length[1] / (T * k) : 0, experts = 1 + of_recent + sets;
    double *values = a->array[0], *work = a->array[1], *sets_of = a->array[6];
    const double *phi = a->array[2], *tare = a->array[3];
    const long long *place = recent.array[0];
    if (!fits(T && a->length[0] == experts * T && a->length[1] == (d > T ? d : T) && a->length[4] == kinds * T * d &&
                  recent.length[1] == of_recent * T * k && k <= d && are_below(place, k, d) && (!rigid || (sets >= 2 && a->length[5] == T * n && a->length[6] == sets * n)),
              "values, work, phi, maps, recent, rows and parameters"))
        return NULL;
    double *of_features = values + rigid * T;
    CHOSEN(predict)(a->array[4], phi, of_features, d, d, kinds * T, 1);
    take_share(work, phi, place, k, a->number[0]);
    CHOSEN(predict)(recent.array[1], work, of_features + kinds * T, k, k, of_recent * T, 1);
    for (ptrdiff_t m = 0; m < sets; m++) { /* parameters of P, of what SP adds to its features, and of recent bodies */
        double *of_bodies = m == 0 ? values : m == 1 ? work : values + (m + 1 + of_recent) * T;
        CHOSEN(predict)(a->array[5], sets_of + m * n, of_bodies, n, n, T, 1);
        for (ptrdiff_t t = 0; m == 1 && t < T; t++) values[2 * T + t] += work[t];
    }
    for (ptrdiff_t i = 0; i < experts * T; i++) values[i] += tare[i % T];
    Py_RETURN_NONE;
}

FUNCTION(combine, "!0 0 0 0 t e:",
         "combine(out, weights, values, unlearned, noise, experts)\n\n"
         "out (k, T): means of values (experts, T) by weights (k, experts, T) times confidences noise / (noise + unlearned), noise (T,),\n"
         "unlearned (experts, T).") {
    const ptrdiff_t T = SIZE('t'), experts = SIZE('e'), k = T ? a->length[0] / T : 0;
    double *out = a->array[0];
    const double *weights = a->array[1], *values = a->array[2], *unlearned = a->array[3], *noise = a->array[4];
    if (!fits(experts > 0 && a->length[0] == k * T && a->length[1] == k * experts * T && a->length[2] == experts * T &&
                  a->length[3] == experts * T,
              "out, weights, values and unlearned"))
        return NULL;
    for (ptrdiff_t l = 0; l < k; l++, weights += experts * T)
        for (ptrdiff_t t = 0; t < T; t++) {
            double sum = 0.0, mean = 0.0;
            for (ptrdiff_t i = 0; i < experts; i++) {
                /* All experts are equally confident before noise and motion are known, and where there is no noise. */
                const double confidence = (noise[t] + LEAST) / (noise[t] + unlearned[i * T + t] + LEAST);
                const double weight = weights[i * T + t] * (isfinite(noise[t]) ? confidence : 1.0);
                sum += weight;
                mean += weight * values[i * T + t];
            }
            out[l * T + t] = mean / sum;
        }
    Py_RETURN_NONE;
}

MODULE(_experts, "Compiled predictions of the experts of a joint model.", METHOD(predict), METHOD(unlearned), METHOD(parameters), METHOD(combine))
