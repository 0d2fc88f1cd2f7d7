! Elastic MPI in Fortran, beside `use mpi_f08`: as the module epop_mpi_adapt, with that module's types.
module epop_mpi_adapt_f08
  use mpi_f08, only: MPI_Comm, MPI_Info
  use epop_mpi_adapt, only: MPI_ADAPT_FALSE, MPI_ADAPT_TRUE, MPI_ADAPT_STATUS_NEW, MPI_ADAPT_STATUS_JOINING, &
                            MPI_ADAPT_STATUS_STAYING, MPI_ADAPT_STATUS_LEAVING, MPI_ADAPT_STATUS_RESTARTING, &
                            MPI_ADAPT_FAULT, MPI_ADAPT_FAULT_KEY, &
                            mpi_init_adapt, mpi_comm_adapt_commit, &
                            EPOP_MPI_FIRST_PROBE_FIND, EPOP_MPI_FIRST_PROBE_COUNTS, EPOP_MPI_FIRST_PROBE_REPEATS, &
                            epop_mpi_first_probe, EPOP_MPI_LEAVE_RETURN, EPOP_MPI_LEAVE_COMMIT, epop_mpi_leave, &
                            epop_mpi_progress, epop_mpi_sizes
  implicit none
  public
  private :: MPI_Comm, MPI_Info

  ! A handle's type is one integer: the same functions take it.
  interface mpi_probe_adapt
    subroutine mpi_probe_adapt(pending_adaptation, local_status, info, ierror)
      import :: MPI_Info
      integer, intent(out) :: pending_adaptation, local_status
      type(MPI_Info), intent(out) :: info
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine epop_mpi_probe_fault(pending_adaptation, local_status, info, nfailed, failed_ranks, ierror)
      import :: MPI_Info
      integer, intent(out) :: pending_adaptation, local_status, nfailed, failed_ranks(*)
      type(MPI_Info), intent(out) :: info
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface
    subroutine mpi_comm_adapt_begin(intercomm, new_comm_world, staying_count, leaving_count, joining_count, ierror)
      import :: MPI_Comm
      type(MPI_Comm), intent(out) :: intercomm, new_comm_world
      integer, intent(out) :: staying_count, leaving_count, joining_count
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module
