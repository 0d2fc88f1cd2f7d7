/*
 * The entry of a program that is executed itself, as by `mpiexec ./heat.so`: it says what was meant, and ends with
 * status 2. A linker takes a symbol `_start` for the entry of a shared object. That of an executable is the C library's,
 * before which this weak one gives way. Nothing is relocated when it runs, so it makes system calls alone. Elsewhere
 * than on x86-64 a program has no entry.
 */
#if defined __x86_64__ && !defined __ILP32__ && defined __linux__

        .text
        .weak   _start
        .hidden _start
        .type   _start, @function
_start:
        leaq    before(%rip), %r8
        leaq    nothing(%rip), %rcx
        movq    8(%rsp), %rdi           /* argv[0] */
        testq   %rdi, %rdi
        cmoveq  %rcx, %rdi
        movq    %rdi, %rdx
measure:
        cmpb    $0, (%rdx)
        je      measured
        incq    %rdx
        jmp     measure
measured:
        subq    %rdi, %rdx
        leaq    end(%rip), %rcx         /* the parts of the line, from the last one on */
        pushq   $1
        pushq   %rcx
        pushq   %rdx
        pushq   %rdi
        leaq    between(%rip), %rcx
        pushq   $end - between
        pushq   %rcx
        pushq   %rdx
        pushq   %rdi
        pushq   $between - before
        pushq   %r8
        movl    $20, %eax               /* writev(2, parts, 5) */
        movl    $2, %edi
        movq    %rsp, %rsi
        movl    $5, %edx
        syscall
        movl    $231, %eax              /* exit_group(2) */
        movl    $2, %edi
        syscall
before:
        .ascii  "epop: "
between:
        .ascii  " is a program of phases: mpiexec epop "
end:
        .byte   10
nothing:
        .byte   0
        .size   _start, . - _start

#endif
#ifdef __ELF__
        .section .note.GNU-stack, "", %progbits
#endif
