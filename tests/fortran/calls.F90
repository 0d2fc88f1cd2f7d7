! Calls MPI functions of all kinds on MPI_COMM_WORLD, checks what they do, and is resized meanwhile, until a file is there.
!     mpiexec -n 2 ./calls FILE [abort]
! Compiled in three ways: -DMPIF_H, -DF08, or with `use mpi`; with -DOWN_MPI the elastic calls come with mpif.h and mpi.
#if defined F08
#define NUMBER(handle) handle%MPI_VAL
#define COMM type(MPI_Comm)
#define HANDLE(kind) type(kind)
#define STATUS(n) type(MPI_Status), dimension(n)
#else
#define NUMBER(handle) handle
#define COMM integer
#define HANDLE(kind) integer
#define STATUS(n) integer, dimension(MPI_STATUS_SIZE, n)
#endif
module checks
  use epop
#if defined F08
  use mpi_f08
  use epop_mpi_adapt_f08
#elif !defined MPIF_H
  use mpi
#ifndef OWN_MPI
  use epop_mpi_adapt
#endif
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#ifndef OWN_MPI
  include 'epop_mpi_adapt.fh'
#endif
#endif
  integer :: rank, size, ierr
  integer :: key = MPI_KEYVAL_INVALID ! of an attribute that the first processes have on the world
  integer :: turns = 0
  integer(c_int64_t), parameter :: all_cells = 12
  type(c_ptr) :: cells = c_null_ptr ! integers, in blocks; each is its own index

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (.not. right) print '(3a,i0,a,i0)', 'WRONG: ', what, ' on rank ', rank, ' of ', size
    if (.not. right) call mpi_abort(MPI_COMM_WORLD, 3, ierr)
  end subroutine

  subroutine place()
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
  end subroutine

  subroutine find(values)
    integer, pointer, intent(out) :: values(:)
    call c_f_pointer(cells, values, [epop_dist_local_count(epop_dist_block(all_cells), rank, size)])
  end subroutine

  subroutine number_cells()
    integer, pointer :: values(:)
    integer(c_int64_t) :: i
    cells = epop_malloc(4 * all_cells)
    call find(values)
    values = [(int(epop_dist_global(epop_dist_block(all_cells), rank, size, i)), i = 0, ubound(values, 1) - 1)]
  end subroutine

  subroutine cells_are_right()
    integer, pointer :: values(:)
    integer :: total
    call find(values)
    call mpi_allreduce(sum(values), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total == 66 .and. values(1) == epop_dist_global(epop_dist_block(all_cells), rank, size, 0_c_int64_t), 'cells')
  end subroutine

  subroutine move_cells()
    type(epop_window_t) :: window
    call expect(epop_mpi_window(window) == EPOP_OK, 'the window')
    call expect(epop_redist(window, epop_dist_block(all_cells), NUMBER(MPI_INTEGER), cells) == EPOP_OK, 'redistribution')
  end subroutine

  subroutine messages()
    integer :: next, before, count
    double precision :: mine(3), theirs(3)
    HANDLE(MPI_Request) :: requests(2)
    HANDLE(MPI_Datatype) :: every_other
    STATUS(2) :: statuses
    logical :: flag
    next = modulo(rank + 1, size)
    before = modulo(rank - 1, size)
    mine = [1d0, 2d0, 3d0] + rank
    call mpi_sendrecv(mine, 3, MPI_DOUBLE_PRECISION, next, 1, theirs, 3, MPI_DOUBLE_PRECISION, before, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(theirs == [1d0, 2d0, 3d0] + before), 'sendrecv')
    theirs = 0
    call mpi_irecv(theirs, 3, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(1), ierr)
    call mpi_isend(mine, 3, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, requests(2), ierr)
    call mpi_waitall(2, requests, statuses, ierr)
    call expect(all(theirs == [1d0, 2d0, 3d0] + before), 'isend')
#if defined F08
    call expect(statuses(1)%MPI_SOURCE == before, 'the status of a request')
    call mpi_get_count(statuses(1), MPI_DOUBLE_PRECISION, count, ierr)
#else
    call expect(statuses(MPI_SOURCE, 1) == before, 'the status of a request')
    call mpi_get_count(statuses(:, 1), MPI_DOUBLE_PRECISION, count, ierr)
