/* Kalman filters and a fixed-lag smoother of joint motion, several hypotheses about the noise side by side.
 *
 * State of one joint: position, velocity, acceleration, jerk; the jerk is a Wiener process. A lane is one filter: one
 * joint under one hypothesis about the noise. Lanes lie side by side in memory so that a vector instruction serves
 * several. The first lanes are the joints under the levels in use, and they alone are widened when a motion changes more
 * than their levels let expect; the smoother follows the second group, and what the others are for is the caller's affair.
 */
#include "_arguments.h"
#include <float.h>
#include <stdlib.h>

enum { STATES = 4, PAIRS = 10, RECORDS = 1024 }; /* records: as many as a period has samples at 2 kHz */
/* Sums over samples: positions and velocities scored; squared roughness of positions and velocities, products of
 * positions' roughness with the one before, and how many. */
enum { SCORED_Q, SCORED_V, ROUGH_Q, ROUGH_V, ROUGH_PRODUCT, ROUGH_COUNT, TALLIES };
enum { P00, P01, P02, P03, P11, P12, P13, P22, P23, P33 };

#define UNSEEN 1e30  /* variance of a measurement that tells nothing */
#define ROUNDING sqrt(DBL_EPSILON) /* of a position: smaller differences are those of floating-point numbers */
#define OUTLIER 3.0  /* standard deviations beyond which an error counts by its magnitude only, or for no more (Huber 1964) */
#define CHANCE 2.0   /* standard deviations of a mean error to which the filter forgets where it surprises, see `widen` */
#define SPAN 0.125   /* of the period: the mean is over so much of it */
#define QUANTA 3.0   /* steps of an encoder that a joint moves at least while it moves */
#define RESTLESS 6.0 /* standard deviations of the positions' noise, the same */

#include "_jump_bank.h"
/* What the smoother needs of one sample, for the lanes of the second group where there is one, else of the first. */
typedef struct {
    int64_t stamp;
    double step;   /* since the sample before [s] */
    double delay;  /* of the velocities [s] */
    double leak;   /* of the jerk [1/s] */
    double *x, *p; /* state and covariance after the sample */
    double *kq, *gq, *kv, *gv; /* gains and weighted innovations of position and velocity */
    double *jumping;           /* velocities and accelerations by the bank of jumps */
    int jumps;                 /* whether it knew any, of joints that moved */
} Record;

/* Votes on what repeated positions were: of joints that moved all along, or stood. */
typedef struct {
    double moved, stood;
    int longest; /* repetitions of joints that moved */
} Votes;

/* A joint whose position repeats: samples since it was new, and how far it had gone on during them. */
typedef struct {
    int samples;
    double way;
} Repeated;

/* What is known of repeated positions, see _repetition.h. */
typedef struct {
    Votes rows, single;
    Repeated *joints;
    int repeated;     /* rows in a row that were taken for repeated ones */
    ptrdiff_t runner; /* the joint that went the most steps of quantization between the last two new rows */
    double pace;      /* its velocity then */
    double since;     /* the last new row [s] */
    int silent;       /* repetitions since then that it should have moved in */
} Repetition;

typedef struct {
    PyObject_HEAD
    ptrdiff_t joints, width, lanes, active; /* width: joints, rounded up to whole vectors */
    ptrdiff_t groups, moving_groups;        /* hypotheses; those that only matter with velocities come last */
    double max_gap, period, lag, horizon;   /* [s] period: of the slowest joint's bandwidth */
    double surprise;                        /* [standard deviations], see `widen` */
    double *memory, *x, *p, *density, *rq, *rv, *delay; /* of the lanes; density: of the white snap */
    double *held_x, *held_p;                         /* of the lanes at the origin of the next scored prediction */
    double *log_q, *log_v, *square_q, *square_v;     /* of the lanes: sums of the predictions' log variances and errors */
    double *kq, *gq, *kv, *gv, *eq, *ev;             /* scratch of the lanes */
    double *mean;                                    /* of the first lanes: mean error of the predictions, see `widen` */
    double *position, *velocity, *step_q, *step_v;   /* of the joints: the last sample, smallest change seen */
    double *change;                                  /* of the joints: since the sample before */
    double *origin;                                  /* of the joints: position at the origin */
    double *tally[TALLIES];                          /* of the joints, see TALLIES */
    double *recent_q[4], *recent_v[4], recent_time[4]; /* the last samples */
    int recent;
    double unheard; /* since the last row that was new [s] */
    Repetition repetition;
    JumpBank bank; /* of the joints; only where there are hypotheses */
    double *rough;                                   /* of the joints: roughness of the last positions */
    int *velocity_scored;
    int *skip;               /* of the joints: whether this position tells nothing */
    int had_velocity;
    double prior[STATES], *leak;            /* leak: of the groups [1/s] */
    int64_t stamp, *origin_stamp;
    Record records[RECORDS];
    double *storage;
    int64_t first, count, ripe; /* records: first that is not smoothed, all ever taken, old enough up to here */
    int64_t compared, settled;  /* first that the bank was not compared with, a period old up to here */
    int64_t samples, scored;
} Filter;

