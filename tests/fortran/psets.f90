! Process sets in Fortran: a set split in two and joined again, a dictionary, and one process that is taken, by the names
! that the calls have in C.
program psets
  use mpi
  implicit none
  integer, parameter :: name_length = 256 ! MPI_MAX_PSET_NAME_LEN, which not every `use mpi` has
  integer, asynchronous :: later
  integer :: session, info, group, comm, rank, ierror, op, count, size, request
  character(name_length) :: names(3), main_set
  character(8) :: text
  logical :: found
  main_set = 'mpi://WORLD'
  call mpi_session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierror)
  call make()
  call mpi_comm_rank(comm, rank, ierror)
  if (rank == 0) call operations()
  call mpi_session_pset_barrier(session, [main_set], 1, MPI_INFO_NULL, ierror)
  call mpi_session_pset_barrier_nb(session, [main_set], 1, MPI_INFO_NULL, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call dictionary()
  if (rank == 0) call shrink()
  call mpi_barrier(comm, ierror)
  op = MPI_PSETOP_NULL
  do while (op == MPI_PSETOP_NULL)
    count = 3
    call mpi_session_dyn_v2a_query_psetop(session, main_set, main_set, op, names, count, ierror)
  end do
  call mpi_comm_disconnect(comm, ierror)
  main_set = names(2)
  call mpi_session_get_pset_data(session, 'mpi://SELF', main_set, ['mpi_included'], 1, 1, info)
  call mpi_info_get(info, 'mpi_included', 8, text, found, ierror)
  call mpi_info_free(info, ierror)
  if (text == 'True') then
    call make()
    call mpi_comm_size(comm, size, ierror)
    if (rank == 0) print '(i0, a)', size, ' processes'
    if (rank == 0) call mpi_session_dyn_finalize_psetop(session, 'mpi://WORLD')
    call mpi_comm_disconnect(comm, ierror)
  end if
  call mpi_session_finalize(session, ierror)

contains

  subroutine make()
    call mpi_group_from_session_pset(session, trim(main_set), group, ierror)
    call mpi_comm_create_from_group(group, 'psets', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierror)
    call mpi_group_free(group, ierror)
  end subroutine

  subroutine operations()
    call mpi_info_create(info, ierror)
    call mpi_info_set(info, 'mpi_part_sizes', '1,1,1', ierror)
    op = MPI_PSETOP_SPLIT
    count = 2
    call mpi_session_dyn_v2a_psetop(session, op, [main_set], 1, names, count, info, ierror)
    print '(a, l1, a, i0)', 'too little room: ', ierror == MPI_ERR_TRUNCATE, ', parts: ', count
    count = 3
    call mpi_session_dyn_v2a_psetop(session, op, [main_set], 1, names, count, info, ierror)
    call mpi_info_free(info, ierror)
    op = MPI_PSETOP_UNION
    call mpi_session_dyn_v2a_psetop(session, op, names, 3, names, count, MPI_INFO_NULL, ierror)
    call mpi_session_get_pset_data(session, 'mpi://SELF', names(1), ['mpi_size'], 1, 0, info, ierror)
    call mpi_info_get(info, 'mpi_size', 8, text, found, ierror)
    call mpi_info_free(info, ierror)
    print '(a, i0, 3a)', 'sets: ', count, ', processes: ', trim(text), '.'
  end subroutine

  subroutine dictionary()
    if (rank == 0) then
      call mpi_info_create(info, ierror)
      call mpi_info_set(info, 'answer', '42', ierror)
      call mpi_session_set_pset_data(session, main_set, info, ierror)
      call mpi_info_free(info, ierror)
    end if
    call mpi_session_get_pset_data(session, main_set, main_set, ['answer'], 1, 1, info, ierror)
    call mpi_info_get(info, 'answer', 8, text, found, ierror)
    call mpi_info_free(info, ierror)
    if (rank == 0) print '(2a)', 'answer: ', trim(text)
    call mpi_session_get_pset_data_nb(session, main_set, main_set, ['answer'], 1, 1, later, request, ierror)
    call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
    call mpi_info_get(later, 'answer', 8, text, found, ierror)
    call mpi_info_free(later, ierror)
    if (rank == 1) print '(2a)', 'later: ', trim(text)
    call mpi_barrier(comm, ierror)
  end subroutine

  subroutine shrink()
    call mpi_info_create(info, ierror)
    call mpi_info_set(info, 'mpi_num_procs_sub', '1', ierror)
    op = MPI_PSETOP_SHRINK
    count = 3
    call mpi_session_dyn_v2a_psetop(session, op, [main_set], 1, names, count, info, ierror)
    call mpi_info_free(info, ierror)
  end subroutine
end program
