! Elastic MPI in Fortran, beside `use mpi`: four calls that make any MPI program malleable. What they do is said in
! epop/mpi_adapt.h. Link with libepop_mpi, before MPI, or preload it. Nothing of this module needs to be linked.
module epop_mpi_adapt
  implicit none
  public

  ! What pending_adaptation is.
  integer, parameter :: MPI_ADAPT_FALSE = 0
  integer, parameter :: MPI_ADAPT_TRUE = 1
  integer, parameter :: MPI_ADAPT_FAULT = 2

  ! What local_status is: of this process, at its start or in the adaptation that is pending.
  integer, parameter :: MPI_ADAPT_STATUS_NEW = 2
  integer, parameter :: MPI_ADAPT_STATUS_JOINING = 3
  integer, parameter :: MPI_ADAPT_STATUS_STAYING = 4
  integer, parameter :: MPI_ADAPT_STATUS_LEAVING = 5
  integer, parameter :: MPI_ADAPT_STATUS_RESTARTING = 6

  ! A key of info, in the first probe behind a fault that ended the job.
  character(*), parameter :: MPI_ADAPT_FAULT_KEY = 'mpi_adapt_fault'

  ! What epop_mpi_first_probe is told.
  integer, parameter :: EPOP_MPI_FIRST_PROBE_FIND = 0
  integer, parameter :: EPOP_MPI_FIRST_PROBE_COUNTS = 1
  integer, parameter :: EPOP_MPI_FIRST_PROBE_REPEATS = 2

  ! What epop_mpi_leave is told.
  integer, parameter :: EPOP_MPI_LEAVE_RETURN = 0
  integer, parameter :: EPOP_MPI_LEAVE_COMMIT = 1

  ! info is a variable: the caller's to free, or MPI_INFO_NULL. With nfailed and failed_ranks it is the probe with faults.
  interface mpi_probe_adapt
    subroutine mpi_probe_adapt(pending_adaptation, local_status, info, ierror)
      integer, intent(out) :: pending_adaptation, local_status, info
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine epop_mpi_probe_fault(pending_adaptation, local_status, info, nfailed, failed_ranks, ierror)
      integer, intent(out) :: pending_adaptation, local_status, info, nfailed, failed_ranks(*)
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface
    subroutine mpi_init_adapt(local_status, ierror)
      integer, intent(out) :: local_status
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_comm_adapt_begin(intercomm, new_comm_world, staying_count, leaving_count, joining_count, ierror)
      integer, intent(out) :: intercomm, new_comm_world, staying_count, leaving_count, joining_count
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_comm_adapt_commit(ierror)
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine epop_mpi_leave(how, ierror)
      integer, intent(in) :: how
      integer, optional, intent(out) :: ierror
    end subroutine

    ! Numbers of 8 bytes.
    subroutine epop_mpi_progress(iteration, bound, ierror)
      integer(selected_int_kind(18)), intent(in) :: iteration, bound
      integer, optional, intent(out) :: ierror
    end subroutine

    ! Blanks at its end do not count.
    subroutine epop_mpi_sizes(rule, ierror)
      character(*), intent(in) :: rule
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine epop_mpi_first_probe(what, ierror)
      integer, intent(in) :: what
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module
