! Process sets in Fortran, beside `use mpi`: the successor's calls of epop/mpi_psets.h, where is said what they do. Those
! that give requests are not here. Link with libepop_mpi, before MPI, or preload it. Nothing of this module needs to be
! linked.
!
! Names end at their last character that is no blank. Where C gives an array of names the caller has one: noutput says how
! many have room in it, and then how many there are. More than that are MPI_ERR_TRUNCATE.
module epop_mpi_psets
  implicit none
  public

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
  end interface
end module