/* What a jerk of 1 that decays at the rate `leak` [1/s] adds to the state within `d` seconds; rational in leak * d. */
typedef struct {
    double d, d2, to_q, to_v, to_a, stays;
} Passage;

INLINE Passage passage(double d, double leak) {
    const double l = leak * d, d2 = d * d / 2.0;
    return (Passage){d, d2, d * d2 / 3.0 / (1.0 + l / 4.0), d2 / (1.0 + l / 3.0), d / (1.0 + l / 2.0), 1.0 / (1.0 + l + l * l / 2.0)};
}

#define LOOPS "_motion_filter_loops.h"
#include "_versions.h"
#include "_jump_bank_follow.h"
#include "_repetition.h"

/* Squared error over its variance; outliers count by their magnitude, not its square. */
INLINE double squared(double error, double variance) {
    const double square = error * error / variance;
    return square < OUTLIER * OUTLIER ? square : OUTLIER * (2.0 * sqrt(square) - OUTLIER);
}

/* Score what each lane of a joint predicted for a position from its state `d` seconds ago. */
static void score_position(Filter *f, ptrdiff_t j, double position, double d) {
    const ptrdiff_t lanes = f->lanes, width = f->width;
    const double d2 = d * d / 2.0, noise = d2 * d2 * d2 * d * 8.0 / 252.0;
    const double *x = f->held_x, *p = f->held_p;
    for (ptrdiff_t l = j; l < f->active; l += width) {
        const double d3 = passage(d, f->leak[l / width]).to_q;
        const double p01 = p[P01 * lanes + l], p02 = p[P02 * lanes + l], p03 = p[P03 * lanes + l];
        const double p12 = p[P12 * lanes + l], p13 = p[P13 * lanes + l], p23 = p[P23 * lanes + l];
        const double m0 = p[l] + d * p01 + d2 * p02 + d3 * p03, m1 = p01 + d * p[P11 * lanes + l] + d2 * p12 + d3 * p13;
        const double m2 = p02 + d * p12 + d2 * p[P22 * lanes + l] + d3 * p23;
        const double m3 = p03 + d * p13 + d2 * p23 + d3 * p[P33 * lanes + l];
        const double variance = m0 + d * m1 + d2 * m2 + d3 * m3 + f->density[l] * noise + f->rq[l];
        const double error = position - (x[l] + d * x[lanes + l] + d2 * x[2 * lanes + l] + d3 * x[3 * lanes + l]);
        f->log_q[l] += log(variance);
        f->square_q[l] += squared(error, variance);
    }
    f->tally[SCORED_Q][j] += 1.0;
}

/* The same for a velocity. */
static void score_velocity(Filter *f, ptrdiff_t j, double velocity, double since) {
    const ptrdiff_t lanes = f->lanes, width = f->width;
    const double *x = f->held_x, *p = f->held_p;
    for (ptrdiff_t l = j; l < f->active; l += width) {
        const double d = since - f->delay[l], leak = f->leak[l / width], d2 = d > 0.0 ? passage(d, leak).to_v : d * d / 2.0;
        const double noise = d > 0.0 ? d * d * d * d * d / 20.0 : 0.0;
        const double error = velocity - (x[lanes + l] + d * x[2 * lanes + l] + d2 * x[3 * lanes + l]);
        const double variance = p[P11 * lanes + l] + 2.0 * (d * p[P12 * lanes + l] + d2 * p[P13 * lanes + l]) +
                                d * d * p[P22 * lanes + l] + 2.0 * d * d2 * p[P23 * lanes + l] +
                                d2 * d2 * p[P33 * lanes + l] + f->density[l] * noise + f->rv[l];
        f->log_v[l] += log(variance);
        f->square_v[l] += squared(error, variance);
    }
    f->tally[SCORED_V][j] += 1.0;
}

