/* The step of recursive least squares on plain memory, shared by all modules that learn by it. */
#include "_arguments.h"
#include <sched.h>

#define BLOCK 8                /* side of a tile of the triangle; sizes are multiples of it */
#define MAX_RANK 8             /* largest number of rows learned in one sweep; longer batches are split */
#define UNROLL 4               /* number of independent partial sums of a dot product */
#define STRIP 128              /* number of columns of the triangle that all right-hand sides use while these are in the cache */
#define LARGEST_SIZE (1 << 28) /* largest size; keeps products of two sizes far from overflow */
#define PACKED(size) ((size) * ((size) + BLOCK) / 2) /* count of numbers in a packed triangle */
#define PADDED(features) (((features) + BLOCK - 1) / BLOCK * BLOCK) /* features rounded up to whole tiles */

/* Masks of the columns in a row of a tile: ones from column r on (FROM), or right of it (RIGHT_OF); zeros for the others. */
static const double STEP[2 * BLOCK] = {[BLOCK] = 1, 1, 1, 1, 1, 1, 1, 1};
#define FROM(r) (STEP + BLOCK - (r))
#define RIGHT_OF(r) (STEP + BLOCK - 1 - (r))

/* For the loops: names that differ between versions, vectors in a row of a tile, a vector in memory, number r of such a row. */
#define VEC NAME(vec)
#define COEFFICIENTS NAME(coefficients)
#define PARTS (BLOCK / LANES)
#define AT(numbers) (*(VEC *)(numbers))
#define LOAD(numbers) (*(const VEC *)(numbers))
#define LANE(parts, r) ((parts)[(r) / LANES][(r) % LANES])

#define LOOPS "recursive/_sweep.h"
#include "_versions.h"

/* Returns the number of rows in the next sweep, which begins at row `start` of `count`. */
static ptrdiff_t rank_at(ptrdiff_t start, ptrdiff_t count) { return count - start < MAX_RANK ? count - start : MAX_RANK; }

/* Copies `rank` rows of z, each padded with zeros to `size`. */
static void pad(double *out, const double *z, ptrdiff_t size, ptrdiff_t features, ptrdiff_t rank) {
    for (ptrdiff_t l = 0; l < rank; l++) {
        memset(out + (l + 1) * size - BLOCK, 0, BLOCK * sizeof(double)); /* a fixed size, so that the compiler inlines it */
        memcpy(out + l * size, z + l * features, features * sizeof(double));
    }
}

/* The memory of a RecursiveLeastSquares, and the refill of its prior that is due with its next sample. */
typedef struct {
    ptrdiff_t size, features, outputs;
    double *triangle, *weights, *work, *prior;
    const double *regularization, *initial;
    Py_ssize_t first, due; /* first coordinate to refill, and how many (RecursiveLeastSquares.ahead) */
    double forgetting;
} LEARNER;

/* Update the factor by up to MAX_RANK rows; return, in work, the gains (rank, size), or with fewer outputs than rows the
   corrections of the weights (outputs, size). The innovations (rank, outputs) follow the gains in work. */
static double *solve_rows(const LEARNER *l, const double *z, const double *y, ptrdiff_t rank, double forgetting) {
    const ptrdiff_t size = l->size, outputs = l->outputs;
    double *rows = l->work, *gain = rows + MAX_RANK * size, *innovation = gain + MAX_RANK * size;
    pad(rows, z, size, l->features, rank);
    CHOSEN(predict)(l->weights, z, innovation, size, l->features, outputs, rank);
    for (ptrdiff_t n = 0; n < rank * outputs; n++) innovation[n] = y[n] - innovation[n];
    double *correction = gain;
    CHOSEN(rotate)(l->triangle, rows, gain, size, rank, forgetting);
    if (outputs < rank) { /* then solve for the corrections of the weights, fewer than the gains */
        correction = rows; /* no longer needed */
        memset(correction, 0, outputs * size * sizeof(double));
        CHOSEN(correct)(correction, gain, innovation, size, outputs, rank);
    }
    CHOSEN(solve_back)(l->triangle, correction, size, outputs < rank ? outputs : rank);
    double *last_tile = l->triangle + PACKED(size) - BLOCK * BLOCK;
    for (ptrdiff_t r = l->features - (size - BLOCK); r < BLOCK; r++) last_tile[r * BLOCK + r] = 1.0; /* pivots must not fade */
    return correction;
}

