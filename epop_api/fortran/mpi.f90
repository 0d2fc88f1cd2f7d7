! For programs that expect the elastic calls from `use mpi` itself: MPICH's module, of the same three parts, and ours; of process sets, too.
module mpi
  use mpi_constants
  use mpi_sizeofs
  use mpi_base
  use epop_mpi_adapt
  use epop_mpi_psets
end module
