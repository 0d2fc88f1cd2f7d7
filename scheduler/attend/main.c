/* attend: the attendant of one job. epoprm starts it beside each job, and a job inside of Slurm for the adviser. */
#include <stdio.h>
#include <string.h>

#include "scheduler/attend/link.h"
#include "scheduler/attend/run.h"

enum { USAGE = 2 };

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "run"))
        return run_job(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "link"))
        return link_to(argv[2], argv[3]);
    fprintf(stderr, "usage: attend run JOBDIR, or attend link HOST:PORT ADDRESSFILE (epoprm and epop start it)\n");
    return USAGE;
}