/* Third divided differences of the last four samples, scaled to the variance of one: noise, and next to no motion. */
static void roughness(Filter *f, const double *position, const double *velocity, double step) {
    const ptrdiff_t n = f->joints;
    const int place = f->recent & 3;
    memcpy(f->recent_q[place], position, n * sizeof(double));
    if (velocity) memcpy(f->recent_v[place], velocity, n * sizeof(double));
    for (int i = 0; i < 4; i++) f->recent_time[i] -= step;
    f->recent_time[place] = 0.0;
    if (++f->recent < 4) return;
    double weight[4], norm = 0.0;
    for (int i = 0; i < 4; i++) {
        double product = 1.0;
        for (int k = 0; k < 4; k++)
            if (k != i) product *= (f->recent_time[i] - f->recent_time[k]) / step;
        weight[i] = 1.0 / product;
        norm += weight[i] * weight[i];
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        double q = 0.0, v = 0.0;
        for (int i = 0; i < 4; i++) {
            q += weight[i] * f->recent_q[i][j];
            v += weight[i] * f->recent_v[i][j];
        }
        const double before = f->rough[j];
        f->rough[j] = q / sqrt(norm);
        if (q == 0.0) continue; /* stands still */
        f->tally[ROUGH_PRODUCT][j] += f->rough[j] * before;
        f->tally[ROUGH_Q][j] += q * q / norm;
        f->tally[ROUGH_V][j] += v * v / norm;
        f->tally[ROUGH_COUNT][j] += 1.0;
    }
}

/* Smoothed position, velocity and acceleration at a record: x + P a. */
static void read_smoothed(const Record *record, const double *a, double *out, ptrdiff_t width, ptrdiff_t joints) {
    static const int row[3][STATES] = {{P00, P01, P02, P03}, {P01, P11, P12, P13}, {P02, P12, P22, P23}};
    for (int i = 0; i < 3; i++)
        for (ptrdiff_t l = 0; l < joints; l++) {
            double sum = record->x[i * width + l];
            for (int k = 0; k < STATES; k++) sum += record->p[row[i][k] * width + l] * a[k * width + l];
            out[i * joints + l] = sum;
        }
}

static void start(Filter *f, const double *position, const double *velocity) {
    const ptrdiff_t lanes = f->lanes;
    memset(f->x, 0, STATES * lanes * sizeof(double));
    memset(f->p, 0, PAIRS * lanes * sizeof(double));
    for (ptrdiff_t l = 0; l < lanes; l++) {
        const ptrdiff_t j = l % f->width;
        f->x[l] = j < f->joints ? position[j] : 0.0;
        f->p[P00 * lanes + l] = f->rq[l];
        f->p[P11 * lanes + l] = f->prior[1] * f->prior[1];
        f->p[P22 * lanes + l] = f->prior[2] * f->prior[2];
        f->p[P33 * lanes + l] = f->prior[3] * f->prior[3];
    }
    memset(f->kq, 0, STATES * lanes * sizeof(double));
    memset(f->gq, 0, lanes * sizeof(double));
    memset(f->mean, 0, lanes * sizeof(double));
    for (ptrdiff_t l = 0; l < lanes; l++) {
        f->ev[l] = velocity ? f->rv[l] : UNSEEN;
        f->eq[l] = velocity && l % f->width < f->joints ? velocity[l % f->width] : 0.0;
    }
    CHOSEN(take_velocity)(f, f->eq, f->ev, lanes);
    for (ptrdiff_t j = 0; j < f->joints; j++) f->change[j] = 0.0, f->origin_stamp[j] = -1;
    f->samples = 0;
    f->recent = 0;
    bank_restart(&f->bank);
    f->unheard = 0.0;
    repetition_restart(f);
    roughness(f, position, velocity, 0.0);
}

/* Remember a joint's lanes: from here their next scored prediction starts. */
static void hold(Filter *f, ptrdiff_t j, double position) {
    for (int i = 0; i < STATES; i++)
        for (ptrdiff_t l = i * f->lanes + j; l < (i + 1) * f->lanes; l += f->width) f->held_x[l] = f->x[l];
    for (int i = 0; i < PAIRS; i++)
        for (ptrdiff_t l = i * f->lanes + j; l < (i + 1) * f->lanes; l += f->width) f->held_p[l] = f->p[l];
    f->origin[j] = position;
    f->origin_stamp[j] = f->stamp;
    f->velocity_scored[j] = 0;
}

/* Whether a joint goes farther within the period than noise and quantization do. */
INLINE int moves(const Filter *f, ptrdiff_t j) {
    const double quanta = f->step_q[j] < UNSEEN ? QUANTA * f->step_q[j] : 0.0;
    return fabs(f->x[f->lanes + j]) * f->period >= fmax(quanta, RESTLESS * sqrt(f->rq[j]));
}

