"""J. I. Aliaga, M. Castillo, S. Iserte, I. Martín-Álvarez, R. Mayo: A survey on malleability solutions for high-performance distributed
computing (2022). Its table 1, with a row for EPOP whose words lead to the pages that show it."""
from papers import Item, Paper

HEADS = ("type", "solution", "paradigm", "data transfers", "RMS", "performance", "power", "faults")
TABLE_1 = """
C/R | SRS | MPI | implicit | no | no | no | yes
C/R | PCM API | MPI (ad hoc) | implicit | no | no | no | yes
C/R | SCR | MPI (ad hoc) | explicit | yes | no | no | yes
C/R | ULFM | MPI (ad hoc) | explicit | no | no | no | yes
resize | Elastic MPI | MPI (ad hoc) | explicit | Slurm | yes | yes | yes
resize | ReSHAPE | ad hoc | implicit | ad hoc | yes | no | no
resize | Flex-MPI | MPI (ad hoc) | implicit | no | yes | yes | no
resize | DMR API | OmpSs | implicit | Slurm | no | no | no
resize | DMRlib | MPI | implicit | Slurm | no | no | no
resize | Charm++ | Charm++ | implicit | Torque | yes | no | yes
resize | AMPI | MPI | implicit | Torque | yes | no | yes
resize | Invasive computing | X10 | explicit | ad hoc | yes | no | no
resize | EasyGrid AMS | LAM/MPI | implicit | ad hoc | yes | no | yes
resize | Alya, malleable | COMPSs | implicit | Slurm | yes | no | yes"""
EPOP = ("[resize](resize.md), [C/R](../guide/checkpoint.md)", "**EPOP**", "[MPI](../guide/start.md#which-interface)", "[implicit](../reference/data.md)",
        "[Slurm](../reference/slurm.md), [its own](../reference/epoprm.md)", "[yes](../reference/policies.md#the-policy-ers)",
        "[yes](../reference/epoprm.md#power)", "[yes](../reference/faults.md)")


def table(theirs, ours):
    return list(HEADS), [*(line.split(" | ") for line in TABLE_1.strip().splitlines()), list(EPOP)]


PAPER = Paper(
    "survey", "A survey on malleability solutions for high-performance distributed computing",
    "J. I. Aliaga, M. Castillo, S. Iserte, I. Martín-Álvarez, R. Mayo (2022)", "", {},
    [Item("table1", "Table 1", "Solutions compared", "Which programs, whether data moves by itself, with which resource manager, and whether decisions look at "
          "performance and power; last, what becomes of a job when a process fails. EPOP's words lead to the pages that show it.", (), table)])
