/* Kalman filters and a fixed-lag smoother of joint motion, several hypotheses about the noise side by side.
 *
 * State of one joint: position, velocity, acceleration, jerk; white snap drives the jerk, which decays. A lane is one filter:
 * one joint under one hypothesis about the noise. Lanes lie side by side in memory so that a vector instruction serves
 * several. Each hypothesis is a group of `width` lanes. The first group has the noise levels in use, and only its covariances
 * are widened when a motion changes more than its levels explain; the smoother follows the second; the caller uses the others.
 */
#include "_arguments.h"
#include <float.h>
#include <stdlib.h>
#include <structmember.h>

enum { STATES = 4, PAIRS = 10, RECENT = 4, RECORDS = 1024 }; /* RECORDS: number of samples at 2 kHz in the longest period */
/* Rows of the tally, sums over samples: positions and velocities scored, positions of a joint whose velocity is more than noise;
 * squared roughness of positions and velocities, products of each roughness of positions with that before, and their number. */
enum { SCORED_Q, SCORED_V, MOVING, ROUGH_Q, ROUGH_V, ROUGH_PRODUCT, ROUGH_COUNT };
/* First rows in the block of lanes: state (0), covariance, gain and weighted innovation of position, the same of velocity. */
enum { P = STATES, KQ = P + PAIRS, GQ = KQ + STATES, KV, GV = KV + STATES, KEPT };
enum { P00, P01, P02, P03, P11, P12, P13, P22, P23, P33 };
static const int entry[STATES][STATES] = {{P00, P01, P02, P03}, {P01, P11, P12, P13}, {P02, P12, P22, P23}, {P03, P13, P23, P33}};

#define UNSEEN 1e30  /* variance that is assumed for a measurement that tells nothing */
#define ROUNDING sqrt(DBL_EPSILON) /* share of a position below which differences may be floating-point rounding */
#define OUTLIER 3.0  /* standard deviations beyond which an error counts by its magnitude, not square, or no more (Huber 1964) */
#define CHANCE 2.0   /* standard deviations that a surprising mean error counts as after `widen` has raised the covariance */
#define SPAN 0.125   /* time over which `widen` averages errors, as a share of the period */
#define QUANTA 3.0   /* least way of a joint that counts as moving, in steps of its encoder */
#define RESTLESS (2.0 * OUTLIER) /* the same in standard deviations of the position noise: both ends of a way are noisy */

#include "_jump_bank.h"
/* Data of one sample that the smoother needs, for the lanes of the second group where there is one, else of the first. */
typedef struct {
    int64_t stamp;
    double step;     /* time since the sample before [s] */
    double delay;    /* delay of the velocities [s] */
    double leak;     /* rate at which the jerk decays [1/s] */
    double *x;       /* (KEPT, width) state and further rows after the sample */
    double *jumping; /* (2, width) velocities and accelerations by the bank of jumps */
    int jumps;       /* whether `jumping` is known and a joint moved */
} Record;

/* Votes on repeated positions: of joints that moved meanwhile, and that stood still. */
typedef struct {
    double moved, stood;
    int longest; /* largest number of repetitions in a row of a joint that moved */
} Votes;

/* State of the detector of repeated positions, see _repetition.h. */
typedef struct {
    Votes votes[2];  /* on single joints, and on whole rows */
    int whole;       /* whether the last row had the positions of the one before */
    int unclear;     /* whether this row may have been a repeated one */
    int rows;        /* number of successive rows that were taken for repeated ones */
    double *samples; /* (width,) number of samples in which a joint should have moved since its position was new */
    double *pace;    /* (width,) velocity of the joint between its last two new positions */
    double *since;   /* (width,) time since its last new position [s] */
} Repetition;

