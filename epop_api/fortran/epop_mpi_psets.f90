! Process sets in Fortran, beside `use mpi`: the calls of epop/mpi_psets.h, where is said what they do; but for the two that
! give a request and arrays of names, which nobody could fill in later. Link with libepop_mpi, before MPI, or preload it. Nothing of this module needs to be
! linked.
!
! Names end at their last character that is no blank. Where C gives an array of names the caller has one: noutput says how
! many have room in it, and then how many there are. More than that are MPI_ERR_TRUNCATE.
module epop_mpi_psets
  implicit none
  public

  integer, parameter :: MPI_RC_NULL = 0
  integer, parameter :: MPI_RC_ADD = 1
  integer, parameter :: MPI_RC_SUB = 2
  integer, parameter :: MPI_RC_REPLACE = 3

  integer, parameter :: MPI_RC_STATUS_NULL = 0
  integer, parameter :: MPI_RC_STATUS_ANNOUNCED = 1
  integer, parameter :: MPI_RC_STATUS_PENDING = 2
  integer, parameter :: MPI_RC_STATUS_FINALIZED = 3
  integer, parameter :: MPI_RC_STATUS_ABORTED = 4
  integer, parameter :: MPI_RC_ANNOUNCED = MPI_RC_STATUS_ANNOUNCED
  integer, parameter :: MPI_RC_PENDING = MPI_RC_STATUS_PENDING
  integer, parameter :: MPI_RC_FINALIZED = MPI_RC_STATUS_FINALIZED
  integer, parameter :: MPI_RC_ABORTED = MPI_RC_STATUS_ABORTED

  ! Keys of info.
  character(*), parameter :: MPI_RC_BOUND_PSET = 'MPI_RC_BOUND_PSET'
  character(*), parameter :: MPI_RC_TIMEOUT = 'MPI_RC_TIMEOUT'
  character(*), parameter :: MPI_RC_ADD_PSET = 'MPI_RC_ADD_PSET'
  character(*), parameter :: MPI_RC_SUB_PSET = 'MPI_RC_SUB_PSET'
  character(*), parameter :: MPI_PSET_TARGET = 'MPI_PSET_TARGET'

  integer, parameter :: MPI_PSETOP_NULL = 0
  integer, parameter :: MPI_PSETOP_ADD = 1
  integer, parameter :: MPI_PSETOP_SUB = 2
  integer, parameter :: MPI_PSETOP_REPLACE = 3
  integer, parameter :: MPI_PSETOP_MALLEABLE = 4
  integer, parameter :: MPI_PSETOP_GROW = 5
  integer, parameter :: MPI_PSETOP_SHRINK = 6
  integer, parameter :: MPI_PSETOP_UNION = 7
  integer, parameter :: MPI_PSETOP_DIFFERENCE = 8
  integer, parameter :: MPI_PSETOP_INTERSECTION = 9
  integer, parameter :: MPI_PSETOP_MULTI = 10
  integer, parameter :: MPI_PSETOP_SPLIT = 11
  integer, parameter :: MPI_PSETOP_CANCEL = 12

  ! ---- The first generation
  interface
    ! info: MPI_INFO_NULL, or one that gets the names of what a replacement adds and takes.
    subroutine mpi_session_get_res_change(session, rc_type, delta_pset, incl, status, info, ierror)
      integer, intent(in) :: session, info
      integer, intent(out) :: rc_type, status
      character(*), intent(inout) :: delta_pset
      logical, intent(out) :: incl
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_pset_create_op(session, info, op, pset1, pset2, pset_result, ierror)
      integer, intent(in) :: session, info, op
      character(*), intent(in) :: pset1, pset2
      character(*), intent(inout) :: pset_result
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_accept_res_change(session, info, delta_pset, new_pset, root, comm, terminate, ierror)
      integer, intent(in) :: session, info, root, comm
      character(*), intent(inout) :: delta_pset, new_pset
      logical, intent(out) :: terminate
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_confirm_res_change(session, info, delta_pset, new_pset, ierror)
      integer, intent(in) :: session, info
      character(*), intent(in) :: delta_pset
      character(*), intent(inout) :: new_pset
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  ! ---- The successor
  interface
    subroutine mpi_session_dyn_v2a_psetop(session, op, input_sets, ninput, output_psets, noutput, info, ierror)
      integer, intent(in) :: session, ninput, info
      integer, intent(inout) :: op, noutput
      character(*), intent(in) :: input_sets(*)
      character(*), intent(inout) :: output_psets(*)
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_dyn_v2a_query_psetop(session, coll_pset, input_pset, type, output_psets, noutput, ierror)
      integer, intent(in) :: session
      character(*), intent(in) :: coll_pset, input_pset
      integer, intent(out) :: type
      character(*), intent(inout) :: output_psets(*)
      integer, intent(inout) :: noutput
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_pset_barrier(session, pset_names, num_psets, info, ierror)
      integer, intent(in) :: session, num_psets, info
      character(*), intent(in) :: pset_names(*)
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_pset_barrier_nb(session, pset_names, num_psets, info, request, ierror)
      integer, intent(in) :: session, num_psets, info
      character(*), intent(in) :: pset_names(*)
      integer, intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_dyn_finalize_psetop(session, pset_name, ierror)
      integer, intent(in) :: session
      character(*), intent(in) :: pset_name
      integer, optional, intent(out) :: ierror
    end subroutine

    subroutine mpi_session_set_pset_data(session, pset_name, info, ierror)
      integer, intent(in) :: session, info
      character(*), intent(in) :: pset_name
      integer, optional, intent(out) :: ierror
    end subroutine

    ! wait: not 0. info_used is the caller's to free.
    subroutine mpi_session_get_pset_data(session, coll_pset, pset_name, keys, nkeys, wait, info_used, ierror)
      integer, intent(in) :: session, nkeys, wait
      character(*), intent(in) :: coll_pset, pset_name, keys(*)
      integer, intent(out) :: info_used
      integer, optional, intent(out) :: ierror
    end subroutine

    ! info_used is set when the request is complete: the caller's variable is asynchronous, too.
    subroutine mpi_session_get_pset_data_nb(session, coll_pset, pset_name, keys, nkeys, wait, info_used, request, ierror)
      integer, intent(in) :: session, nkeys, wait
      character(*), intent(in) :: coll_pset, pset_name, keys(*)
      integer, asynchronous, intent(inout) :: info_used
      integer, intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module
