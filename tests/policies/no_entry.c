/* Not a policy: it exports something else. */
#include <epop/policy.h>

EPOP_EXPORT int epop_get_something(void);

int epop_get_something(void)
{
    return 1;
}
