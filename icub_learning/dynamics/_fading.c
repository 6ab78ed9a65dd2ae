/* Fading means over a few outputs, for each judged sample: NumPy's calls would take ten times as long as their arithmetic. */
#include "_buffers.h"
#include <float.h>
#include <math.h>

static double within(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

PyDoc_STRVAR(calibrate_doc, "calibrate(mean_square, factor, errors, added, m, known, weight, inside, outside, low, high)\n\n"
             "One step of CalibratedVariance of m outputs, from errors (m,) and what novelty adds to their variance (m,): mean_square\n"
             "(m,) in which this sample counts 1 / weight; factor (m,), in [low, high], is multiplied by `outside` where an error is\n"
             "beyond two standard deviations, by `inside` elsewhere. Not known: of the first sample there is nothing to compare with.");
static PyObject *calibrate(PyObject *self, PyObject *args) {
    PyObject *o[4];
    Py_ssize_t m;
    int known;
    double weight, inside, outside, low, high;
    if (!PyArg_ParseTuple(args, "OOOOnpddddd", &o[0], &o[1], &o[2], &o[3], &m, &known, &weight, &inside, &outside, &low, &high)) return NULL;
    Py_buffer v[4];
    static const char *names[] = {"mean_square", "factor", "errors", "added"};
    const ptrdiff_t least[] = {m, m, m, m};
    if (!take_all(o, v, names, least, 4, 2)) return NULL;
    double *mean_square = v[0].buf, *factor = v[1].buf;
    const double *errors = v[2].buf, *added = v[3].buf;
    for (ptrdiff_t j = 0; j < m; j++) {
        double square = errors[j] * errors[j];
        const double noise = mean_square[j] * factor[j], variance = noise + factor[j] * added[j];
        if (known) {
            factor[j] = within(factor[j] * (square > 4.0 * variance ? outside : inside), low, high);
            if (variance > 0.0) square *= noise / variance; /* 0: never wrong yet */
        } else
            mean_square[j] = 0.0;
        mean_square[j] += (square - mean_square[j]) / weight;
    }
    release_all(v, 4);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(correlate_doc, "correlate(mean, long_run, variance, errors, m, kept, white, weight)\n\n"
             "One step of SerialCorrelation from errors (m,): mean (m,) keeps the share `kept`; long_run and variance (m,) are means, in\n"
             "which this sample counts 1 / weight, of the square of that mean over `white` and of squared errors.");
static PyObject *correlate(PyObject *self, PyObject *args) {
    PyObject *o[4];
    Py_ssize_t m;
    double kept, white, weight;
    if (!PyArg_ParseTuple(args, "OOOOnddd", &o[0], &o[1], &o[2], &o[3], &m, &kept, &white, &weight)) return NULL;
    Py_buffer v[4];
    static const char *names[] = {"mean", "long_run", "variance", "errors"};
    const ptrdiff_t least[] = {m, m, m, m};
    if (!take_all(o, v, names, least, 4, 3)) return NULL;
    double *mean = v[0].buf, *long_run = v[1].buf, *variance = v[2].buf;
    const double *errors = v[3].buf;
    for (ptrdiff_t j = 0; j < m; j++) {
        mean[j] = kept * mean[j] + (1.0 - kept) * errors[j];
        long_run[j] += (mean[j] * mean[j] / white - long_run[j]) / weight;
        variance[j] += (errors[j] * errors[j] - variance[j]) / weight;
    }
    release_all(v, 4);
    Py_RETURN_NONE;
}

/* What a limited rate lets through of a change that is wanted: at least the share `kept`. */
static double let_through(double wanted, double rate, double elapsed, double kept) {
    const double most = fmax(rate * elapsed, kept * fabs(wanted));
    return fabs(wanted) > most ? copysign(most, wanted) : wanted;
}

PyDoc_STRVAR(limit_doc, "limit(wanted, before, rates, m, elapsed, kept)\n\n"
             "Limit the change from before (2, m) to wanted (2, m) to rates (m,) times `elapsed`, or to the share `kept` where that is more.");
static PyObject *limit(PyObject *self, PyObject *args) {
    PyObject *o[3];
    Py_ssize_t m;
    double elapsed, kept;
    if (!PyArg_ParseTuple(args, "OOOndd", &o[0], &o[1], &o[2], &m, &elapsed, &kept)) return NULL;
    Py_buffer v[3];
    static const char *names[] = {"wanted", "before", "rates"};
    const ptrdiff_t least[] = {2 * m, 2 * m, m};
    if (!take_all(o, v, names, least, 3, 1)) return NULL;
    double *wanted = v[0].buf;
    const double *before = v[1].buf, *rates = v[2].buf;
    for (ptrdiff_t i = 0; i < 2 * m; i++) {
        const double change = wanted[i] - before[i], step = let_through(change, rates[i % m], elapsed, kept);
        if (fabs(step) < fabs(change)) wanted[i] = before[i] + step;
    }
    release_all(v, 3);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(smoothen_doc, "smoothen(sums, totals, limited, limits, rates, predicted, before, measured, last, tries, numbers, m, n, elapsed, known,\n"
             "         tracked) -> bool\n\n"
             "One step of SmoothnessFilter from a prediction and a measurement (m,) and those before; returns whether some output needs a limit.\n"
             "sums (4, m): fading sums of squared differences of measurements, by both memories, and of predictions; largest difference of\n"
             "measurements. totals (3,): fading sums of squared steps of time, by both memories, and of ones. limited (2, n, m): predictions\n"
             "under each of the limits tries (n,), and sums of their squared differences; not tracked: they begin now. limits and rates (m,):\n"
             "what is chosen, as in tries and per second. numbers (7,): see SmoothnessFilter. Not known: sums are followed alone.");
static PyObject *smoothen(PyObject *self, PyObject *args) {
    PyObject *o[11];
    Py_ssize_t m, n;
    double elapsed;
    int known, tracked, rough = 0;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOOnndpp", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7], &o[8], &o[9], &o[10], &m, &n,
                          &elapsed, &known, &tracked))
        return NULL;
    Py_buffer v[11];
    static const char *names[] = {"sums", "totals", "limited", "limits", "rates", "predicted", "before", "measured", "last", "tries", "numbers"};
    const ptrdiff_t least[] = {4 * m, 3, 2 * n * m, m, m, m, m, m, m, n, 7};
    if (!take_all(o, v, names, least, 11, 5)) return NULL;
    double *slow = v[0].buf, *fast = slow + m, *guessed = fast + m, *largest = guessed + m, *totals = v[1].buf, *limits = v[3].buf;
    double *rates = v[4].buf;
    const double *predicted = v[5].buf, *before = v[6].buf, *measured = v[7].buf, *last = v[8].buf, *tries = v[9].buf, *number = v[10].buf;
    const double roughest = number[0], rest = number[1], jump = number[2], clearly = tracked ? number[3] : 1.0;
    const double keep = pow(0.5, elapsed / number[4]), keep_fast = pow(0.5, elapsed / number[5]), kept = -expm1(-elapsed / number[6]);
    totals[0] = keep * totals[0] + elapsed * elapsed;
    totals[1] = keep_fast * totals[1] + elapsed * elapsed;
    totals[2] = keep * totals[2] + 1.0;
    for (ptrdiff_t j = 0; j < m; j++) {
        const double change = measured[j] - last[j];
        largest[j] = fmax(largest[j], fabs(change));
        /* One prediction far beyond all that was measured would otherwise count for many minutes. */
        const double guess = fmin(fabs(predicted[j] - before[j]), jump * largest[j]);
        slow[j] = keep * slow[j] + change * change;
        fast[j] = keep_fast * fast[j] + change * change;
        guessed[j] = keep * guessed[j] + guess * guess;
        const double jitter = rest * largest[j];
        limits[j] = roughest * roughest * (slow[j] + totals[2] * jitter * jitter); /* what is allowed, for now */
        rough |= !(guessed[j] <= clearly * limits[j]);
    }
    for (ptrdiff_t j = 0; j < m; j++) {
        const double allowed = limits[j], most = jump * largest[j];
        limits[j] = INFINITY, rates[j] = DBL_MAX;
        if (!known || !rough) continue;
        const double rate = fmax(sqrt(fmax(slow[j] / totals[0], fast[j] / totals[1])), rest * largest[j] / elapsed);
        ptrdiff_t chosen = n;
        for (ptrdiff_t k = 0; k < n; k++) {
            double *at = (double *)v[2].buf + k * m + j, *square = at + n * m;
            if (!tracked) *at = before[j], *square = fmin(guessed[j], allowed); /* nothing is known of them: the highest changes least */
            const double step = let_through(within(predicted[j] - *at, -most, most), tries[k] * rate, elapsed, kept);
            *at += step;
            *square = keep * *square + step * step;
            if (chosen == n && (*square <= allowed || k == n - 1)) chosen = k;
        }
        if (n && !(guessed[j] <= clearly * allowed)) limits[j] = tries[chosen], rates[j] = tries[chosen] * rate;
    }
    release_all(v, 11);
    return PyBool_FromLong(known && rough);
}

PLAIN_MODULE(_fading, "Compiled means that fade.", {"calibrate", calibrate, METH_VARARGS, calibrate_doc},
             {"correlate", correlate, METH_VARARGS, correlate_doc}, {"limit", limit, METH_VARARGS, limit_doc},
             {"smoothen", smoothen, METH_VARARGS, smoothen_doc})
