/* A shared object that is no program. */
int something_else(void);

int something_else(void)
{
    return 0;
}
