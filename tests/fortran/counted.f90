! An executable with described data, which moves in one call, until a file is there.
!     mpiexec -n 2 ./counted FILE
module counted
  use epop
  use mpi
  implicit none
  integer(c_int64_t), parameter :: n = 12

  type :: state_t
    integer(c_int64_t) :: turns = 0, packed = 0
    type(c_ptr) :: cells = c_null_ptr ! each its own index
  end type

contains

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    call epop_describe_values(d, 'packed' // c_null_char, c_loc(s%packed), c_sizeof(s%packed))
    call epop_describe_array(d, 'cells' // c_null_char, s%cells, MPI_INTEGER8, epop_dist_block(n), 0)
  end subroutine

  integer(c_int) function pack_state(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    s%packed = s%turns
    pack_state = EPOP_OK
  end function

  subroutine number_cells(s)
    type(state_t), intent(inout) :: s
    integer(c_int64_t), pointer :: cells(:)
    s%cells = epop_malloc(8 * int(n, c_size_t))
    call find(s, cells)
    cells = indices(int(ubound(cells, 1)))
  end subroutine

  subroutine find(s, cells)
    type(state_t), intent(in) :: s
    integer(c_int64_t), pointer, intent(out) :: cells(:)
    integer :: rank, size, error
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_size(MPI_COMM_WORLD, size, error)
    call c_f_pointer(s%cells, cells, [epop_dist_local_count(epop_dist_block(n), rank, size)])
  end subroutine

  function indices(count)
    integer, intent(in) :: count
    integer(c_int64_t) :: indices(count), i
    integer :: rank, size, error
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_size(MPI_COMM_WORLD, size, error)
    indices = [(epop_dist_global(epop_dist_block(n), rank, size, i), i = 0, count - 1)]
  end function
end module

program main
  use counted
  use epop_mpi_adapt
  implicit none
  type(state_t), target :: s
  integer(c_int64_t), pointer :: cells(:)
  integer(c_int64_t) :: most
  integer :: pending, status, info, error, rank, size
  character(200) :: path
  logical :: stop_now
  call get_command_argument(1, path)
  call mpi_init_adapt(status)
  error = epop_mpi_describe(describe, c_loc(s))
  error = epop_mpi_pack(pack_state)
  if (status == MPI_ADAPT_STATUS_JOINING) call adapt()
  if (status == MPI_ADAPT_STATUS_NEW) call number_cells(s)
  do
    call mpi_probe_adapt(pending, status, info)
    if (pending == MPI_ADAPT_TRUE) then
      call mpi_info_free(info, error)
      call adapt()
      if (status == MPI_ADAPT_STATUS_LEAVING) exit
    end if
    s%turns = s%turns + 1
    call find(s, cells)
    call mpi_allreduce(s%turns, most, 1, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD, error)
    if (most /= s%turns .or. any(cells /= indices(ubound(cells, 1)))) call mpi_abort(MPI_COMM_WORLD, 3, error)
    inquire(file=path, exist=stop_now)
    call mpi_bcast(stop_now, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, error)
    if (stop_now) exit
  end do
  if (status /= MPI_ADAPT_STATUS_LEAVING) then
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_size(MPI_COMM_WORLD, size, error)
    if (rank == 0) print '(a,i0,a)', 'right at the end, ', size, ' processes'
  end if
  call mpi_finalize(error)

contains

  subroutine adapt()
    error = epop_mpi_adapt_described()
    if (error /= MPI_SUCCESS) call mpi_abort(MPI_COMM_WORLD, 4, error)
    s%turns = s%packed
  end subroutine
end program
