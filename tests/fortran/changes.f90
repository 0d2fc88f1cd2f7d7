! A loop whose processes change by process sets, until a file is there. It has an MPI session, and no MPI_COMM_WORLD.
!     mpiexec -n 2 ./changes FILE        epopctl resize 4
program changes
  use mpi
  use epop_mpi_psets
  implicit none
  integer, parameter :: name_length = 256 ! MPI_MAX_PSET_NAME_LEN, which not every `use mpi` has
  character(name_length) :: set = 'mpi://WORLD', delta = '', next = ''
  character(200) :: path
  integer :: session, comm, rank, size, ierror, step = 0, least, change, state
  logical :: included, terminate = .false., stop_now = .false.
  call get_command_argument(1, path)
  call mpi_session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierror)
  ! A process that was started for a change is in its delta set.
  call mpi_session_get_res_change(session, change, delta, included, state, MPI_INFO_NULL)
  if (change /= MPI_RC_NULL .and. change /= MPI_RC_SUB .and. included) then
    call mpi_session_confirm_res_change(session, MPI_INFO_NULL, delta, set)
  end if
  call make_comm()
  do while (.not. (stop_now .or. terminate))
    step = step + 1
    call mpi_allreduce(step, least, 1, MPI_INTEGER, MPI_MIN, comm, ierror)
    if (least /= step) print '(a)', 'WRONG: some processes have made fewer steps'
    inquire(file=path, exist=stop_now)
    call mpi_bcast(stop_now, 1, MPI_LOGICAL, 0, comm, ierror)
    if (.not. stop_now) call look_for_change()
  end do
  if (.not. terminate) then
    if (rank == 0) print '(a,i0,a)', 'right at the end, ', size, ' processes'
    call mpi_comm_disconnect(comm, ierror)
  end if
  call mpi_session_finalize(session, ierror)

contains

  ! Of the present set; those that join learn how many steps were made.
  subroutine make_comm()
    integer :: group
    call mpi_group_from_session_pset(session, trim(set), group, ierror)
    call mpi_comm_create_from_group(group, 'changes', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierror)
    call mpi_group_free(group, ierror)
    call mpi_comm_rank(comm, rank, ierror)
    call mpi_comm_size(comm, size, ierror)
    call mpi_bcast(step, 1, MPI_INTEGER, 0, comm, ierror)
  end subroutine

  ! One process asks, and makes the set that there will be; all accept it.
  subroutine look_for_change()
    integer :: news(2)
    if (rank == 0) then
      call mpi_session_get_res_change(session, news(1), delta, included, news(2), MPI_INFO_NULL)
      if (news(1) /= MPI_RC_NULL .and. news(2) == MPI_RC_ANNOUNCED) then
        call mpi_session_pset_create_op(session, MPI_INFO_NULL, &
            merge(MPI_PSETOP_UNION, MPI_PSETOP_DIFFERENCE, news(1) == MPI_RC_ADD), set, delta, next)
      end if
    end if
    call mpi_bcast(news, 2, MPI_INTEGER, 0, comm, ierror)
    if (news(2) /= MPI_RC_ANNOUNCED .and. news(2) /= MPI_RC_PENDING) return
    call mpi_session_accept_res_change(session, MPI_INFO_NULL, delta, next, 0, comm, terminate, ierror)
    if (ierror /= MPI_SUCCESS .or. terminate) return ! new processes have not confirmed it yet; or this one is taken
    if (news(1) == MPI_RC_ADD) call mpi_comm_disconnect(comm, ierror)
    set = next
    call make_comm()
  end subroutine
end program
