/* Follow motions whose accelerations jump, and decide whether they do (include after _versions.h; types in _jump_bank.h).
 *
 * Newborn hypotheses start from the mixture of all and replace the least probable ones. How large accelerations are and
 * how often they jump is estimated meanwhile. Jumps are believed in where the bank's velocities and accelerations were
 * nearer to the smoothed ones, which come later, than the Kalman filter's. How likely each makes positions does not
 * decide: where errors are not white, likely positions do not imply good derivatives. Measured velocities are left to the
 * Kalman filter: where they are wrong, the bank is not.
 */

static void bank_make(JumpBank *b, ptrdiff_t joints, ptrdiff_t width) {
    b->joints = joints, b->width = width;
    for (ptrdiff_t l = 0; l < width; l++) b->squares[l] = EXPECTED;
    b->accelerating = EXPECTED, b->jumps = 1.0, b->time = 1.0;
}

/* Forget the motion, but not the usual accelerations and jumps. */
static void bank_restart(JumpBank *b) { b->samples = 0; }

/* Sum over the joints of the log densities of their errors, up to a constant. */
static double log_density(const double *error, const double *variance, ptrdiff_t joints) {
    double product = 1.0, logarithms = 0.0, squares = 0.0;
    for (ptrdiff_t j = 0; j < joints; j++) {
        product *= variance[j];
        squares += error[j] * error[j] / variance[j];
        if ((j & 7) == 7) logarithms += log(product), product = 1.0; /* a product of more factors might underflow */
    }
    return -0.5 * (logarithms + log(product) + squares);
}

/* Mix all hypotheses: their common means and, if `with_spread`, covariances of positions and velocities. */
static void bank_mix(JumpBank *b, int with_spread) {
    const ptrdiff_t width = b->width;
    memset(b->mixed, 0, PARTS * width * sizeof(double));
    double *mixed = b->mixed, *state = b->state;
    for (int i = 0; i < SLOTS; i++, state += PARTS * width)
        if (b->weight[i] > NEGLIGIBLE) CHOSEN(mix_means)(mixed, state, exp(b->weight[i]), width);
    state = b->state;
    for (int i = 0; i < SLOTS && with_spread; i++, state += PARTS * width)
        if (b->weight[i] > NEGLIGIBLE) CHOSEN(mix_spreads)(mixed, state, exp(b->weight[i]), width);
}

/* Add two newborn hypotheses: accelerations jumped since the last birth, `ago` [s] before now, to zero or to other values. */
static void bank_bear(JumpBank *b, double ago, const double *noise) {
    const ptrdiff_t width = b->width;
    const double chance = fmin(0.5, b->jumps / b->time * ago);
    double least_noise = INFINITY; /* variance of a joint's positions over that of its accelerations [s^4] */
    bank_mix(b, 1);
    b->births++;
    for (int i = 0; i < SLOTS; i++) /* a jump counts once its hypothesis might be replaced */
        if (b->born[i] == b->births - YOUNG - 1 && b->weight[i] > NEGLIGIBLE) b->jumps += exp(b->weight[i]);
    for (int coasts = 0; coasts < 2; coasts++) {
        int least = -1;
        for (int i = 0; i < SLOTS; i++)
            if (b->births - b->born[i] > YOUNG && (least < 0 || b->weight[i] < b->weight[least])) least = i;
        double *s = b->state + least * PARTS * width;
        memcpy(s, b->mixed, PARTS * width * sizeof(double));
        memset(s + A * width, 0, width * sizeof(double));
        for (ptrdiff_t j = 0; j < b->joints; j++) {
            const double usual = b->squares[j] / b->accelerating;
            s[VV * width + j] += usual * ago * ago / 12.0; /* the time of the jump is unknown */
            s[AA * width + j] = coasts ? 0.0 : usual;
            least_noise = fmin(least_noise, noise[j] / usual);
        }
        b->weight[least] = log(0.5 * chance / (1.0 - chance));
        b->born[least] = b->births;
        b->coasts[least] = coasts;
    }
    b->since = 0.0;
    /* A jump shows once half the acceleration times the time squared is three standard deviations of a position. */
    b->spacing = SPACING * sqrt(6.0 * sqrt(least_noise));
}

/* Start with one hypothesis: the Kalman filter's state x and covariance p, in rows of `lanes` numbers. */
static void bank_start(JumpBank *b, const double *x, const double *p, ptrdiff_t lanes) {
    static const int from[PARTS] = {0, 1, 2, P00, P01, P02, P11, P12, P22};
    const size_t bytes = b->width * sizeof(double);
    for (int i = 0; i < PARTS; i++) memcpy(b->state + i * b->width, (i < QQ ? x : p) + from[i] * lanes, bytes);
    for (int i = 0; i < SLOTS; i++) b->weight[i] = i ? NEVER : 0.0, b->born[i] = b->births - YOUNG - 2;
    b->coasts[0] = 0;
    b->since = b->spacing = 0.0;
}