#endif
    call expect(count == 3, 'get_count')
    call mpi_type_vector(2, 1, 2, MPI_DOUBLE_PRECISION, every_other, ierr)
    call mpi_type_commit(every_other, ierr)
    theirs = 0
    call mpi_sendrecv(mine, 1, every_other, next, 3, theirs, 1, every_other, before, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    call expect(all(theirs == [1 + before, 0, 3 + before]), 'a derived type')
    call mpi_type_free(every_other, ierr)
    call mpi_iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    call expect(.not. flag, 'iprobe')
  end subroutine

  subroutine collectives()
    integer :: value, all_of(size), sums(1)
    double precision :: pair(2), best(2), total
    logical :: every
    HANDLE(MPI_Request) :: request
    value = merge(turns, -1, rank == 0)
    call mpi_bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call expect(value == turns, 'bcast')
    total = rank
    call mpi_allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total == size * (size - 1) / 2, 'allreduce')
    pair = [dble(rank), dble(rank)]
    call mpi_allreduce(pair, best, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    call expect(all(best == size - 1), 'allreduce with maxloc')
    call mpi_allreduce(rank < size - 1, every, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    call expect(every .eqv. size > 1, 'allreduce of logicals')
    call mpi_allgather(rank, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all_of(1) == 0 .and. all_of(size) == size - 1, 'allgather')
    call mpi_scan(1, sums, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(sums(1) == rank + 1, 'scan')
    call mpi_iallreduce(1, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(value == size, 'iallreduce')
    call mpi_barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine communicators()
    COMM :: other
    HANDLE(MPI_Group) :: group
    integer :: answer, its_rank, its_size, dimensions(1), coordinates(1), from, to
    logical :: between
    character(MPI_MAX_OBJECT_NAME) :: name
    call mpi_comm_dup(MPI_COMM_WORLD, other, ierr)
    call mpi_comm_compare(MPI_COMM_WORLD, other, answer, ierr)
    call expect(answer == MPI_CONGRUENT, 'comm_compare of a duplicate')
    call mpi_comm_free(other, ierr)
    call mpi_comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, other, ierr)
    call mpi_comm_rank(other, its_rank, ierr)
    call mpi_comm_size(other, its_size, ierr)
    call expect(its_size == (size + 1 - modulo(rank, 2)) / 2 .and. its_rank == its_size - 1 - rank / 2, 'comm_split')
    call mpi_comm_free(other, ierr)
    dimensions = size
    call mpi_cart_create(MPI_COMM_WORLD, 1, dimensions, [.true.], .false., other, ierr)
    call mpi_cart_coords(other, rank, 1, coordinates, ierr)
    call mpi_cart_shift(other, 0, 1, from, to, ierr)
    call expect(coordinates(1) == rank .and. to == modulo(rank + 1, size), 'a cartesian grid')
    call mpi_comm_free(other, ierr)
    call mpi_comm_group(MPI_COMM_WORLD, group, ierr)
    call mpi_group_size(group, its_size, ierr)
    call expect(its_size == size, 'comm_group')
    call mpi_comm_create(MPI_COMM_WORLD, group, other, ierr)
    call mpi_comm_size(other, its_size, ierr)
    call expect(its_size == size, 'comm_create')
    call mpi_comm_free(other, ierr)
    call mpi_group_free(group, ierr)
    call mpi_comm_test_inter(MPI_COMM_WORLD, between, ierr)
    call mpi_comm_get_name(MPI_COMM_WORLD, name, its_size, ierr)
    call expect(.not. between .and. name == 'MPI_COMM_WORLD', 'comm_get_name')
  end subroutine

  subroutine files(path)
    character(*), intent(in) :: path
    HANDLE(MPI_File) :: file
    integer :: value
    call mpi_file_open(MPI_COMM_WORLD, path // '.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
    call mpi_file_write_at_all(file, int(4 * rank, MPI_OFFSET_KIND), rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call mpi_file_sync(file, ierr)
    call mpi_barrier(MPI_COMM_WORLD, ierr)
    call mpi_file_read_at_all(file, int(4 * modulo(rank + 1, size), MPI_OFFSET_KIND), value, 1, MPI_INTEGER, &
                              MPI_STATUS_IGNORE, ierr)
    call expect(value == modulo(rank + 1, size), 'a file')
    call mpi_file_close(file, ierr)
  end subroutine

  ! The first processes put an attribute on the world, and have errors return; both go on with the world.
  subroutine settle()
    integer(MPI_ADDRESS_KIND) :: value
    call mpi_comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
    value = 41
    call mpi_comm_set_attr(MPI_COMM_WORLD, key, value, ierr)
    call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  end subroutine

  ! The attribute has the number of the turn before. A duplicate of the world has what was put on the world, whichever that is.
  subroutine inherited()
    COMM :: other
    integer :: class
    if (key /= MPI_KEYVAL_INVALID) then
      call attribute_is(MPI_COMM_WORLD, 'an attribute', 41 + turns)
      call mpi_comm_set_attr(MPI_COMM_WORLD, key, int(42 + turns, MPI_ADDRESS_KIND), ierr)
    end if
    call mpi_comm_dup(MPI_COMM_WORLD, other, ierr)
    if (key /= MPI_KEYVAL_INVALID) then
      call attribute_is(MPI_COMM_WORLD, 'an attribute that was set', 42 + turns)
      call attribute_is(other, 'an attribute of a duplicate', 42 + turns)
      call mpi_send(rank, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
      call mpi_error_class(ierr, class, ierr)
      call expect(class == MPI_ERR_RANK, 'an error handler')
    end if
    call mpi_comm_free(other, ierr)
  end subroutine

  subroutine attribute_is(comm, what, expected)
    COMM, intent(in) :: comm
    character(*), intent(in) :: what
    integer, intent(in) :: expected
    integer(MPI_ADDRESS_KIND) :: value
    logical :: there
    call mpi_comm_get_attr(comm, key, value, there, ierr)
    call expect(there .and. value == expected, what)
    call mpi_comm_get_attr(comm, MPI_TAG_UB, value, there, ierr)
    call expect(there .and. value >= 32767, 'a predefined attribute')
  end subroutine
end module

program calls
  use checks
  implicit none
  HANDLE(MPI_Info) :: info
  integer :: pending, status
  character(200) :: path
  logical :: stop_now
  call get_command_argument(1, path)
  call mpi_init(ierr)
  call epop_mpi_sizes('1-7,9-,preferred=2   ', ierr)
  call expect(ierr == MPI_SUCCESS, 'sizes')
  call mpi_init_adapt(status, ierr)
  call epop_mpi_first_probe(EPOP_MPI_FIRST_PROBE_REPEATS, ierr)
  if (status == MPI_ADAPT_STATUS_JOINING) then
    call adapt()
  else
    call place()
    call expect(ierr == MPI_SUCCESS, 'first_probe')
    call epop_mpi_leave(EPOP_MPI_LEAVE_RETURN, ierr)
    call expect(ierr == MPI_SUCCESS, 'leave')
    call epop_mpi_progress(0_8, 1000_8, ierr)
    call expect(ierr == MPI_SUCCESS, 'progress')
    call settle()
    call number_cells()
  end if
  do
    call mpi_probe_adapt(pending, status, info, ierr)
    if (pending == MPI_ADAPT_TRUE) then
      call pending_is(info)
      call adapt()
      if (status == MPI_ADAPT_STATUS_LEAVING) exit
    end if
    call messages()
    call collectives()
    call communicators()
    call files(trim(path))
    call inherited()
    call cells_are_right()
    turns = turns + 1
    if (command_argument_count() > 1 .and. rank == size - 1) call mpi_abort(MPI_COMM_WORLD, 0, ierr)
    inquire(file=path, exist=stop_now)
    call mpi_bcast(stop_now, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
    if (stop_now) exit
  end do
  if (status /= MPI_ADAPT_STATUS_LEAVING .and. rank == 0) print '(a,i0,a)', 'right at the end, ', size, ' processes'
  call mpi_finalize(ierr)

contains

  ! What is pending says the same as the window.
  subroutine pending_is(what)
    HANDLE(MPI_Info) :: what
    character(20) :: text
    logical :: there
    integer :: from
    call mpi_info_get(what, 'epop_from', 20, text, there, ierr)
    read(text, *) from
    call expect(there .and. from == size, 'what is pending')
    call mpi_info_free(what, ierr)
  end subroutine

  subroutine adapt()
    COMM :: between, after, everyone
    integer :: staying, leaving, joining, new_size, answer
    call mpi_comm_adapt_begin(between, after, staying, leaving, joining, ierr)
    if (joining > 0) then
      call mpi_intercomm_merge(between, status == MPI_ADAPT_STATUS_JOINING, everyone, ierr)
    else
      call mpi_comm_dup(MPI_COMM_WORLD, everyone, ierr)
    end if
    call mpi_bcast(turns, 1, MPI_INTEGER, 0, everyone, ierr)
    call mpi_comm_disconnect(everyone, ierr)
    call move_cells()
    new_size = staying + joining
    call mpi_comm_adapt_commit(ierr)
    if (status == MPI_ADAPT_STATUS_LEAVING) return
    call mpi_comm_compare(MPI_COMM_WORLD, after, answer, ierr)
    call place()
    call expect(answer == MPI_IDENT .and. size == new_size, 'the new world')
  end subroutine
end program
