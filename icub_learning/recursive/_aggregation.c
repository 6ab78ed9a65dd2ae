/* One step of Bernstein online aggregation: a dozen experts and outputs, too few for calls of NumPy to pay off. */
#include "_arguments.h"

#define FEWEST 1e-150   /* magnitude up to which a regret counts as zero */
#define NARROWEST 1e-9  /* least scale of an expert, relative to the largest one of the output */
#define SCALES_FADE 0.9 /* scales fade by this power of the fading factor; below 1, see the proof (docs/theory/joint_model.md) */
#define HOPELESS 25.0   /* ratio of an expert's faded loss to the best expert's above which the expert sleeps */
#define LARGEST 1e60    /* magnitude to which errors are clipped, so that no square of a square overflows */

static double bounded(double error) { return error > LARGEST ? LARGEST : error < -LARGEST ? -LARGEST : error; }

static double rate(double scale, double square, double spread) {
    const double first = 0.5 / scale, second = sqrt(spread / square); /* infinite where nothing was learned yet */
    return first < second ? first : second;
}

/* Returns the next scale of an expert. One that sleeps has no regrets and its scale does not fade: it wakes with its old rate. */
static double next_scale(double scale, double size, int awake, double slower) {
    const double faded = awake ? slower * scale : scale;
    return size > FEWEST && size > faded ? size : faded;
}

/* Returns the faded loss above which an expert sleeps. */
static double awake_up_to(const double *loss, ptrdiff_t experts, ptrdiff_t step) {
    double best = loss[0];
    for (ptrdiff_t i = 1; i < experts; i++)
        if (loss[i * step] < best) best = loss[i * step];
    return HOPELESS * best;
}

/* The tables (experts, outputs) of a ConvexAggregation. */
typedef struct {
    double *weight, *exponent, *scale, *square, *loss;
    ptrdiff_t experts, outputs;
} TABLES;

static int take_tables(Arguments *a, PyObject *tuple, TABLES *t) {
    Arguments tables;
    if (!take_tuple(a, tuple, &tables, "tables(weight, exponent, scale, square, loss)", "!n !=n !=n !=n !=n")) return 0;
    const Py_buffer *view = tables.view[0];
    if (!fits(view->ndim == 2 && view->len, "the tables of an aggregation")) return 0;
    *t = (TABLES){tables.array[0], tables.array[1], tables.array[2], tables.array[3], tables.array[4], view->shape[0], view->shape[1]};
    return 1;
}

/* Learns output j from errors (ages, experts) times `factor`, each `apart` numbers from the next; overwrites regret. */
static void learn_output(const TABLES *t, ptrdiff_t j, const double *error, ptrdiff_t apart, double factor, double *regret, ptrdiff_t ages,
                         double fade) {
    double *weight = t->weight + j, *exponent = t->exponent + j, *scale = t->scale + j, *square = t->square + j, *loss = t->loss + j;
    const ptrdiff_t experts = t->experts, step = t->outputs;
    const double hopeless = awake_up_to(loss, experts, step), spread = log(experts > 2 ? experts : 2), slower = pow(fade, SCALES_FADE);
    for (ptrdiff_t i = 0; i < experts; i++) regret[i] = 0.0;
    for (ptrdiff_t age = 0; age < ages; age++) {
        const double *of_age = error + age * experts * apart;
        double combined = 0.0;
        for (ptrdiff_t i = 0; i < experts; i++) combined += weight[i * step] * factor * bounded(of_age[i * apart]);
        for (ptrdiff_t i = 0; i < experts; i++)
            if (loss[i * step] <= hopeless) regret[i] += 2.0 / ages * combined * (combined - factor * bounded(of_age[i * apart]));
    }
    double share = 1.0, widest = 0.0;
    for (ptrdiff_t i = 0; i < experts; i++) {
        const double size = fabs(regret[i]);
        if (size > FEWEST && scale[i * step] < share * size) share = scale[i * step] / size;
        const double next = next_scale(scale[i * step], size, loss[i * step] <= hopeless, slower);
        if (next > widest) widest = next;
    }
    /* While one expert has all weight there are no regrets, and scales only fade. */
    const double least = NARROWEST * widest > FEWEST ? NARROWEST * widest : FEWEST;
    double highest = -INFINITY, sum = 0.0;
    for (ptrdiff_t i = 0; i < experts; i++) {
        if (widest > 0.0) {
            const double r = share * regret[i], old_scale = scale[i * step], before = rate(old_scale, square[i * step], spread);
            const int awake = loss[i * step] <= hopeless;
            const double next = next_scale(old_scale, fabs(regret[i]), awake, slower);
            scale[i * step] = next > least ? next : least;
            if (awake) square[i * step] = fade * square[i * step] + r * r;
            const double after = rate(scale[i * step], square[i * step], spread);
            if (old_scale > 0.0) {
                const double x = before * r;
                exponent[i * step] = fade * (after / before) * (exponent[i * step] + x - x * x);
            }
            regret[i] = exponent[i * step] + log(after);
        }
        double lost = 0.0;
        for (ptrdiff_t age = 0; age < ages; age++) {
            const double e = factor * bounded(error[(age * experts + i) * apart]);
            lost += e * e;
        }
        loss[i * step] = fade * loss[i * step] + lost / ages;
    }
    if (widest == 0.0) return;
    const double next_hopeless = awake_up_to(loss, experts, step);
    for (ptrdiff_t i = 0; i < experts; i++) {
        if (loss[i * step] > next_hopeless) regret[i] = -INFINITY;
        if (regret[i] > highest) highest = regret[i];
    }
    for (ptrdiff_t i = 0; i < experts; i++) sum += regret[i] = exp(regret[i] - highest);
    for (ptrdiff_t i = 0; i < experts; i++) weight[i * step] = regret[i] / sum;
}

