/* One step of Bernstein online aggregation: a dozen experts and outputs, too few for NumPy's calls to pay. */
#include "_buffers.h"
#include <math.h>

#define FEWEST 1e-150   /* a regret below it is none */
#define NARROWEST 1e-9  /* least scale, relative to the largest one of the output */
#define SCALES_FADE 0.9 /* power of the factor by which scales fade: below 1, see the proof */
#define HOPELESS 25.0    /* times the best expert's faded loss: who has more sleeps */
#define LARGEST 1e60    /* larger errors count as this large: no square of a square overflows */

static double bounded(double error) { return error > LARGEST ? LARGEST : error < -LARGEST ? -LARGEST : error; }

static double rate(double scale, double square, double spread) {
    const double first = 0.5 / scale, second = sqrt(spread / square); /* infinite where nothing was learned yet */
    return first < second ? first : second;
}

/* The faded loss above which an expert sleeps. */
static double awake_up_to(const double *loss, ptrdiff_t experts, ptrdiff_t step) {
    double best = loss[0];
    for (ptrdiff_t i = 1; i < experts; i++)
        if (loss[i * step] < best) best = loss[i * step];
    return HOPELESS * best;
}

/* A ConvexAggregation: tables (experts, outputs). */
typedef struct {
    Py_buffer views[5];
    ptrdiff_t experts, outputs;
} TABLES;

static int take_tables(PyObject *tuple, TABLES *t) {
    if (!take_tuple(tuple, t->views, 5, 0, 5)) return 0;
    const Py_ssize_t *shape = t->views[0].shape;
    int fit = t->views[0].ndim == 2 && shape[0] >= 1 && shape[1] >= 1;
    for (int i = 1; i < 5; i++) fit = fit && t->views[i].len == t->views[0].len;
    if (fit) {
        t->experts = shape[0], t->outputs = shape[1];
        return 1;
    }
    PyErr_SetString(PyExc_ValueError, "the tables of an aggregation do not fit");
    release_all(t->views, 5);
    return 0;
}

/* Output j, from errors (ages, experts), which count `factor` times, `apart` numbers between two of them. regret (experts,) is overwritten. */
static void learn_output(const TABLES *t, ptrdiff_t j, const double *error, ptrdiff_t apart, double factor, double *regret, ptrdiff_t ages,
                         double fade) {
    double *weight = (double *)t->views[0].buf + j, *exponent = (double *)t->views[1].buf + j, *scale = (double *)t->views[2].buf + j;
    double *square = (double *)t->views[3].buf + j, *loss = (double *)t->views[4].buf + j;
    const ptrdiff_t experts = t->experts, step = t->outputs;
    const double hopeless = awake_up_to(loss, experts, step), spread = log(experts > 2 ? experts : 2);
    for (ptrdiff_t i = 0; i < experts; i++) regret[i] = 0.0;
    for (ptrdiff_t age = 0; age < ages; age++) {
        const double *of_age = error + age * experts * apart;
        double combined = 0.0;
        for (ptrdiff_t i = 0; i < experts; i++) combined += weight[i * step] * factor * bounded(of_age[i * apart]);
        for (ptrdiff_t i = 0; i < experts; i++)
            if (loss[i * step] <= hopeless) regret[i] += 2.0 / ages * combined * (combined - factor * bounded(of_age[i * apart]));
    }
    for (ptrdiff_t i = 0; i < experts; i++) {
        double sum = 0.0;
        for (ptrdiff_t age = 0; age < ages; age++) {
            const double e = factor * bounded(error[(age * experts + i) * apart]);
            sum += e * e;
        }
        loss[i * step] = fade * loss[i * step] + sum / ages;
    }
    const double slower = pow(fade, SCALES_FADE);
    double share = 1.0, widest = 0.0;
    for (ptrdiff_t i = 0; i < experts; i++) {
        const double size = fabs(regret[i]);
        if (size > FEWEST && scale[i * step] < share * size) share = scale[i * step] / size;
        const double faded = slower * scale[i * step];
        const double next = size > FEWEST && size > faded ? size : faded;
        if (next > widest) widest = next;
    }
    if (widest == 0.0) return;
    const double next_hopeless = awake_up_to(loss, experts, step);
    double highest = -INFINITY, sum = 0.0;
    for (ptrdiff_t i = 0; i < experts; i++) {
        const double size = fabs(regret[i]), old_scale = scale[i * step], before = rate(old_scale, square[i * step], spread);
        double next = slower * old_scale;
        if (size > FEWEST && size > next) next = size;
        if (next < NARROWEST * widest) next = NARROWEST * widest;
        if (next < FEWEST) next = FEWEST; /* while one expert has all weight there are no regrets, and scales only fade */
        const double r = share * regret[i];
        scale[i * step] = next;
        square[i * step] = fade * square[i * step] + r * r;
        const double after = rate(next, square[i * step], spread);
        if (old_scale > 0.0) {
            const double x = before * r;
            exponent[i * step] = fade * (after / before) * (exponent[i * step] + x - x * x);
        }
        regret[i] = loss[i * step] <= next_hopeless ? exponent[i * step] + log(after) : -INFINITY;
        if (regret[i] > highest) highest = regret[i];
    }
    for (ptrdiff_t i = 0; i < experts; i++) sum += regret[i] = exp(regret[i] - highest);
    for (ptrdiff_t i = 0; i < experts; i++) weight[i * step] = regret[i] / sum;
}

