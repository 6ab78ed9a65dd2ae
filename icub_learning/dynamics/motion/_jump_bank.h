/* Motions whose accelerations jump, all joints at once, and are constant in between: types (_jump_bank_follow.h).
 *
 * Controllers that plan trapezoids of velocity move like that. A Kalman filter averages over the time before and after
 * a jump; here the time of the last jump is what hypotheses are about, and given it the motion is a parabola in time
 * (Bayesian on-line changepoint detection: Fearnhead and Liu 2007; Adams and MacKay 2007). A hypothesis says when the
 * last jump was, and whether all joints coast since then (no acceleration) or each has an acceleration of its own.
 */
#include <stdint.h>

enum { SLOTS = 8, YOUNG = 1 };                             /* hypotheses; births for which a newborn one is kept */
enum { Q, V, A, QQ, QV, QA, VV, VA, AA, PARTS };           /* of a hypothesis: mean, then covariance, of each joint */

#define NEVER -INFINITY    /* logarithm of the weight of a hypothesis that does not exist */
#define NEGLIGIBLE log(DBL_EPSILON) /* of one that counts for nothing now */
#define SPACING 0.5        /* time between births over that in which a usual jump shows in positions */
#define EXPECTED 0.5       /* time for which 1 rad/s^2 counts as seen of each joint, and one jump in one second [s] */
#define LONGEST_NAP 60.0   /* [s] also the memory of what is usual */
#define TRIAL 5.0          /* [s] of motion after which the bank sleeps if smoothed motions show that it is no better */
#define LEAST_TRIAL 1.0    /* [s] of motion before it is believed in; also its first time asleep */
#define SETTLING 16        /* samples after a start that are no evidence */
#define MOST_EVIDENCE (OUTLIER * OUTLIER / 2.0) /* in one sample [nats] */
#define ENOUGH 50.0        /* evidence for jumps with which they are likely, until it is all lost; twice it is the most [nats] */

typedef struct {
    ptrdiff_t joints, width;  /* width: joints, rounded up to whole vectors */
    double *state;            /* of the slots, (SLOTS, PARTS, width) */
    double *mixed;            /* (PARTS, width) mean and covariance of all hypotheses together */
    double *error, *variance; /* scratch of the joints */
    double *squares;          /* of the joints: squared accelerations, summed over the time in which they had any */
    double accelerating;      /* that time [s] */
    double jumps, time;       /* how many there were in that time */
    double weight[SLOTS];     /* logarithms */
    int64_t born[SLOTS], births;
    int coasts[SLOTS];
    double since, spacing;    /* the last birth; how long until the next, then [s] */
    double evidence;          /* for jumps [nats] */
    int samples;              /* since the start */
    int awake, likely;        /* whether it follows the motion; whether positions are likely with jumps */
    /* Squared distances of velocities and accelerations from smoothed ones, by the bank and by the Kalman filter. */
    double apart[2][2];
    double compared;          /* motion compared since the bank woke [s] */
    double nap, rest;         /* the next time asleep; what is left of this one [s] */
} JumpBank;
