/* The detector of positions that tell nothing: leaps (`find_leaps`), and repeated ones. Positions repeat either because a driver
 * publishes the last ones again while joints move, or because joints stand still.
 *
 * The next new position tells which: a joint that moved has gone the whole way at its previous pace, one that stood has gone
 * less. Of the joints that repeated, the one whose way is clearest votes. Repetitions are ascribed to a driver only while votes
 * are for it, and to twice as many in a row as were found. Whole rows and single joints are judged by separate votes, since
 * joints that turn stand for a sample; repeated rows with velocities other than 0 need no votes.
 */
#define CLEAR 20.0       /* least expected way of a joint that tells, in steps of its encoder and deviations of its noise */
#define MISS 0.5         /* share of that way by which a joint that moved all along may miss it: its pace changes meanwhile */
#define MAJORITY 3.0     /* ratio of votes for a driver that repeats to those for joints that stood */
#define MOST_VOTES 50.0  /* number of votes beyond which all of them are halved */
#define LEAP 4.0         /* ratio to the largest velocity so far, of one sample to the next */
#define FIERCE 1000.0    /* [rad/s^2 or m/s^2] acceleration of no joint of a robot */
#define LONGEST_REPEAT 16 /* number of rows in a row that may be repeated ones */

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
    Votes *votes = &found->votes[found->whole];
    const size_t bytes = f->joints * sizeof(double);
    const int whole = !memcmp(position, f->position, bytes);
    int moving = 0, repetitions = 0;
    double most = CLEAR, share = 0.0;
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double change = position[j] - f->position[j], way = found->pace[j] * (found->since[j] += step);
        double *samples = &found->samples[j];
        if (change == 0.0) { /* a single joint that the filter does not expect elsewhere may be turning */
            const int odd = whole || fabs(position[j] - f->x[j]) > OUTLIER * sqrt(f->rq[j] + f->p[j]);
            *samples += *samples || (odd && fabs(found->pace[j]) * step > quanta(f, j));
            continue;
        }
        const double clear = fabs(way) / (f->step_q[j] + sqrt(f->rq[j]));
        if (*samples && clear > most) most = clear, share = change / way, repetitions = (int)*samples;
        found->pace[j] = change / found->since[j];
        *samples = found->since[j] = 0.0;
    }
    if (repetitions) {
        const int moved = fabs(share - 1.0) < MISS;
        *(moved ? &votes->moved : &votes->stood) += 1.0;
        if (moved && repetitions > votes->longest) votes->longest = repetitions;
        if (votes->moved + votes->stood > MOST_VOTES) votes->moved *= 0.5, votes->stood *= 0.5;
    }
    votes = &found->votes[found->whole = whole];
    found->unclear = 0;
    for (ptrdiff_t j = 0; j < f->joints; j++) {
        const double samples = found->samples[j];
        f->skip[j] = samples > 0.0 && samples <= 2 * votes->longest && votes->moved > MAJORITY * votes->stood;
        found->unclear |= whole && samples > 0.0 && !velocity;
        moving |= velocity ? velocity[j] != 0.0 : f->skip[j];
    }
    const int same = whole && (!velocity || (f->had_velocity && !memcmp(velocity, f->velocity, bytes)));
    const int old = same && moving && found->rows < LONGEST_REPEAT;
    found->rows = old ? found->rows + 1 : 0;
    for (ptrdiff_t j = 0; j < f->joints; j++) f->skip[j] |= old;
    return old;
}