typedef struct {
    PyObject_HEAD
    Opened arrays;                                  /* buffers of the caller, into which the next four lines point */
    const double *density, *rq, *rv, *delay, *leak; /* (lanes,) levels; density of the white snap, leak of the jerk [1/s] */
    double *scores;                                 /* (4, lanes) sums of the predictions' log variances and squared errors */
    double *tally;                                  /* (6, width) sums of each joint: SCORED_Q and the following rows */
    double *step_q, *step_v;                        /* (width,) smallest change seen of each joint's position and velocity */
    ptrdiff_t joints, width, lanes, active;         /* width: joints, rounded up to whole vectors; active: lanes in use */
    ptrdiff_t moving;                               /* number of lanes that only matter with velocities, the last ones */
    double max_gap, period, lag, horizon;           /* [s]; period: that of the slowest joint's bandwidth */
    double surprise;                                /* [standard deviations], see `widen` */
    double *memory, *x, *p, *kq, *gq, *kv, *gv;     /* block that holds all arrays; its first KEPT rows of lanes */
    double *held;                                   /* rows x, p of lanes at the origin of the next scored prediction */
    double *z, *r;                                  /* (lanes,) measured values and their variances */
    double *mean;                                   /* (width,) mean error of the first lanes' predictions, see `widen` */
    double *position, *velocity;                    /* (width,) the last sample */
    double *change;                                 /* (width,) change of the positions from the sample before to it */
    double *origin;                                 /* (width,) positions at the origin of the next scored prediction */
    int64_t *origin_stamp;                          /* (width,) stamps of these origins [ns]; -1: none */
    double *recent_q, *recent_v, recent_time[RECENT]; /* the last RECENT samples that were new */
    int recent;
    double unheard; /* time since the last of them [s] */
    double *rough;  /* (width,) roughness of the last positions */
    Repetition repetition;
    JumpBank bank; /* runs only if there are several hypotheses */
    int *velocity_scored;
    int *skip;  /* (width,) whether this position of a joint tells nothing */
    int *muted; /* (width,) whether a joint's velocity is not measured, see `find_measured` */
    double *from, *repeating; /* (width,) position when its velocity was last new, and time since then [s] */
    double *fastest; /* (width,) largest velocity of a joint so far */
    int *doubted;    /* (width,) whether the last position of a joint was taken for a leap */
    int had_velocity;
    double prior[STATES];
    int64_t stamp;
    Record records[RECORDS];
    int64_t count, waiting, ripe; /* numbers of all records and of those not smoothed yet; the first one too young to smooth */
    int64_t compared, settled;    /* first record that the bank was not compared at; first one younger than a period */
    int64_t scored;
} Filter;

/* What a jerk of 1 that decays at the rate `leak` [1/s] adds to the state within `d` seconds; rational in leak * d. */
typedef struct {
    double d, d2, to_q, to_v, to_a, stays; /* d2: d^2 / 2; to_q, ...: added to each; stays: share of the jerk left */
} Passage;

INLINE Passage passage(double d, double leak) {
    const double l = leak * d, d2 = d * d / 2.0;
    return (Passage){d, d2, d * d2 / 3.0 / (1.0 + l / 4.0), d2 / (1.0 + l / 3.0), d / (1.0 + l / 2.0), 1.0 / (1.0 + l + l * l / 2.0)};
}

/* Correct the state of a lane and its covariance, except for the position's row, by a measurement whose covariances with the
 * state are h0 to h3: g is its innovation over the innovation's variance, `inverse` is one over that variance. Writes the gain.
 * The numbers of a lane are `lanes` apart. */
INLINE void correct(double *restrict x, double *restrict p, double *restrict gain, double h0, double h1, double h2,
                    double h3, double g, double inverse, ptrdiff_t lanes) {
    const double k0 = h0 * inverse, k1 = h1 * inverse, k2 = h2 * inverse, k3 = h3 * inverse;
    x[0] += h0 * g;
    x[lanes] += h1 * g;
    x[2 * lanes] += h2 * g;
    x[3 * lanes] += h3 * g;
    gain[0] = k0;
    gain[lanes] = k1;
    gain[2 * lanes] = k2;
    gain[3 * lanes] = k3;
    p[P11 * lanes] -= h1 * k1;
    p[P12 * lanes] -= h1 * k2;
    p[P13 * lanes] -= h1 * k3;
    p[P22 * lanes] -= h2 * k2;
    p[P23 * lanes] -= h2 * k3;
    p[P33 * lanes] -= h3 * k3;
}

