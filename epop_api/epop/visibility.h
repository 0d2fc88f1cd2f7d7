/* Attributes: what makes a function visible outside its shared object. What has none of these may be compiled with
 * `-fvisibility=hidden`. */
#ifndef EPOP_VISIBILITY_H
#define EPOP_VISIBILITY_H

#define EPOP_API    __attribute__((visibility("default"))) /* a function of libepop */
#define EPOP_EXPORT __attribute__((visibility("default"))) /* a function that a program, driver or policy exports */
#define EPOP_HOST   __attribute__((visibility("default"))) /* a function of the executable that loads a policy */

#endif
