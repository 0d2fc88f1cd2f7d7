/* Which symbols leave a shared object: everything is hidden but what carries one of these. */
#ifndef EPOP_VISIBILITY_H
#define EPOP_VISIBILITY_H

#define EPOP_API    __attribute__((visibility("default"))) /* a function of libepop */
#define EPOP_EXPORT __attribute__((visibility("default"))) /* a function that a plug-in must export */
#define EPOP_HOST   __attribute__((visibility("default"))) /* a function of the executable that loads a plug-in */

#endif