#define LOOPS "_motion_filter_loops.h"
#include "_versions.h"

/* Least way of a joint that counts as moving: QUANTA steps of its encoder, 0 until one was seen. */
INLINE double quanta(const Filter *f, ptrdiff_t j) { return isfinite(f->step_q[j]) ? QUANTA * f->step_q[j] : 0.0; }

/* Least way of a joint that noise and quantization do not account for. */
INLINE double least_way(const Filter *f, ptrdiff_t j) { return fmax(quanta(f, j), RESTLESS * sqrt(f->rq[j])); }

/* Whether a joint goes farther within the period than noise and quantization account for. */
INLINE int moves(const Filter *f, ptrdiff_t j) { return fabs(f->x[f->lanes + j]) * f->period >= least_way(f, j); }

/* Whether any joint moves. */
static int any_moves(const Filter *f) {
    for (ptrdiff_t j = 0; j < f->joints; j++)
        if (moves(f, j)) return 1;
    return 0;
}

#include "_jump_bank_follow.h"
#include "_repetition.h"

/* Score what each lane of a joint predicted for a position or velocity from its state `since` seconds ago. */
static void score(Filter *f, int what, ptrdiff_t j, double measured, double since) {
    const ptrdiff_t lanes = f->lanes;
    const double *x = f->held, *p = f->held + P * lanes;
    for (ptrdiff_t l = j; l < f->active; l += f->width) {
        const double d = what == SCORED_V ? since - f->delay[l] : since, d2 = d * d / 2.0;
        const Passage g = passage(fmax(d, 0.0), f->leak[l]);
        const double noise = what == SCORED_Q ? d2 * d2 * d2 * d * 8.0 / 252.0 : g.d2 * g.d2 * g.d / 5.0;
        const double of_q[] = {1.0, d, d2, g.to_q}, of_v[] = {0.0, 1.0, d, d > 0.0 ? g.to_v : d2}, *h = what == SCORED_Q ? of_q : of_v;
        double error = measured, variance = f->density[l] * noise + (what == SCORED_Q ? f->rq : f->rv)[l];
        for (int i = 0; i < STATES; i++) {
            error -= h[i] * x[i * lanes + l];
            for (int k = 0; k < STATES; k++) variance += h[i] * h[k] * p[entry[i][k] * lanes + l];
        }
        const double square = error * error / variance; /* outliers count by their magnitude, not its square */
        f->scores[what * lanes + l] += log(variance);
        f->scores[(2 + what) * lanes + l] += square < OUTLIER * OUTLIER ? square : OUTLIER * (2.0 * sqrt(square) - OUTLIER);
    }
    f->tally[what * f->width + j] += 1.0;
}

/* Score predictions of joints that move from their origins: the velocity once, the position once it is far enough. */
static void score_joints(Filter *f, const double *position, const double *velocity, double step) {
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double since = (double)(f->stamp - f->origin_stamp[j]) * 1e-9;
        if (f->origin_stamp[j] < 0 || f->skip[j] || since < f->horizon) continue;
        const int moved = moves(f, j);
        if (moved && velocity && !f->muted[j] && !f->velocity_scored[j]) score(f, SCORED_V, j, velocity[j], since), f->velocity_scored[j] = 1;
        /* Within a few steps of quantization all errors are alike: such a prediction tells nothing about the noise. */
        const int told = fabs(position[j] - f->origin[j]) > quanta(f, j) && since < 3.0 * f->period + 2.0 * step && moved;
        if (told) {
            score(f, SCORED_Q, j, position[j], since);
            f->tally[MOVING * f->width + j] += fabs(f->x[f->lanes + j]) >= OUTLIER * sqrt(f->p[P11 * f->lanes + j]);
            f->scored++;
        }
        if (told || !moved || since > f->period) f->origin_stamp[j] = -1; /* `hold` sets a new origin after this sample */
    }
}