/* Whether any joint does. */
static int any_moves(const Filter *f) {
    for (ptrdiff_t j = 0; j < f->joints; j++)
        if (moves(f, j)) return 1;
    return 0;
}

static void remember(Filter *f, double step) {
    const ptrdiff_t width = f->width, lanes = f->lanes, bytes = width * sizeof(double);
    const ptrdiff_t from = f->groups > 1 ? width : 0; /* the second group: what is forgotten helps to smooth */
    Record *record = &f->records[f->count % RECORDS];
    record->stamp = f->stamp;
    record->step = step;
    record->delay = f->delay[0];
    record->leak = f->leak[0];
    for (int i = 0; i < STATES; i++) {
        memcpy(record->x + i * width, f->x + i * lanes + from, bytes);
        memcpy(record->kq + i * width, f->kq + i * lanes + from, bytes);
        memcpy(record->kv + i * width, f->kv + i * lanes + from, bytes);
    }
    for (int i = 0; i < PAIRS; i++) memcpy(record->p + i * width, f->p + i * lanes + from, bytes);
    memcpy(record->gq, f->gq + from, bytes);
    memcpy(record->gv, f->gv + from, bytes);
    record->jumps = f->bank.awake && f->bank.samples > SETTLING && any_moves(f);
    if (record->jumps) {
        bank_mix(&f->bank, 0);
        memcpy(record->jumping, f->bank.mixed + width, 2 * bytes);
    }
    f->count++;
}

/* The first record from `from` on that is younger than `age` [s] and than half of all that are kept. */
static int64_t older(const Filter *f, int64_t from, double age) {
    const int64_t newest = f->count - 1, oldest_allowed = newest - RECORDS / 2;
    while (from < newest && f->stamp - f->records[from % RECORDS].stamp >= (int64_t)(age * 1e9)) from++;
    return from < oldest_allowed ? oldest_allowed : from;
}

/* How many records can be smoothed now: one, as a rule, for each sample. */
static int64_t due(Filter *f) {
    f->ripe = older(f, f->ripe, f->lag);
    f->settled = older(f, f->settled, f->period);
    return f->ripe - f->first;
}

static int finite_all(const double *values, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return 0;
    return 1;
}

/* Follow the smallest changes of positions: steps of quantization. */
static void follow_steps(Filter *f, const double *position) {
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double change = position[j] - f->position[j];
        if (change != 0.0 && fabs(change) < f->step_q[j]) f->step_q[j] = fabs(change);
        /* A joint that moves fast changes by many steps, but its changes differ by few. */
        const double turn = fabs(change - f->change[j]);
        if (turn > ROUNDING * fabs(position[j]) && turn < f->step_q[j]) f->step_q[j] = turn;
        f->change[j] = change;
    }
}

