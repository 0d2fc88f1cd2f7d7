! For programs that expect the elastic calls from `use mpi` itself: MPICH's module, of the same three parts, and ours.
module mpi
  use mpi_constants
  use mpi_sizeofs
  use mpi_base
  use epop_mpi_adapt
end module