/* Third divided differences of the last four samples, scaled to the variance of one: they show noise and hardly any motion. */
static void roughness(Filter *f, const double *position, const double *velocity, double step) {
    const ptrdiff_t n = f->joints, width = f->width;
    const int place = f->recent % RECENT;
    memcpy(f->recent_q + place * width, position, n * sizeof(double));
    if (velocity) memcpy(f->recent_v + place * width, velocity, n * sizeof(double));
    for (int i = 0; i < RECENT; i++) f->recent_time[i] -= step;
    f->recent_time[place] = 0.0;
    if (++f->recent < RECENT) return;
    double weight[RECENT], norm = 0.0;
    for (int i = 0; i < RECENT; i++) {
        double product = 1.0;
        for (int k = 0; k < RECENT; k++)
            if (k != i) product *= (f->recent_time[i] - f->recent_time[k]) / step;
        weight[i] = 1.0 / product;
        norm += weight[i] * weight[i];
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        double q = 0.0, v = 0.0, *tally = f->tally + j;
        for (int i = 0; i < RECENT; i++) {
            q += weight[i] * f->recent_q[i * width + j];
            v += weight[i] * f->recent_v[i * width + j];
        }
        const double before = f->rough[j];
        f->rough[j] = q / sqrt(norm);
        if (q == 0.0) continue; /* the joint stands still */
        tally[ROUGH_PRODUCT * width] += f->rough[j] * before;
        tally[ROUGH_Q * width] += q * q / norm;
        tally[ROUGH_V * width] += v * v / norm;
        tally[ROUGH_COUNT * width] += 1.0;
    }
}

/* Write smoothed positions, velocities and accelerations (3, joints) at a record: x + P a, a (STATES, width) from `step_back`. */
static void read_smoothed(const Record *record, const double *a, double *out, ptrdiff_t width, ptrdiff_t joints) {
    const double *x = record->x, *p = x + P * width;
    for (int i = 0; i < 3; i++)
        for (ptrdiff_t l = 0; l < joints; l++) {
            double sum = x[i * width + l];
            for (int k = 0; k < STATES; k++) sum += p[entry[i][k] * width + l] * a[k * width + l];
            out[i * joints + l] = sum;
        }
}

/* Set z and r of the lanes in use to the measured values of the joints and their variances, UNSEEN where nothing was measured. */
static void measure(Filter *f, const double *values, const double *variance, int unseen, const int *skip) {
    for (ptrdiff_t first = 0; first < f->active; first += f->width)
        for (ptrdiff_t j = 0; j < f->width; j++) {
            f->z[first + j] = values && j < f->joints ? values[j] : 0.0;
            f->r[first + j] = unseen || skip[j] ? UNSEEN : variance[first + j];
        }
}

static void start(Filter *f, const double *position, const double *velocity) {
    const ptrdiff_t lanes = f->lanes;
    memset(f->x, 0, KEPT * lanes * sizeof(double));
    memset(f->mean, 0, f->width * sizeof(double));
    for (ptrdiff_t l = 0; l < lanes; l++) {
        const ptrdiff_t j = l % f->width;
        f->x[l] = j < f->joints ? position[j] : 0.0;
        f->p[l] = f->rq[l];
        for (int i = 1; i < STATES; i++) f->p[entry[i][i] * lanes + l] = f->prior[i] * f->prior[i];
    }
    f->active = velocity ? lanes : lanes - f->moving;
    measure(f, velocity, f->rv, !velocity, f->muted);
    CHOSEN(take_velocity)(f, f->z, f->r, f->active);
    for (ptrdiff_t j = 0; j < f->joints; j++) f->change[j] = 0.0, f->origin_stamp[j] = -1, f->doubted[j] = 0;
    f->recent = 0;
    f->unheard = 0.0;
    bank_restart(&f->bank);
    memset(f->repetition.samples, 0, 3 * f->width * sizeof(double)); /* `pace` and `since` follow */
    f->repetition.rows = 0;
    roughness(f, position, velocity, 0.0);
}

/* Keep the state of a joint's lanes as the origin of their next scored prediction. */
static void hold(Filter *f, ptrdiff_t j, double position) {
    for (int i = 0; i < STATES + PAIRS; i++)
        for (ptrdiff_t l = i * f->lanes + j; l < (i + 1) * f->lanes; l += f->width) f->held[l] = f->x[l];
    f->origin[j] = position;
    f->origin_stamp[j] = f->stamp;
    f->velocity_scored[j] = 0;
}

