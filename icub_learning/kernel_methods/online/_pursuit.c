/* Destructive matching pursuit on a kernel dictionary of n points with C weights each: a removal takes O(n^2 + n C).
 *
 * The Gram matrix K and a factor T of its inverse, K^-1 = T T^T, are kept in the leading n x n blocks of arrays with
 * `capacity` columns. A point is added by a new row and column of T and removed by a reflection, so that the inverse stays
 * positive and loses half as many digits to an ill-conditioned K as an update of the inverse itself would. A robot's
 * dictionary has some tens of points, for which library calls would take longer than the arithmetic.
 */
#include "_arguments.h"
#include "_vectors.h"

/* out = T T^T k; `middle` holds T^T k afterwards. */
INLINE void solve(double *out, double *middle, const double *factor, const double *k, ptrdiff_t capacity, ptrdiff_t n) {
    memset(middle, 0, n * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) add_multiple(middle, k[i], factor + i * capacity, n);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = dot(factor + i * capacity, middle, n);
}

INLINE void swap(double *a, double *b, ptrdiff_t n, ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double kept = a[i * stride];
        a[i * stride] = b[i * stride];
        b[i * stride] = kept;
    }
}

#define LOOPS "_pursuit_loops.h"
#include "_versions.h"

FUNCTION(extend, "!ss !ss !sc bn+bb bc !b !5s s: n: c: o: b: %",
         "extend(gram, factor, weights, cross, added, accepted, work, capacity, n, columns, outputs, count, tolerance)\n--\n\n"
         "Add `count` functions: cross (count, n + count) kernel values with those before and with each other, added\n"
         "(count, columns) their weights; accepted (count,) becomes 1 for those added, 0 for those in the span already.\n"
         "work: 5 capacity numbers. Returns (new n, norm of what was lost, drift: relative error found in the factor).") {
    const ptrdiff_t capacity = SIZE('s'), n = SIZE('n'), columns = SIZE('c'), outputs = SIZE('o'), count = SIZE('b');
    if (!fits(n + count <= capacity && outputs > 0 && outputs <= columns, "n and capacity, or outputs and columns")) return NULL;
    double *accepted = a->array[5], *work = a->array[6], *row = work + 4 * capacity, lost = 0, drift = 0;
    const double *cross = a->array[3], *added = a->array[4];
    ptrdiff_t size = n;
    for (ptrdiff_t b = 0; b < count; b++, cross += n + count, added += columns) {
        memcpy(row, cross, n * sizeof(double));
        ptrdiff_t place = n;
        for (ptrdiff_t before = 0; before < b; before++)
            if (accepted[before] > 0) row[place++] = cross[n + before];
        row[place] = cross[n + b];
        const double one = CHOSEN(add_point)(a->array[0], a->array[1], a->array[2], capacity, size, columns, outputs, row, added, work,
                                             a->number[0], &drift);
        accepted[b] = one < 0;
        if (one < 0) size++;
        else lost += one;
    }
    return Py_BuildValue("ndd", (Py_ssize_t)size, lost, drift);
}

FUNCTION(prune, "!ss !ss !sc !n !2s s: n: c: o: % #",
         "prune(gram, factor, weights, order, work, capacity, n, columns, outputs, budget, limit)\n--\n\n"
         "Remove the cheapest points while the squared norm of the change is at most `budget`, or more than `limit` are left;\n"
         "order (n,) follows the exchanges; work: 2 capacity numbers. Returns (number left, squared norm).") {
    const ptrdiff_t capacity = SIZE('s'), n = SIZE('n'), columns = SIZE('c'), outputs = SIZE('o');
    double lost;
    if (!fits(n <= capacity && outputs > 0 && outputs <= columns, "n and capacity, or outputs and columns")) return NULL;
    const ptrdiff_t left = CHOSEN(remove_points)(a->array[0], a->array[1], a->array[2], a->array[3], capacity, n, columns, outputs,
                                                 a->number[0], a->integer[0], a->array[4], &lost);
    return Py_BuildValue("nd", (Py_ssize_t)left, lost);
}

MODULE(_pursuit, "Compiled matching pursuit on a kernel dictionary.", METHOD(extend), METHOD(prune))
