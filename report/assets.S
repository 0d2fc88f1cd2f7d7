/* The bundle that report/web/build.mjs makes, as bytes in the executable. */
    .section .rodata
    .global report_script, report_script_end
    .type report_script, @object
report_script:
    .incbin REPORT_SCRIPT
report_script_end:
    .byte 0
    .size report_script, . - report_script
    .section .note.GNU-stack, "", %progbits
