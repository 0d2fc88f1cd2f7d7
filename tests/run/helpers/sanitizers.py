"""What the sanitizers found in the processes of a build that has them; one without has no reports.

Every report counts, but for memory that a library or a program took for itself and did not give back: a joiner that is called off
keeps the program's data. The suppressions of LeakSanitizer go by any function of the stack: they would also hide what our
own functions take when a library calls them, and they do not know what has been unloaded.
"""

import re

# Who takes memory that is ours to give back: our sources, and cJSON, which only we use.
OURS = re.compile(r"\b(?:runtime|driver|interpose|epop_api|epopctl)/\S+\.[ch]:\d+|/libcjson\.so")


def options(directory=None):
    """The environment of processes that leave their reports in that directory; None: on the standard error output."""
    log = f"log_path={directory}/report:" if directory else ""
    return {"ASAN_OPTIONS": log + "exitcode=99:halt_on_error=0:detect_leaks=1",
            "UBSAN_OPTIONS": log + "print_stacktrace=1",
            "TSAN_OPTIONS": f"{log}exitcode=66:report_thread_leaks=0"}


def reports(directory):
    """The texts of those that count."""
    texts = [path.read_text(errors="replace") for path in sorted(directory.glob("report.*"))]
    return [text for text in map(_without_foreign_leaks, texts) if text]


def _without_foreign_leaks(text):
    if re.search(r"ERROR: (?!LeakSanitizer)|runtime error|WARNING:", text):
        return text
    return "\n\n".join(part for part in text.split("\n\n") if _is_leak_of_ours(part))


def _is_leak_of_ours(part):
    """The innermost frame is the sanitizer's own."""
    taker = re.search(r"leak of .*\n *#0 .*\n( *#1 .*)", part)
    return taker is not None and OURS.search(taker[1]) is not None
