/*
 * Time balancing (dissertation 10.3.3): a set of jobs gets other sizes, so that all end at one time.
 *
 * Published is a linear system for the scaling factors x': x'(i)/t(i) = x'(i+1)/t(i+1) for neighbours, and
 * sum x'(i)*n(i) = sum n(i) + idle. All x'(i)/t(i) being one number 1/T, its solution is x'(i) = t(i)/T with
 * T = sum t(i)*n(i) / (sum n(i) + idle), the common end.
 */
#ifndef SCHEDULER_POLICIES_ERS_BALANCE_H
#define SCHEDULER_POLICIES_ERS_BALANCE_H

struct ers_share {
    double work;   /* node seconds that are left: t * n */
    int low, high; /* sizes between which the job keeps its efficiency */
    double nodes;  /* what it gets; not a whole number */
};

/* Shares `total` nodes, none below its low or above its high; with neither in the way it is the solution of the
 * system. Returns the end that those have in common that are at no limit; 0: there is none. */
double ers_balance(struct ers_share *shares, int count, double total);

#endif