/* left (rank, outputs) = L^T innovation, L L^T = I - z G^T, with the gains G and innovation that `solve_rows` left in work. */
static void residuals(const LEARNER *l, double *left, const double *z, ptrdiff_t rank) {
    const double *gain = l->work + MAX_RANK * l->size, *innovation = gain + MAX_RANK * l->size;
    double product[MAX_RANK * MAX_RANK], root[MAX_RANK][MAX_RANK];
    CHOSEN(predict)(gain, z, product, l->size, l->features, rank, rank); /* z G^T, rows of `rank` numbers */
    for (ptrdiff_t i = 0; i < rank; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            double sum = (i == j) - product[i * rank + j];
            for (ptrdiff_t k = 0; k < j; k++) sum -= root[i][k] * root[j][k];
            root[i][j] = i == j ? sqrt(sum > 0.0 ? sum : 0.0) : root[j][j] > 0.0 ? sum / root[j][j] : 0.0;
        }
    for (ptrdiff_t i = 0; i < rank; i++)
        for (ptrdiff_t o = 0; o < l->outputs; o++) {
            double sum = 0.0;
            for (ptrdiff_t k = i; k < rank; k++) sum += root[k][i] * innovation[k * l->outputs + o];
            left[i * l->outputs + o] = sum;
        }
}

/* Learn rows; the past is multiplied by `forgetting` once. left (count, outputs): takes their recursive residuals, unless NULL.
   Not inlined, since inside a function called by Python it takes 3 % longer. */
static __attribute__((noinline)) void learn_all(const LEARNER *l, double *left, const double *z, const double *y, ptrdiff_t count) {
    const ptrdiff_t size = l->size, outputs = l->outputs;
    const ptrdiff_t at_once = left && outputs < MAX_RANK ? outputs : MAX_RANK; /* with more rows than outputs no gains are formed */
    for (ptrdiff_t start = 0; start < count; start += at_once, z += at_once * l->features, y += at_once * outputs) {
        const ptrdiff_t rank = count - start < at_once ? count - start : at_once;
        const double *correction = solve_rows(l, z, y, rank, start ? 1.0 : l->forgetting);
        if (outputs < rank)
            for (ptrdiff_t j = 0; j < outputs * size; j++) l->weights[j] += correction[j];
        else
            CHOSEN(correct)(l->weights, correction, l->work + 2 * MAX_RANK * size, size, outputs, rank);
        if (left) residuals(l, left + start * outputs, z, rank);
    }
}

/* leverages (count,) = z_i^T A^-1 z_i; work: one padded row for each row of z, at most MAX_RANK. */
static void leverage_all(const double *triangle, double *work, double *leverages, const double *z, ptrdiff_t size, ptrdiff_t features,
                         ptrdiff_t count) {
    for (ptrdiff_t start = 0; start < count; start += MAX_RANK) {
        const ptrdiff_t rank = rank_at(start, count);
        pad(work, z + start * features, size, features, rank);
        CHOSEN(leverage)(triangle, work, leverages + start, size, rank);
    }
}

/* As learn_all, for one target, after writing for the first `own` rows, which carry factors root weights (own,): errors y - z W
   over root weights, leverages z^T A^-1 z over root^2, and what both estimate as the variance of the noise, all (own,). */
UNUSED void observe_all(const LEARNER *l, double *errors, double *leverages, double *estimates, const double *z, const double *y,
                        const double *weights, double root, ptrdiff_t own, ptrdiff_t count) {
    leverage_all(l->triangle, l->work, leverages, z, l->size, l->features, own);
    CHOSEN(predict)(l->weights, z, errors, l->size, l->features, 1, own);
    for (ptrdiff_t i = 0; i < own; i++) {
        errors[i] = (y[i] - errors[i]) / (root * weights[i]);
        leverages[i] /= root * root;
        estimates[i] = errors[i] * errors[i] / (1.0 + leverages[i]);
    }
    learn_all(l, NULL, z, y, count);
}