/* Normalize the weights to probabilities; return the logarithm of their previous sum, not finite if no hypothesis is left. */
static double bank_normalize(JumpBank *b) {
    double most = NEVER, sum = 0.0;
    for (int i = 0; i < SLOTS; i++) most = fmax(most, b->weight[i]);
    for (int i = 0; i < SLOTS; i++) sum += exp(b->weight[i] - most);
    const double logarithm = most + log(sum);
    for (int i = 0; i < SLOTS; i++)
        if (b->weight[i] > NEVER) b->weight[i] -= logarithm;
    return most > NEVER ? logarithm : NAN;
}

/* Learn how large accelerations are, from those of hypotheses that are not newborn. */
static void bank_learn(JumpBank *b, double step) {
    const double forget = fmin(step / LASTING, 1.0); /* towards the prior, not zero: a joint may rest for days */
    b->jumps += forget * (1.0 - b->jumps), b->time += step - forget * b->time;
    b->accelerating += forget * (EXPECTED - b->accelerating);
    for (ptrdiff_t j = 0; j < b->joints; j++) b->squares[j] += forget * (EXPECTED - b->squares[j]);
    for (int i = 0; i < SLOTS; i++) {
        if (b->coasts[i] || b->births - b->born[i] <= YOUNG || b->weight[i] < NEGLIGIBLE) continue;
        const double *a = b->state + (i * PARTS + A) * b->width, share = exp(b->weight[i]) * step;
        b->accelerating += share;
        for (ptrdiff_t j = 0; j < b->joints; j++) b->squares[j] += share * a[j] * a[j];
    }
}

/* Update the bank by positions, `step` [s] after the last ones.
 *
 * x, p: prediction of the Kalman filter, in rows of `lanes` numbers; z, r: positions and their variances, UNSEEN for those
 * that tell nothing; noise: variances of positions that do.
 */
static void bank_follow(JumpBank *b, const double *x, const double *p, ptrdiff_t lanes, const double *z,
                        const double *r, const double *noise, double step) {
    const ptrdiff_t width = b->width;
    b->since += step;
    if (!b->samples) {
        bank_start(b, x, p, lanes);
        step = 0.0; /* the state is a prediction already */
    } else if (b->since >= b->spacing) {
        bank_bear(b, b->since, noise);
        bank_normalize(b);
    }
    for (int i = 0; i < SLOTS; i++) {
        if (b->weight[i] <= NEVER) continue;
        CHOSEN(follow_parabola)(b->state + i * PARTS * width, z, r, b->error, b->variance, step, width);
        b->weight[i] += log_density(b->error, b->variance, b->joints);
    }
    if (!isfinite(bank_normalize(b))) {
        bank_restart(b);
        return;
    }
    bank_learn(b, step);
    b->samples++;
}

/* Whether velocities and accelerations, taken together, were nearer to the smoothed ones than the Kalman filter's, which has
 * velocities too if they are `measured`. */
static int bank_is_believed(const JumpBank *b, int measured) {
    const int proved = b->compared > (measured ? LEAST_MEASURED : LEAST_COMPARED);
    return b->samples && proved && b->apart[0][0] * b->apart[0][1] < b->apart[1][0] * b->apart[1][1];
}

/* Compare the bank's `own` estimates at a sample, and the Kalman filter's, with the smoothed ones.
 *
 * Each array holds a row of velocities and a row of accelerations, of `joints` numbers if smoothed, of `width` otherwise.
 */
static void bank_compare(JumpBank *b, const double *own, const double *kalman, const double *smoothed, double step) {
    const double keep = fmax(0.0, 1.0 - step / fmin(COMPARED, b->compared / FRESH + step));
    for (int i = 0; i < 2; i++) {
        double squares[2] = {0.0, 0.0};
        for (ptrdiff_t j = 0; j < b->joints; j++) {
            const double truth = smoothed[i * b->joints + j];
            const double by_bank = own[i * b->width + j] - truth, by_filter = kalman[i * b->width + j] - truth;
            squares[0] += by_bank * by_bank;
            squares[1] += by_filter * by_filter;
        }
        for (int k = 0; k < 2; k++) b->apart[k][i] = keep * b->apart[k][i] + step * squares[k];
    }
    b->compared += step;
}
