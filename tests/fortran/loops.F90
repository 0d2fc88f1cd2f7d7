! Two loops, one in the other, by each interface of MPI: the marks say where their first and last calls are.
program loops
#ifdef F08
  use mpi_f08
#elif !defined MPIF_H
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
  integer :: error, mine, all, step, turn
  call MPI_Init(error)
  mine = 1
  do step = 1, 20
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error) ! BEGIN outer
    do turn = 1, 5
      call MPI_Bcast(all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error) ! BEGIN inner
      call MPI_Barrier(MPI_COMM_WORLD, error) ! END inner
    end do
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error) ! END outer
  end do
  call MPI_Finalize(error)
end program