static void remember(Filter *f, const double *position, const double *velocity, double step) {
    const ptrdiff_t width = f->width, bytes = width * sizeof(double);
    const double *kept = f->lanes > width ? f->x + width : f->x; /* the second group keeps what `widen` makes the first forget */
    Record *record = &f->records[f->count % RECORDS];
    record->stamp = f->stamp;
    record->step = step;
    record->delay = f->delay[0];
    record->leak = f->leak[0];
    for (int i = 0; i < KEPT; i++) memcpy(record->x + i * width, kept + i * f->lanes, bytes);
    record->jumps = f->bank.samples > SETTLING && any_moves(f);
    if (record->jumps) {
        bank_mix(&f->bank, 0);
        memcpy(record->jumping, f->bank.mixed + width, 2 * bytes);
    }
    f->count++;
    f->waiting++;
    for (ptrdiff_t j = 0; j < f->joints; j++)
        if (!f->doubted[j]) f->position[j] = position[j];
    if (velocity) memcpy(f->velocity, velocity, f->joints * sizeof(double));
    f->had_velocity = velocity != NULL;
}

/* Index of the first record from `from` on that is younger than `age` [s], and at most RECORDS / 2 before the newest. */
static int64_t older(const Filter *f, int64_t from, double age) {
    const int64_t newest = f->count - 1, oldest_allowed = newest - RECORDS / 2;
    while (from < newest && f->stamp - f->records[from % RECORDS].stamp >= (int64_t)(age * 1e9)) from++;
    return from < oldest_allowed ? oldest_allowed : from;
}

/* Number of records that can be smoothed now, as a rule one for each sample. */
static int64_t due(Filter *f) {
    f->ripe = older(f, f->ripe, f->lag);
    f->settled = older(f, f->settled, f->period);
    return f->ripe - (f->count - f->waiting);
}

static int finite_all(const double *values, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return 0;
    return 1;
}

/* Update the smallest changes of positions, which estimate the steps of quantization. */
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

/* Find joints whose velocities are not measured: those that have been 0 so far, and those that repeat while positions go
 * another way, as of a driver that measures none any more, or late. Returns the velocities, NULL if none is measured. */
static const double *find_measured(Filter *f, const double *position, const double *velocity, double step) {
    const double *measured = NULL;
    for (ptrdiff_t j = 0; velocity && j < f->joints; j++) {
        const int fresh = velocity[j] != f->velocity[j];
        if (fresh || step == 0.0) f->from[j] = position[j], f->repeating[j] = -step;
        const double way = position[j] - f->from[j] - velocity[j] * (f->repeating[j] += step);
        const double coarse = isfinite(f->step_v[j]) ? f->step_v[j] * f->repeating[j] : 0.0; /* what rounding may hide */
        f->muted[j] = !fresh && (f->muted[j] || fabs(way) > coarse + least_way(f, j));
        if (!f->muted[j]) measured = velocity;
    }
    return measured;
}