/* Number of features from which a step takes some 10 us, so that it pays to let other threads run meanwhile. */
enum { RELEASE_SIZE = 256 };

/* Real-time priority that is lent to a learning thread while it holds the interpreter's lock, see nodes/common/threads/scheduling.py. */
enum { LENT_PRIORITY = 1 };

/* Exchanges a lent priority for the policy SCHED_BATCH, which nothing else here has, or with `back` the other way round; returns
   whether it could: not where no priority was lent, or where it was taken away meanwhile. */
UNUSED int exchange_priority(int back) {
#ifdef __linux__
    struct sched_param now;
    if (sched_getscheduler(0) != (back ? SCHED_BATCH : SCHED_RR) || sched_getparam(0, &now)) return 0;
    if (now.sched_priority != (back ? 0 : LENT_PRIORITY)) return 0;
    now.sched_priority = back ? LENT_PRIORITY : 0;
    return !sched_setscheduler(0, back ? SCHED_RR : SCHED_BATCH, &now);
#else
    (void)back;
    return 0; /* nobody lends a priority there */
#endif
}

/* What a step gives away while it computes. */
typedef struct {
    PyThreadState *thread; /* NULL if it keeps the interpreter's lock */
    int lent;
} RELEASED;

/* Lets other threads run during a step of this many features. A priority was lent for their sake, so it goes too. */
UNUSED RELEASED release(ptrdiff_t size) {
    RELEASED released = {size >= RELEASE_SIZE ? PyEval_SaveThread() : NULL, 0};
    if (released.thread) released.lent = exchange_priority(0);
    return released;
}

UNUSED void take_back(RELEASED released) {
    if (released.lent) exchange_priority(1); /* before the lock: its holder must not wait for a core */
    if (released.thread) PyEval_RestoreThread(released.thread);
}

UNUSED int are_below(const long long *numbers, ptrdiff_t count, ptrdiff_t limit) {
    for (ptrdiff_t i = 0; i < count; i++)
        if (numbers[i] < 0 || numbers[i] >= limit) return 0;
    return 1;
}

/* Opens RecursiveLeastSquares.ahead for `outputs` outputs; returns 0 and sets an error where it does not fit. */
UNUSED int take_ahead(Arguments *a, PyObject *tuple, LEARNER *l, ptrdiff_t outputs) {
    Arguments ahead, memory;
    if (!take_tuple(a, tuple, &ahead, "ahead(memory, first, due, forgetting)", "@ # # %") ||
        !take_tuple(a, ahead.object[0], &memory, "memory(triangle, weights, work, prior, regularization, initial)", "!0 !0 !0 !d =d 0"))
        return 0;
    *l = (LEARNER){PADDED(memory.length[3]), memory.length[3], outputs, memory.array[0], memory.array[1], memory.array[2],
                   memory.array[3], memory.array[4], memory.array[5], ahead.integer[0], ahead.integer[1], ahead.number[0]};
    return fits(l->features > 0 && memory.length[0] == PACKED(l->size) && memory.length[1] == outputs * l->size &&
                    memory.length[2] == MAX_RANK * (2 * l->size + outputs) && memory.length[5] == l->features * outputs &&
                    l->first >= 0 && l->due >= 0 && l->due <= l->features,
                "the arrays of a learner and what is due");
}

/* Lets the prior fade; writes the rows z, y that restore it in `due` coordinates from `first` on, see RecursiveLeastSquares. */
UNUSED void refill(LEARNER *l, double *z, double *y) {
    if (l->forgetting < 1.0)
        for (ptrdiff_t j = 0; j < l->features; j++) l->prior[j] *= l->forgetting;
    memset(z, 0, l->due * l->features * sizeof(double));
    for (ptrdiff_t i = 0; i < l->due; i++, z += l->features, y += l->outputs) {
        const ptrdiff_t place = (l->first + i) % l->features;
        const double root = z[place] = sqrt(l->regularization[place] - l->prior[place]);
        l->prior[place] = l->regularization[place];
        for (ptrdiff_t o = 0; o < l->outputs; o++) y[o] = root * l->initial[place * l->outputs + o];
    }
}