static void take_sample(Filter *f, int64_t stamp, const double *position, const double *velocity) {
    const ptrdiff_t n = f->joints, width = f->width, lanes = f->lanes;
    const double step = (double)(stamp - f->stamp) * 1e-9;
    if (velocity && f->active < lanes) { /* those who only matter with velocities were not kept up */
        for (ptrdiff_t l = f->active; l < lanes; l++) {
            for (int i = 0; i < STATES; i++) {
                f->x[i * lanes + l] = f->x[i * lanes + l % width];
                f->held_x[i * lanes + l] = f->held_x[i * lanes + l % width];
            }
            for (int i = 0; i < PAIRS; i++) {
                f->p[i * lanes + l] = f->p[i * lanes + l % width];
                f->held_p[i * lanes + l] = f->held_p[i * lanes + l % width];
            }
        }
        f->active = lanes;
    }
    const ptrdiff_t active = f->active;
    for (ptrdiff_t g = 0; g * width < active;) { /* neighbouring groups of the same leak together */
        ptrdiff_t end = g + 1;
        while (end * width < active && f->leak[end] == f->leak[g]) end++;
        CHOSEN(predict)(f->x, f->p, f->density, passage(step, f->leak[g]), g * width, end * width, lanes);
        g = end;
    }
    double *z = f->eq, *r = f->ev;
    follow_steps(f, position);
    const int old = find_repeated(f, position, velocity, step);
    for (ptrdiff_t l = 0, j = 0; l < active; l++) {
        z[l] = j < n ? position[j] : 0.0;
        r[l] = j < n && f->skip[j] ? UNSEEN : f->rq[l];
        j = j + 1 == width ? 0 : j + 1;
    }
    CHOSEN(widen)(f, z, r, fmin(0.5, step / (SPAN * f->period)), width);
    if (velocity)
        bank_restart(&f->bank);
    else if (f->groups > 1)
        bank_follow(&f->bank, f->x, f->p, lanes, z, r, f->rq, step, any_moves(f));
    CHOSEN(take_position)(f, z, r, active);
    f->stamp = stamp;
    for (ptrdiff_t j = 0; j < n; j++) {
        if (f->origin_stamp[j] < 0 || f->skip[j]) continue;
        const double since = (double)(stamp - f->origin_stamp[j]) * 1e-9;
        if (since < f->horizon) continue;
        const double quanta = f->step_q[j] < UNSEEN ? QUANTA * f->step_q[j] : 0.0;
        if (!moves(f, j)) {
            f->origin_stamp[j] = -1;
            continue;
        }
        if (velocity && !f->velocity_scored[j]) {
            score_velocity(f, j, velocity[j], since);
            f->velocity_scored[j] = 1;
        }
        /* Within a few steps of quantization errors are alike: such a prediction tells nothing about the noise. */
        if (fabs(position[j] - f->origin[j]) > quanta && since < 3.0 * f->period + 2.0 * step) {
            score_position(f, j, position[j], since);
            f->scored++;
            f->origin_stamp[j] = -1; /* a new origin once the velocity is in */
        } else if (since > f->period)
            f->origin_stamp[j] = -1;
    }
    f->unheard += step;
    if (f->repetition.silent)
        f->recent = 0; /* a row that is perhaps not new is no evidence of noise */
    else if (!old) {
        roughness(f, position, velocity, f->unheard);
        f->unheard = 0.0;
    }
    if (velocity) {
        for (ptrdiff_t j = 0; j < n; j++) {
            const double change = f->had_velocity ? fabs(velocity[j] - f->velocity[j]) : 0.0;
            if (change > 0.0 && change < f->step_v[j]) f->step_v[j] = change;
        }
        for (ptrdiff_t l = 0, j = 0; l < active; l++) {
            z[l] = j < n ? velocity[j] : 0.0;
            r[l] = old ? UNSEEN : f->rv[l];
            j = j + 1 == width ? 0 : j + 1;
        }
        CHOSEN(take_velocity)(f, z, r, active);
    } else {
        memset(f->kv, 0, STATES * lanes * sizeof(double));
        memset(f->gv, 0, lanes * sizeof(double));
    }
    for (ptrdiff_t j = 0; j < n; j++)
        if (f->origin_stamp[j] < 0) hold(f, j, position[j]);
    memcpy(f->position, position, n * sizeof(double));
    if (velocity) memcpy(f->velocity, velocity, n * sizeof(double));
    f->had_velocity = velocity != NULL;
    remember(f, step);
    f->samples++;
}

/* Whether there are exactly `size` numbers in an array; 0 and an error otherwise. */
static int exactly(const Arguments *a, int array, const char *name, ptrdiff_t size) {
    if (!a->array[array] || a->length[array] == size) return 1;
    PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, needs %zd", name, a->length[array], size);
    return 0;
}

FUNCTION(add, "# 0 ~0",
         "add(stamp, position, velocity)\n\n"
         "Take one sample in; returns how many past samples `smooth` can tell about now, or -1 if the sample lies beyond a\n"
         "gap: nothing is taken in then, and `restart` comes first. stamp: ns; velocity: None if not measured.") {
    Filter *f = self;
    const int64_t stamp = a->integer[0];
    const double *position = a->array[0], *velocity = a->array[1];
    if (f->count && stamp <= f->stamp)
        return PyErr_Format(PyExc_ValueError, "stamp is %lld ns, not later than the last, %lld ns", (long long)stamp, (long long)f->stamp);
    if (!exactly(a, 0, "position", f->joints) || !exactly(a, 1, "velocity", f->joints)) return NULL;
    if (!finite_all(position, f->joints) || (velocity && !finite_all(velocity, f->joints)))
        return PyErr_Format(PyExc_ValueError, "a position or velocity is not finite");
    if (!f->count) {
        f->stamp = stamp;
        f->active = velocity ? f->lanes : f->width * (f->groups - f->moving_groups);
        start(f, position, velocity);
        memcpy(f->position, position, f->joints * sizeof(double));
        if (velocity) memcpy(f->velocity, velocity, f->joints * sizeof(double));
        f->had_velocity = velocity != NULL;
        remember(f, 0.0);
        return PyLong_FromLong(0);
    }
    if ((double)(stamp - f->stamp) * 1e-9 > f->max_gap) return PyLong_FromLong(-1);
    take_sample(f, stamp, position, velocity);
    return PyLong_FromLongLong(due(f));
}