static void take_sample(Filter *f, int64_t stamp, const double *position, const double *velocity) {
    const ptrdiff_t n = f->joints, width = f->width, lanes = f->lanes;
    const double step = (double)(stamp - f->stamp) * 1e-9;
    velocity = find_measured(f, position, velocity, step);
    if (velocity && f->active < lanes) { /* lanes that only matter with velocities were not updated */
        for (int i = 0; i < STATES + PAIRS; i++)
            for (ptrdiff_t l = f->active; l < lanes; l++) {
                f->x[i * lanes + l] = f->x[i * lanes + l % width];
                f->held[i * lanes + l] = f->held[i * lanes + l % width];
            }
        f->active = lanes;
    }
    const ptrdiff_t active = f->active;
    for (ptrdiff_t l = 0; l < active;) { /* neighbouring groups with the same leak at once */
        ptrdiff_t end = l + width;
        while (end < active && f->leak[end] == f->leak[l]) end += width;
        CHOSEN(predict)(f->x, f->p, f->density, passage(step, f->leak[l]), l, end, lanes);
        l = end;
    }
    follow_steps(f, position);
    const int old = find_repeated(f, position, velocity, step), leap = find_leaps(f, position, velocity, step);
    measure(f, position, f->rq, 0, f->skip);
    CHOSEN(widen)(f, f->z, f->r, fmin(0.5, step / (SPAN * f->period)), width);
    if (lanes > width) bank_follow(&f->bank, f->x, f->p, lanes, f->z, f->r, f->rq, step);
    CHOSEN(take_position)(f, f->z, f->r, active);
    f->stamp = stamp;
    score_joints(f, position, velocity, step);
    f->unheard += step;
    if (f->repetition.unclear || leap)
        f->recent = 0; /* a row that may not be new, or is wrong, is no evidence of noise */
    else if (!old) {
        roughness(f, position, velocity, f->unheard);
        f->unheard = 0.0;
    }
    if (velocity) {
        for (ptrdiff_t j = 0; j < n; j++) {
            const double change = f->had_velocity ? fabs(velocity[j] - f->velocity[j]) : 0.0;
            if (change > 0.0 && change < f->step_v[j]) f->step_v[j] = change;
        }
        measure(f, velocity, f->rv, old, f->muted);
        CHOSEN(take_velocity)(f, f->z, f->r, active);
    } else
        memset(f->kv, 0, (STATES + 1) * lanes * sizeof(double)); /* gv follows kv */
    for (ptrdiff_t j = 0; j < n; j++)
        if (f->origin_stamp[j] < 0) hold(f, j, position[j]);
    remember(f, position, velocity, step);
}

