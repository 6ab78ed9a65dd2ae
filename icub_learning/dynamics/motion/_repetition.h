/* The detector of positions that tell nothing: leaps (`find_leaps`), and repeated ones. Positions repeat either because a driver
 * publishes the last ones again while joints move, or because joints stand still.
 *
 * The next new position tells which: a joint that moved has gone the whole way at its previous pace, one that stood has gone
 * less. Repetitions are ascribed to a driver only if it was found to repeat, and only as many in a row as were found. Whole rows
 * and single joints are judged by separate votes; repeated rows with velocities other than 0 need no votes.
 */
#define MISS 0.3         /* share of the expected way by which a joint that moved all along may miss it */
#define MAJORITY 3.0     /* ratio of votes for a driver that repeats to those for joints that stood; two votes are the least */
#define MOST_VOTES 50.0  /* number of votes beyond which all of them are halved */
#define LEAP 4.0         /* ratio to the largest velocity so far, of one sample to the next */
#define FIERCE 1000.0    /* [rad/s^2 or m/s^2] acceleration of no joint of a robot */
#define LONGEST_REPEAT 8 /* number of samples in a row that a joint may repeat its position; rows may repeat twice as often */

static int votes_for_driver(const Votes *votes) { return votes->moved >= 2.0 && votes->moved > MAJORITY * votes->stood; }

/* Count one vote: after this number of repetitions a joint had gone `share` of the expected way. */
static void vote(Votes *votes, double share, int repetitions) {
    if (fabs(share - 1.0) < MISS) {
        votes->moved += 1.0;
        if (repetitions > votes->longest) votes->longest = repetitions;
    } else
        votes->stood += 1.0;
    if (votes->moved + votes->stood > MOST_VOTES) votes->moved *= 0.5, votes->stood *= 0.5;
}

/* Forget which positions repeat, but not the votes on drivers. */
static void repetition_restart(Filter *f) {
    Repetition *found = &f->repetition;
    memset(found->joints, 0, f->joints * sizeof(*found->joints));
    found->repeated = found->silent = 0;
    found->since = found->pace = 0.0;
}

/* Whether a row with velocities repeats the one before although a joint moves. */
static int row_repeats(const Filter *f, const double *position, const double *velocity) {
    int moving = 0;
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        if (position[j] != f->position[j] || velocity[j] != f->velocity[j]) return 0;
        moving |= velocity[j] != 0.0;
    }
    return f->had_velocity && moving;
}

/* Whether a row of positions alone, `step` seconds after the last, seems to repeat it while joints move. */
static int positions_repeat(Filter *f, const double *position, double step) {
    Repetition *found = &f->repetition;
    found->since += step;
    if (memcmp(position, f->position, f->joints * sizeof(double)) == 0) {
        found->silent += found->silent || fabs(found->pace) * step > QUANTA * f->step_q[found->runner];
        return found->silent && found->silent <= found->rows.longest + 1 && votes_for_driver(&found->rows);
    }
    if (found->silent) {
        const double way = found->pace * found->since;
        vote(&found->rows, (position[found->runner] - f->position[found->runner]) / way, found->silent);
    }
    double most = 0.0;
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double change = position[j] - f->position[j];
        if (change == 0.0 || fabs(change) <= most * f->step_q[j]) continue;
        most = fabs(change) / f->step_q[j];
        found->runner = j, found->pace = change / found->since;
    }
    found->since = 0.0;
    found->silent = 0;
    return 0;
}

/* Whether the position of a joint seems to be repeated while it moves; called after the filter has predicted the sample. */
static int joint_repeats(Filter *f, ptrdiff_t j, double position, double step) {
    Repeated *own = &f->repetition.joints[j];
    Votes *votes = &f->repetition.single;
    const double change = fabs(position - f->position[j]), ahead = fabs(f->x[f->lanes + j]) * step;
    if (change == 0.0 && own->samples < LONGEST_REPEAT) {
        const double deviation = sqrt(f->rq[j] + f->p[P00 * f->lanes + j]);
        const int slow = ahead <= quanta(f, j) || ahead <= OUTLIER * deviation; /* it may well keep its position */
        if (!own->samples && slow) return 0;
        own->way += own->samples ? own->way / own->samples : ahead;
        own->samples++;
        return votes_for_driver(votes) && own->samples <= votes->longest;
    }
    if (own->samples) {
        vote(votes, change / (own->way * (1.0 + 1.0 / own->samples)), own->samples);
        own->samples = 0;
        own->way = 0.0;
    }
    return 0;
}

/* Skip positions to which joints would have leapt: LEAP times as fast as ever before, and by an acceleration beyond FIERCE. The
 * next position is believed, wherever it is. Returns whether there are any. */
static int find_leaps(Filter *f, const double *position, const double *velocity, double step) {
    int any = 0;
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double way = fabs(position[j] - f->position[j]), most = (LEAP * f->fastest[j] + FIERCE * step / 2.0) * step;
        f->doubted[j] = !f->doubted[j] && f->count > SETTLING && way > most + RESTLESS * sqrt(f->rq[j]);
        f->skip[j] |= f->doubted[j];
        any |= f->doubted[j];
        if (!f->doubted[j]) f->fastest[j] = fmax(f->fastest[j], fmax(way / step, velocity ? fabs(velocity[j]) : 0.0));
    }
    return any;
}

/* Find the joints whose positions tell nothing new (f->skip); returns whether the whole row tells nothing. */
static int find_repeated(Filter *f, const double *position, const double *velocity, double step) {
    Repetition *found = &f->repetition;
    const int same = velocity ? row_repeats(f, position, velocity) : positions_repeat(f, position, step);
    const int old = same && found->repeated < 2 * LONGEST_REPEAT;
    found->repeated = old ? found->repeated + 1 : 0;
    for (ptrdiff_t j = 0; j < f->joints; j++) f->skip[j] = old || joint_repeats(f, j, position[j], step);
    return old;
}