FUNCTION(smooth, "!0",
         "smooth(out)\n\n"
         "Write smoothed motions of the oldest samples that were not smoothed yet into out (k, 3, joints), k as `add` or\n"
         "`waiting` said; returns their stamps [ns].") {
    Filter *f = self;
    double *out = a->array[0];
    const ptrdiff_t size = 3 * f->joints;
    const int64_t k = a->length[0] / size;
    if (k > f->count - f->first)
        return PyErr_Format(PyExc_ValueError, "out takes %lld motions, but %lld wait", (long long)k, (long long)(f->count - f->first));
    double *back = scratch(a, (STATES + 3) * f->width);
    PyObject *stamps = back ? PyList_New(k) : NULL;
    if (!stamps) return NULL;
    memset(back, 0, (STATES + 3) * f->width * sizeof(double));
    /* The bank is judged by motions smoothed over a period, in blocks, so that each costs a bounded number of steps back. */
    const int64_t block = f->settled - f->compared, comparing = f->bank.awake && block > (f->count - 1 - f->settled) / 3;
    double *truth = back + STATES * f->width;
    for (int64_t i = f->count - 1; i >= (comparing && f->compared < f->first ? f->compared : f->first); i--) {
        const Record *record = &f->records[i % RECORDS];
        const int64_t place = i - f->first;
        if (place >= 0 && place < k) {
            read_smoothed(record, back, out + place * size, f->width, f->joints);
            PyList_SET_ITEM(stamps, place, PyLong_FromLongLong(record->stamp));
        }
        if (comparing && i < f->settled && record->jumps) {
            read_smoothed(record, back, truth, f->width, f->joints);
            bank_compare(&f->bank, record->jumping, record->x + f->width, truth + f->joints, record->step);
        }
        CHOSEN(step_back)(record, back, f->width);
    }
    f->first += k;
    if (f->ripe < f->first) f->ripe = f->first;
    if (comparing || !f->bank.awake) f->compared = f->settled;
    return stamps;
}

FUNCTION(restart, "", "restart()\n\nForget all samples; what was seen of steps and scores stays.") {
    Filter *f = self;
    f->first = f->count = f->ripe = f->compared = f->settled = 0;
    f->samples = 0;
    Py_RETURN_NONE;
}

/* Whether a sample of this group was taken in; 0 and an error otherwise. */
static int is_known(const Filter *f, long long group) {
    if (group < 0 || group >= f->groups) return PyErr_Format(PyExc_ValueError, "group is %lld", group), 0;
    if (!f->count) return PyErr_Format(PyExc_ValueError, "no sample was taken in yet"), 0;
    return 1;
}

FUNCTION(read, "!~0 !~0 #",
         "read(state, deviation, group)\n\n"
         "Write the state of the first lanes and the standard deviations of those of a group at the newest sample, each\n"
         "(3, joints); returns its stamp.") {
    static const int diagonal[3] = {P00, P11, P22};
    Filter *f = self;
    const ptrdiff_t n = f->joints, group = a->integer[0];
    double *state = a->array[0], *deviation = a->array[1];
    if (!is_known(f, group) || !exactly(a, 0, "state", 3 * n) || !exactly(a, 1, "deviation", 3 * n)) return NULL;
    if (state) {
        const int jumps = group == 0 && bank_is_believed(&f->bank);
        if (jumps) bank_mix(&f->bank, 0);
        const double *from = jumps ? f->bank.mixed : f->x;
        for (int i = 0; i < 3; i++) memcpy(state + i * n, from + i * (jumps ? f->width : f->lanes), n * sizeof(double));
    }
    for (ptrdiff_t l = 0; deviation && l < 3 * n; l++)
        deviation[l] = sqrt(fmax(0.0, f->p[diagonal[l / n] * f->lanes + group * f->width + l % n]));
    return PyLong_FromLongLong(f->stamp);
}

FUNCTION(follow_usual, "!0 % % #",
         "follow_usual(usual, share, most, group)\n\n"
         "Whether no standard deviation of the newest accelerations of a group exceeds the usual one (joints,) by the factor `most`;\n"
         "the usual one then goes `share` of the way there, or to that bound. Usual deviations of 0 are set, and not exceeded.") {
    Filter *f = self;
    double *usual = a->array[0];
    if (!is_known(f, a->integer[0]) || !exactly(a, 0, "usual", f->joints)) return NULL;
    int within = 1;
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double deviation = sqrt(fmax(0.0, f->p[P22 * f->lanes + a->integer[0] * f->width + j]));
        if (usual[j] <= 0.0) usual[j] = deviation;
        const double bound = a->number[1] * usual[j];
        within &= deviation <= bound;
        usual[j] += a->number[0] * (fmin(deviation, bound) - usual[j]);
    }
    return PyBool_FromLong(within);
}