FUNCTION(add, "# =n ~=n n:",
         "add(stamp, position, velocity, joints)\n\n"
         "Take one sample in; returns how many past samples `smooth` can tell about now, or -1 if the sample lies beyond a\n"
         "gap: nothing is taken in then, and `restart` comes first. stamp: ns; velocity: None if not measured.") {
    Filter *f = self;
    const int64_t stamp = a->integer[0];
    const double *position = a->array[0], *velocity = a->array[1];
    if (f->count && stamp <= f->stamp)
        return PyErr_Format(PyExc_ValueError, "stamp is %lld ns, not later than the last, %lld ns", (long long)stamp, (long long)f->stamp);
    if (!fits(SIZE('n') == f->joints, "joints")) return NULL;
    if (!finite_all(position, f->joints) || (velocity && !finite_all(velocity, f->joints)))
        return PyErr_Format(PyExc_ValueError, "a position or velocity is not finite");
    if (!f->count) {
        f->stamp = stamp;
        velocity = find_measured(f, position, velocity, 0.0);
        start(f, position, velocity);
        remember(f, position, velocity, 0.0);
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
    if (k > f->waiting)
        return PyErr_Format(PyExc_ValueError, "out takes %lld motions, but %lld wait", (long long)k, (long long)f->waiting);
    double *back = scratch(a, (STATES + 3) * f->width);
    PyObject *stamps = back ? PyList_New(k) : NULL;
    if (!stamps) return NULL;
    memset(back, 0, (STATES + 3) * f->width * sizeof(double));
    /* The bank is compared with motions smoothed over a period, in blocks: each record then costs a bounded number of steps. */
    const int64_t first = f->count - f->waiting, block = f->settled - f->compared;
    const int comparing = f->bank.samples && block > (f->count - 1 - f->settled) / 3;
    double *truth = back + STATES * f->width;
    for (int64_t i = f->count - 1; i >= (comparing && f->compared < first ? f->compared : first); i--) {
        const Record *record = &f->records[i % RECORDS];
        const int64_t place = i - first;
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
    f->waiting -= k;
    if (f->ripe < first + k) f->ripe = first + k;
    if (comparing || !f->bank.samples) f->compared = f->settled;
    return stamps;
}

FUNCTION(restart, "", "restart()\n\nForget all samples; what was seen of steps and scores stays.") {
    Filter *f = self;
    f->waiting = f->count = f->ripe = f->compared = f->settled = 0;
    Py_RETURN_NONE;
}

/* Whether this group exists and a sample was taken in; sets an error otherwise. */
static int is_known(const Filter *f, long long group) {
    if (group < 0 || group >= f->lanes / f->width) return PyErr_Format(PyExc_ValueError, "group is %lld", group), 0;
    if (!f->count) return PyErr_Format(PyExc_ValueError, "no sample was taken in yet"), 0;
    return 1;
}

FUNCTION(read, "!~=3n !~=3n # n:",
         "read(state, deviation, group, joints)\n\n"
         "Write the state of the first lanes and the standard deviations of those of a group at the newest sample, each\n"
         "(3, joints); returns its stamp.") {
    Filter *f = self;
    const ptrdiff_t n = f->joints, group = a->integer[0];
    double *state = a->array[0], *deviation = a->array[1];
    if (!is_known(f, group) || !fits(SIZE('n') == n, "joints")) return NULL;
    if (state) {
        const int jumps = group == 0 && bank_is_believed(&f->bank, f->had_velocity);
        if (jumps) bank_mix(&f->bank, 0);
        const double *from = jumps ? f->bank.mixed : f->x;
        for (int i = 0; i < 3; i++) memcpy(state + i * n, from + i * (jumps ? f->width : f->lanes), n * sizeof(double));
    }
    for (ptrdiff_t l = 0; deviation && l < 3 * n; l++)
        deviation[l] = sqrt(fmax(0.0, f->p[entry[l / n][l / n] * f->lanes + group * f->width + l % n]));
    return PyLong_FromLongLong(f->stamp);
}

FUNCTION(follow_usual, "!=n % % # n:",
         "follow_usual(usual, share, most, group, joints)\n\n"
         "Whether no standard deviation of the newest accelerations of a group exceeds the usual one (joints,) by the factor `most`;\n"
         "the usual one then goes `share` of the way there, or to that bound. Usual deviations of 0 are set, and not exceeded.") {
    Filter *f = self;
    double *usual = a->array[0];
    if (!is_known(f, a->integer[0]) || !fits(SIZE('n') == f->joints, "joints")) return NULL;
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

FUNCTION(believed, "", "believed() -> bool\n\nWhether accelerations are believed to jump, so that `read` reads the bank.") {
    const Filter *f = self;
    return PyBool_FromLong(bank_is_believed(&f->bank, f->had_velocity));
}

static PyMethodDef of_filter[] = {
    METHOD(add), METHOD(smooth), METHOD(restart), METHOD(read), METHOD(follow_usual), METHOD(believed), {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"waiting", T_LONGLONG, offsetof(Filter, waiting), READONLY, "Samples that were taken in and not smoothed yet."},
    {"had_velocity", T_INT, offsetof(Filter, had_velocity), READONLY, "Whether velocities of the last sample were measured."},
    {"scored", T_LONGLONG, offsetof(Filter, scored), 0, "Instants scored since this was set to 0."},
    {"period", T_DOUBLE, offsetof(Filter, period), 0, "[s] of the slowest joint's bandwidth."},
    {"lag", T_DOUBLE, offsetof(Filter, lag), 0, "[s] of the smoother."},
    {"horizon", T_DOUBLE, offsetof(Filter, horizon), 0, "[s] of the scored predictions."},
    {"surprise", T_DOUBLE, offsetof(Filter, surprise), 0,
     "Standard deviations of the mean error of some predictions beyond which the first lanes forget what they knew."},
    {NULL, 0, 0, 0, NULL},
};

static void discard(Filter *f) {
    give_back(&f->arrays, 0);
    free(f->memory);
    Py_TYPE(f)->tp_free((PyObject *)f);
}

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "icub_learning.dynamics.motion._motion_filter.Filter",
    .tp_basicsize = sizeof(Filter),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)discard,
    .tp_methods = of_filter,
    .tp_members = members,
};

FUNCTION(Filter, "=5gw !=4gw !=7w !=2w g: w: # # % % % %",
         "Filter(levels, scores, tallies, steps, groups, width, joints, moving_groups, max_gap, v, a, j)\n\n"
         "Kalman filters of `joints` joints under hypotheses, of which the last `moving_groups` only matter with velocities;\n"
         "width: joints, rounded up to eights; max_gap [s]; v, a, j: standard deviations at the start. The arrays stay in\n"
         "use. levels (5, groups, width): density of the white snap, variances of position and velocity, delay of\n"
         "velocities [s], leak of the jerk [1/s], which all joints share. To scores (4, groups, width) are added log\n"
         "variances, then squared normalized errors, of positions and of velocities; to tallies (7, width) numbers of\n"
         "positions and of velocities scored, and of positions in motion; squared roughness of positions and of velocities, products of positions'\n"
         "with the one before, how many. steps (2, width) become the smallest changes of position and velocity.") {
    const ptrdiff_t width = SIZE('w'), lanes = SIZE('g') * width, joints = a->integer[0], moving = a->integer[1] * width;
    if (!fits(joints >= 1 && joints <= width && width % 8 == 0 && width <= 4096 && lanes <= 64 * width, "joints and width") ||
        !fits(a->integer[1] >= 0 && a->integer[1] < SIZE('g'), "groups") || PyType_Ready(&type) < 0)
        return NULL;
    Filter *f = (Filter *)type.tp_alloc(&type, 0); /* all zeros */
    if (!f) return NULL;
    JumpBank *b = &f->bank;
    double *records;
    const struct {
        void *pointer;
        size_t numbers;
    } parts[] = {
        {&f->x, STATES * lanes}, {&f->p, PAIRS * lanes}, {&f->kq, STATES * lanes}, {&f->gq, lanes},
        {&f->kv, STATES * lanes}, {&f->gv, lanes}, {&f->held, (STATES + PAIRS) * lanes}, {&f->z, lanes},
        {&f->r, lanes}, {&f->mean, width}, {&f->position, width}, {&f->velocity, width}, {&f->change, width},
        {&f->origin, width}, {&f->origin_stamp, width}, {&f->recent_q, RECENT * width}, {&f->recent_v, RECENT * width},
        {&f->rough, width}, {&f->velocity_scored, width}, {&f->skip, width}, {&f->muted, width}, {&f->from, width},
        {&f->repeating, width}, {&f->fastest, width}, {&f->doubted, width}, {&f->repetition.samples, width},
        {&f->repetition.pace, width}, {&f->repetition.since, width},
        {&b->state, SLOTS * PARTS * width}, {&b->mixed, PARTS * width}, {&b->error, width}, {&b->variance, width},
        {&b->squares, width}, {&records, RECORDS * (KEPT + 2) * width},
    };
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) bytes += parts[i].numbers * sizeof(double);
    double *next = f->memory = aligned_alloc(64, bytes); /* one block for all parts, each of whole vectors */
    if (!next) {
        Py_DECREF(f);
        return PyErr_NoMemory();
    }
    memset(next, 0, bytes);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        memcpy(parts[i].pointer, &next, sizeof(next));
        next += parts[i].numbers;
    }
    for (int i = 0; i < RECORDS; i++, records += (KEPT + 2) * width) {
        f->records[i].x = records;
        f->records[i].jumping = records + KEPT * width;
    }
    const double **levels[] = {&f->density, &f->rq, &f->rv, &f->delay, &f->leak};
    for (int i = 0; i < 5; i++) *levels[i] = (const double *)a->array[0] + i * lanes;
    f->scores = a->array[1], f->tally = a->array[2], f->step_q = a->array[3], f->step_v = f->step_q + width;
    f->arrays = *a->opened; /* the buffers stay open as long as the filter exists */
    a->opened->n_views = 0;
    f->joints = joints, f->width = width, f->lanes = lanes, f->moving = moving;
    f->max_gap = a->number[0], f->surprise = INFINITY;
    for (int i = 1; i < STATES; i++) f->prior[i] = a->number[i];
    for (ptrdiff_t j = 0; j < joints; j++) f->muted[j] = 1;
    f->repetition.votes[0] = f->repetition.votes[1] = (Votes){1.0, 0.0, 1}; /* the first repetition is ascribed to the driver */
    bank_make(b, joints, width);
    return (PyObject *)f;
}

MODULE(_motion_filter, "Compiled motion filter.", METHOD(Filter))
