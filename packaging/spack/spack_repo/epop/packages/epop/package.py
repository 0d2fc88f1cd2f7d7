# EPOP for Spack, from the checkout that this file lies in:
#     spack repo add packaging/spack/spack_repo/epop
#     spack install epop ^mpich device=ch3:sock        (without that: the MPICH that Spack would take)
import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Epop(MakefilePackage):
    """MPI jobs whose number of processes changes while they run: a launcher, a library for programs, a resource manager
    for the nodes of one user, and its simulator."""

    git = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 6))

    version("main", branch="main")

    variant("hdf5", default=True, description="Checkpoints in files")
    variant("fortran", default=True, description="Modules for Fortran programs")
    variant("pmix", default=False, description="Answers to tools of PMIx")
    variant("munge", default=False, description="Sites with several users")
    variant("slurm", default=False, description="Slurm's queue by libslurm, not by its commands")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("mpich@4:+hydra", type=("build", "link", "run"))
    depends_on("mpich+fortran", when="+fortran")
    depends_on("cjson")
    depends_on("elfutils")
    depends_on("libevent")
    depends_on("libsodium")
    depends_on("openblas")
    depends_on("sqlite@3")
    depends_on("zlib-api")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("pmix", when="+pmix")
    depends_on("munge", when="+munge")
    depends_on("slurm", when="+slurm")

    @property
    def words(self):
        """What every make is told. Charts need npm and a network: epop-report is left out."""
        launcher = join_path(self.spec["mpich"].prefix.bin, "mpiexec")
        fortran = "yes" if self.spec.satisfies("+fortran") else "no"
        words = ["REPORT=no", f"FORTRAN={fortran}", f"MPICC={self.spec['mpich'].mpicc}", f"MPIEXEC={launcher}",
                 f"PYTHON={self.spec['python'].command.path}", f"PREFIX={self.prefix}"]
        # Of the optional parts those that were asked for, whatever else this machine has.
        parts = [part for part in ("hdf5", "pmix", "munge", "slurm") if self.spec.satisfies(f"+{part}")]
        return [*words, f"PARTS={' '.join(parts)}"]

    def build(self, spec, prefix):
        make(*self.words, "all")

    def install(self, spec, prefix):
        make(*self.words, "install")