FUNCTION(set_levels, "0 0 % % % %",
         "set_levels(levels, leak, period, lag, horizon, surprise)\n\n"
         "Use levels (4, groups, joints): density of the white snap, variances of position and velocity, delay of\n"
         "velocities [s]; leak of the jerk (groups,) [1/s]; period of the slowest joint's bandwidth, lag of the smoother and horizon\n"
         "of the scored predictions [s]; standard deviations of the mean error of some predictions beyond which the first lanes forget what they knew.") {
    Filter *f = self;
    const ptrdiff_t n = f->joints, width = f->width;
    const double *levels = a->array[0];
    if (!exactly(a, 0, "levels", 4 * f->groups * n) || !exactly(a, 1, "leak", f->groups)) return NULL;
    double *to[4] = {f->density, f->rq, f->rv, f->delay};
    for (int i = 0; i < 4; i++)
        for (ptrdiff_t l = 0; l < f->lanes; l++) {
            const ptrdiff_t j = l % width;
            to[i][l] = levels[(i * f->groups + l / width) * n + (j < n ? j : 0)];
        }
    memcpy(f->leak, a->array[1], f->groups * sizeof(double));
    f->period = a->number[0], f->lag = a->number[1], f->horizon = a->number[2], f->surprise = a->number[3];
    Py_RETURN_NONE;
}

FUNCTION(evidence, "!0 !0 !0",
         "evidence(scores, tallies, steps)\n\n"
         "Write what was gathered since the last call: sums of log variances, then of squared normalized errors, of positions and velocities (4, groups, joints);\n"
         "of the joints (6, joints): numbers of positions and of velocities scored, squared roughness of positions and of\n"
         "velocities, products of positions' with the one before, how many; and the smallest changes of\n"
         "position and velocity ever seen (2, joints), infinite if there was none.") {
    Filter *f = self;
    const ptrdiff_t n = f->joints, used = f->groups * n;
    double *scores = a->array[0], *tallies = a->array[1], *steps = a->array[2], *sums[4] = {f->log_q, f->log_v, f->square_q, f->square_v};
    if (!exactly(a, 0, "scores", 4 * used) || !exactly(a, 1, "tallies", TALLIES * n) || !exactly(a, 2, "steps", 2 * n)) return NULL;
    for (int i = 0; i < 4; i++) {
        for (ptrdiff_t g = 0; g < f->groups; g++)
            memcpy(scores + i * used + g * n, sums[i] + g * f->width, n * sizeof(double));
        memset(sums[i], 0, f->lanes * sizeof(double));
    }
    for (int i = 0; i < TALLIES; i++) {
        memcpy(tallies + i * n, f->tally[i], n * sizeof(double));
        memset(f->tally[i], 0, n * sizeof(double));
    }
    f->scored = 0;
    for (ptrdiff_t j = 0; j < 2 * n; j++) {
        const double step = j < n ? f->step_q[j] : f->step_v[j - n];
        steps[j] = step < UNSEEN ? step : INFINITY;
    }
    Py_RETURN_NONE;
}

static PyObject *get_waiting(Filter *f, void *closure) { return PyLong_FromLongLong(f->count - f->first); }
static PyObject *get_believed(Filter *f, void *closure) { return PyBool_FromLong(bank_is_believed(&f->bank)); }
static PyObject *get_scored(Filter *f, void *closure) { return PyLong_FromLongLong(f->scored); }

