/* Types of a filter for motions whose accelerations jump, all joints at once, and are constant in between.
 *
 * Controllers that plan trapezoids of velocity move like that. A Kalman filter averages over the time before and after a
 * jump. The bank (functions: _jump_bank_follow.h) follows several hypotheses instead: each says when the last jump was, and
 * whether all joints coast since then (no acceleration) or each has an acceleration of its own. Given the jump, the motion
 * is a parabola in time (Bayesian on-line changepoint detection: Fearnhead and Liu 2007; Adams and MacKay 2007).
 */
#include <stdint.h>

enum { SLOTS = 8, YOUNG = 1 };                   /* number of hypotheses; later births for which a newborn one is kept */
enum { Q, V, A, QQ, QV, QA, VV, VA, AA, PARTS }; /* parts of a hypothesis: mean, then covariance, of each joint */

#define NEVER -INFINITY    /* logarithm of the weight of a hypothesis that does not exist */
#define NEGLIGIBLE log(DBL_EPSILON) /* logarithm of the weight up to which a hypothesis is left out of sums */
#define SPACING 0.5        /* time between births, as a share of the time after which a usual jump shows in positions */
#define EXPECTED 0.5       /* [s] prior: each joint counts as seen at 1 rad/s^2 for this time, and one jump as seen in 1 s */
#define LONGEST_NAP 60.0   /* [s] longest time asleep; also the memory of usual accelerations and jumps */
#define TRIAL 5.0          /* [s] of motion after which the bank sleeps if smoothed motions show that it is no better */
#define LEAST_TRIAL 1.0    /* [s] of motion before the bank is believed; also its first time asleep */
#define SETTLING 16        /* number of samples after a start that are no evidence */
#define MOST_EVIDENCE (OUTLIER * OUTLIER / 2.0) /* largest evidence of one sample, for or against jumps [nats] */
#define ENOUGH 50.0        /* [nats] evidence above which jumps are likely, until it falls below 0; twice this is its maximum */

typedef struct {
    ptrdiff_t joints, width;  /* number of joints; the same, rounded up to whole vectors */
    double *state;            /* (SLOTS, PARTS, width) mean and covariance of each hypothesis */
    double *mixed;            /* (PARTS, width) mean and covariance of the mixture of all hypotheses */
    double *error, *variance; /* (width,) scratch: errors of the predicted positions, and their variances */
    double *squares;          /* (width,) squared accelerations, integrated over the time that joints accelerate */
    double accelerating;      /* time that joints accelerate, with EXPECTED as its prior [s] */
    double jumps, time;       /* number of jumps, and the time in which they were counted [s] */
    double weight[SLOTS];     /* logarithms of the weights of the hypotheses */
    int64_t born[SLOTS], births; /* number of the birth at which each began; number of births so far */
    int coasts[SLOTS];        /* whether all joints coast */
    double since, spacing;    /* time since the last birth; time from it to the next one [s] */
    double evidence;          /* sum of log likelihood ratios for jumps [nats] */
    int samples;              /* number of samples since the start */
    int awake, likely;        /* whether the bank follows the motion; whether jumps are likely by the evidence */
    /* Squared distances from smoothed motions, fading: [bank, Kalman filter][velocities, accelerations]. */
    double apart[2][2];
    double compared;          /* time of the motion compared since the bank woke [s] */
    double nap, rest;         /* how long the bank sleeps next; how long it still sleeps now [s] */
} JumpBank;