/* Returns the factor that limits the mean square of an output's errors (ages,), each `apart` numbers from the next, to `highest`
   times the usual one, and updates `usual`, the mean of these limited mean squares, in which this sample counts 1 / weight. */
static double cap(double *usual, const double *errors, ptrdiff_t apart, ptrdiff_t ages, double highest, double weight) {
    double loss = 0.0;
    for (ptrdiff_t age = 0; age < ages; age++) {
        const double e = bounded(errors[age * apart]);
        loss += e * e / ages;
    }
    /* No error is unusual before the first one that is not 0. */
    const double share = *usual > 0.0 && loss > highest * *usual ? highest * *usual / loss : 1.0;
    *usual += (share * loss - *usual) / weight;
    return sqrt(share);
}

/* Writes choices (1 + count, experts, m): weights of the experts in what is published, then in each memory. */
static void choose(double *choices, ptrdiff_t m, const TABLES *memories, const TABLES *second, const long long *direct) {
    const ptrdiff_t count = memories->outputs / m, table = memories->experts * m;
    const double *weight = memories->weight, *share = second->weight;
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

FUNCTION(learn_layers, "!0 !0 @ @ 0 0 0 I0 % % %",
         "learn_layers(choices, usual, memories, second, errors, combined, half_lives, direct, elapsed, highest, weight)\n\n"
         "One step of LayeredAggregation from errors (ages, experts, m) of the experts and `combined` (ages, 1 + count, m) of what is\n"
         "published and of the memories; then choices (1 + count, experts, m) are its weights and those of each memory. Without ages\n"
         "nothing is learned. memories and second: ConvexAggregation.tables, (experts, count m) and (count + direct, m); half_lives\n"
         "(count + 1,), that of the second layer last; direct: indices of experts. Squared errors of what is published count up to\n"
         "`highest` times the usual ones (m,), a mean in which this sample counts 1 / weight.") {
    const double elapsed = a->number[0], highest = a->number[1], weight = a->number[2];
    TABLES memories, second;
    if (!take_tables(a, a->object[0], &memories) || !take_tables(a, a->object[1], &second)) return NULL;
    const ptrdiff_t m = second.outputs, count = memories.outputs / m, experts = memories.experts, ages = a->length[2] / (experts * m);
    if (!fits(a->length[0] >= (1 + count) * experts * m && a->length[1] >= m && a->length[4] > count &&
                  second.experts == count + a->length[5] && a->length[3] == ages * (1 + count) * m,
              "tables, choices, usual, errors, combined, half_lives and direct"))
        return NULL;
    const long long *direct = a->array[5];
    for (ptrdiff_t i = 0; i < a->length[5]; i++)
        if (!fits(direct[i] >= 0 && direct[i] < experts, "direct and experts")) return NULL;
    double *regret = scratch(a, (1 + ages) * (experts + second.experts)), *rivals = regret + experts + second.experts;
    if (!regret) return NULL;
    double *usual = a->array[1];
    const double *errors = a->array[2], *combined = a->array[3], *half_life = a->array[4];
    for (ptrdiff_t o = 0; ages && o < m; o++) {
        const double factor = cap(&usual[o], combined + o, (1 + count) * m, ages, highest, weight);
        for (ptrdiff_t k = 0; k < count; k++)
            learn_output(&memories, k * m + o, errors + o, m, factor, regret, ages, pow(0.5, elapsed / half_life[k]));
        for (ptrdiff_t age = 0, at = 0; age < ages; age++)
            for (ptrdiff_t i = 0; i < second.experts; i++, at++)
                rivals[at] = i < count ? combined[(age * (1 + count) + 1 + i) * m + o] : errors[(age * experts + direct[i - count]) * m + o];
        learn_output(&second, o, rivals, 1, factor, regret, ages, pow(0.5, elapsed / half_life[count]));
    }
    choose(a->array[0], m, &memories, &second, direct);
    Py_RETURN_NONE;
}

PLAIN_MODULE(_aggregation, "Compiled on-line aggregation.", METHOD(learn_layers))