static double *aligned(size_t numbers) {
    double *memory = aligned_alloc(64, (numbers * sizeof(double) + 63) / 64 * 64);
    if (memory) memset(memory, 0, (numbers * sizeof(double) + 63) / 64 * 64);
    return memory;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    Py_ssize_t joints, groups, moving_groups;
    double max_gap, v, a, j;
    if (!PyArg_ParseTuple(args, "nnnd(ddd)", &joints, &groups, &moving_groups, &max_gap, &v, &a, &j)) return NULL;
    if (joints < 1 || joints > 4096 || groups < 1 || groups > 64 || moving_groups < 0 || moving_groups >= groups)
        return PyErr_Format(PyExc_ValueError, "(joints, groups) is (%zd, %zd)", joints, groups);
    Filter *f = (Filter *)type->tp_alloc(type, 0);
    if (!f) return NULL;
    f->joints = joints;
    f->groups = groups;
    f->moving_groups = moving_groups;
    const ptrdiff_t width = f->width = (joints + 7) / 8 * 8, lanes = f->lanes = width * groups;
    f->active = lanes;
    f->max_gap = max_gap;
    f->surprise = INFINITY;
    f->prior[1] = v, f->prior[2] = a, f->prior[3] = j;
    double **arrays[] = {&f->density, &f->rq, &f->rv, &f->delay, &f->log_q, &f->log_v, &f->square_q, &f->square_v, &f->gq, &f->gv, &f->eq, &f->ev, &f->mean};
    const size_t each = 13 + 4 * STATES + 2 * PAIRS;
    const size_t record = width * (3 * STATES + PAIRS + 4);
    f->memory = aligned(each * lanes + (7 + TALLIES + 8) * width + groups);
    f->storage = aligned(record * RECORDS);
    f->skip = calloc(2 * joints, sizeof(int));
    f->repetition.joints = calloc(joints, sizeof(Repeated));
    f->origin_stamp = calloc(joints, sizeof(int64_t));
    if (!f->memory || !f->storage || !f->skip || !f->repetition.joints || !f->origin_stamp || !bank_make(&f->bank, joints, width)) {
        Py_DECREF(f);
        return PyErr_NoMemory();
    }
    f->velocity_scored = f->skip + joints;
    double *next = f->memory;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++, next += lanes) *arrays[i] = next;
    double **states[] = {&f->x, &f->held_x, &f->kq, &f->kv}, **covariances[] = {&f->p, &f->held_p};
    for (int i = 0; i < 4; i++, next += STATES * lanes) *states[i] = next;
    for (int i = 0; i < 2; i++, next += PAIRS * lanes) *covariances[i] = next;
    double **of_joints[] = {&f->position, &f->velocity, &f->step_q, &f->step_v, &f->origin, &f->rough, &f->change};
    for (int i = 0; i < 7; i++, next += width) *of_joints[i] = next;
    for (int i = 0; i < TALLIES; i++, next += width) f->tally[i] = next;
    for (int i = 0; i < 4; i++, next += 2 * width) f->recent_q[i] = next, f->recent_v[i] = next + width;
    f->leak = next;
    for (ptrdiff_t i = 0; i < width; i++) f->step_q[i] = f->step_v[i] = UNSEEN;
    next = f->storage;
    for (int i = 0; i < RECORDS; i++) {
        Record *r = &f->records[i];
        double **parts[] = {&r->x, &r->kq, &r->kv};
        for (int k = 0; k < 3; k++, next += STATES * width) *parts[k] = next;
        r->p = next, next += PAIRS * width;
        r->gq = next, next += width;
        r->gv = next, next += width;
        r->jumping = next, next += 2 * width;
    }
    return (PyObject *)f;
}

static void discard(Filter *f) {
    free(f->memory);
    free(f->bank.memory);
    free(f->storage);
    free(f->skip);
    free(f->repetition.joints);
    free(f->origin_stamp);
    Py_TYPE(f)->tp_free((PyObject *)f);
}

static PyMethodDef methods[] = {
    METHOD(add), METHOD(smooth), METHOD(restart), METHOD(read), METHOD(follow_usual), METHOD(set_levels), METHOD(evidence),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"waiting", (getter)get_waiting, NULL, "Samples that were taken in and not smoothed yet.", NULL},
    {"believed", (getter)get_believed, NULL, "Whether accelerations are believed to jump, so that `read` reads the bank.", NULL},
    {"scored", (getter)get_scored, NULL, "Instants scored since the last call of evidence.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "icub_learning.dynamics.motion._motion_filter.Filter",
    .tp_basicsize = sizeof(Filter),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Filter(joints, groups, moving_groups, max_gap, (velocity, acceleration, jerk))\n\n"
              "Kalman filters of `joints` joints under `groups` hypotheses, of which the last `moving_groups` only matter with\n"
              "velocities; max_gap [s]; standard deviations of the state at the start.",
    .tp_new = make,
    .tp_dealloc = (destructor)discard,
    .tp_methods = methods,
    .tp_getset = getters,
};

static PyMethodDef functions[] = {VERSION_METHODS, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_motion_filter", "Compiled motion filter.", -1, functions,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__motion_filter(void) {
    use_best_version();
    PyObject *made = PyModule_Create(&module);
    if (!made || PyType_Ready(&type) < 0) return NULL;
    Py_INCREF(&type);
    if (PyModule_AddIntMacro(made, STATES) < 0 || PyModule_AddObject(made, "Filter", (PyObject *)&type) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
