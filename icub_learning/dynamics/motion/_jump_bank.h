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
#define LASTING 60.0       /* [s] memory of usual accelerations and jumps */
#define COMPARED 10.0      /* [s] of motion over which the comparison with smoothed motions fades at most */
#define FRESH 3.0          /* ratio of all motion compared so far to that over which it fades: first levels of noise are wrong */
#define LEAST_COMPARED 1.0 /* [s] of motion compared before the bank is believed */
#define LEAST_MEASURED 4.0 /* [s] the same beside measured velocities: chosen on four real arms, which have right ones */
#define SETTLING 16        /* number of samples after a start that are not compared */

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
    int samples;              /* number of samples since the start; 0: no motion is followed */
    /* Squared distances from smoothed motions, fading: [bank, Kalman filter][velocities, accelerations]. */
    double apart[2][2];
    double compared;          /* time of the motion compared so far [s] */
} JumpBank;
