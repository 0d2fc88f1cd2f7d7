! The probe that tells of faults. After one it prints what its first three probes answer, and ends; before, it works without end.
!     faults
! Compiled in three ways, as calls.F90: -DMPIF_H, -DF08, or with `use mpi`.
#ifdef MPIF_H
#define PROBE epop_mpi_probe_fault
#else
#define PROBE mpi_probe_adapt
#endif
program faults
#if defined F08
  use mpi_f08
  use epop_mpi_adapt_f08
#elif !defined MPIF_H
  use mpi
  use epop_mpi_adapt
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
  include 'epop_mpi_adapt.fh'
#endif
#ifdef F08
  type(MPI_Info) :: info
#else
  integer :: info
#endif
  integer :: status, rank, size, pending, nfailed, ierr, probes_left = -1 ! after a fault; -1: there was none
  integer, allocatable :: failed_ranks(:)
  call mpi_init_adapt(status, ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
  allocate(failed_ranks(size))
  do while (probes_left /= 0)
    call PROBE(pending, status, info, nfailed, failed_ranks, ierr)
    if (pending == MPI_ADAPT_FAULT) probes_left = 3
    if (probes_left > 0) then
      print '(a,i0,a,i0,a,i0,a,*(1x,i0))', 'rank ', rank, ': pending ', pending, ', ', nfailed, ' failed:', failed_ranks(:nfailed)
      probes_left = probes_left - 1
    end if
    call mpi_barrier(MPI_COMM_WORLD, ierr)
  end do
  call mpi_probe_adapt(pending, status, info, ierr) ! the probe that tells of no faults
  if (pending /= MPI_ADAPT_FALSE) print '(a)', 'WRONG'
  call mpi_finalize(ierr)
end program