/* By what an output's errors (ages,), `apart` numbers between two of them, are to be multiplied so that their mean square is at most
   `highest` times the usual one, which follows it as a mean in which this sample counts 1 / weight. */
static double cap(double *usual, const double *errors, ptrdiff_t apart, ptrdiff_t ages, double highest, double weight) {
    double loss = 0.0;
    for (ptrdiff_t age = 0; age < ages; age++) {
        const double e = bounded(errors[age * apart]);
        loss += e * e / ages;
    }
    /* Nothing is unusual as long as there were no errors at all. */
    const double share = *usual > 0.0 && loss > highest * *usual ? highest * *usual / loss : 1.0;
    *usual += (share * loss - *usual) / weight;
    return sqrt(share);
}

/* choices (1 + count, experts, m): weights of what is published, then those of each memory. */
static void choose(double *choices, ptrdiff_t m, const TABLES *memories, const TABLES *second, const ptrdiff_t *direct) {
    const ptrdiff_t count = memories->outputs / m, table = memories->experts * m;
    const double *weight = memories->views[0].buf, *share = second->views[0].buf;
    memset(choices, 0, table * sizeof(double));
    for (ptrdiff_t k = 0; k < count; k++)
        for (ptrdiff_t place = 0; place < table; place++) {
            const ptrdiff_t i = place / m, o = place % m;
            const double of_memory = choices[(1 + k) * table + place] = weight[(i * count + k) * m + o];
            choices[place] += share[k * m + o] * of_memory;
        }
    for (ptrdiff_t k = count; k < second->experts; k++)
        for (ptrdiff_t o = 0; o < m; o++) choices[direct[k - count] * m + o] += share[k * m + o];
}

PyDoc_STRVAR(learn_layers_doc,
             "learn_layers(choices, usual, memories, second, errors, combined, half_lives, direct, elapsed, highest, weight)\n\n"
             "One step of LayeredAggregation from errors (ages, experts, m) of the experts and `combined` (ages, 1 + count, m) of what is\n"
             "published and of the memories; then choices (1 + count, experts, m) are its weights and those of each memory. Without ages\n"
             "nothing is learned. memories and second: ConvexAggregation.tables, (experts, count m) and (count + direct, m); half_lives\n"
             "(count + 1,), that of the second layer last; direct: a tuple of experts. Squared errors of what is published count up to\n"
             "`highest` times the usual ones (m,), a mean in which this sample counts 1 / weight.");
static PyObject *learn_layers(PyObject *self, PyObject *args) {
    PyObject *objects[5], *of_memories, *of_second, *tuple;
    double elapsed, highest, weight, *work = NULL;
    TABLES memories, second;
    if (!PyArg_ParseTuple(args, "OOOOOOOO!ddd", &objects[0], &objects[1], &of_memories, &of_second, &objects[2], &objects[3], &objects[4],
                          &PyTuple_Type, &tuple, &elapsed, &highest, &weight) || !take_tables(of_memories, &memories)) return NULL;
    if (!take_tables(of_second, &second)) {
        release_all(memories.views, 5);
        return NULL;
    }
    const ptrdiff_t m = second.outputs, count = memories.outputs / m, n_direct = PyTuple_GET_SIZE(tuple), experts = memories.experts;
    Py_buffer views[5];
    static const char *names[] = {"choices", "usual", "errors", "combined", "half_lives"};
    const ptrdiff_t least[] = {(1 + count) * experts * m, m, 0, 0, count + 1};
    if (take_all(objects, views, names, least, 5, 2)) {
        const ptrdiff_t ages = length_of(&views[2]) / (experts * m);
        work = PyMem_Malloc((n_direct + (1 + ages) * (experts + second.experts)) * sizeof(double));
        ptrdiff_t *direct = (ptrdiff_t *)work;
        int fit = work && second.experts == count + n_direct && length_of(&views[3]) == ages * (1 + count) * m;
        for (ptrdiff_t i = 0; fit && i < n_direct; i++) {
            direct[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
            fit = direct[i] >= 0 && direct[i] < experts;
        }
        double *usual = views[1].buf, *regret = work + n_direct, *rivals = regret + experts + second.experts;
        const double *errors = views[2].buf, *combined = views[3].buf, *half_life = views[4].buf;
        for (ptrdiff_t o = 0; fit && ages && o < m; o++) {
            const double factor = cap(&usual[o], combined + o, (1 + count) * m, ages, highest, weight);
            for (ptrdiff_t k = 0; k < count; k++)
                learn_output(&memories, k * m + o, errors + o, m, factor, regret, ages, pow(0.5, elapsed / half_life[k]));
            for (ptrdiff_t age = 0, at = 0; age < ages; age++)
                for (ptrdiff_t i = 0; i < second.experts; i++, at++)
                    rivals[at] = i < count ? combined[(age * (1 + count) + 1 + i) * m + o] : errors[(age * experts + direct[i - count]) * m + o];
            learn_output(&second, o, rivals, 1, factor, regret, ages, pow(0.5, elapsed / half_life[count]));
        }
        if (fit)
            choose(views[0].buf, m, &memories, &second, direct);
        else if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "tables, errors, combined and direct do not fit");
        PyMem_Free(work);
        release_all(views, 5);
    }
    release_all(second.views, 5);
    release_all(memories.views, 5);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

PLAIN_MODULE(_aggregation, "Compiled on-line aggregation.", {"learn_layers", learn_layers, METH_VARARGS, learn_layers_doc})
