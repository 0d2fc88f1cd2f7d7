! A program for epop that describes values, a table, a matrix, blocks with ghosts and scratch. Each element says which it
! is and how many steps were made; what is wrong is said, and ends the job.
!     epop described.so STEPS
module described_program
  use epop
  use mpi
  implicit none

  integer(c_int64_t), parameter :: wide = 7, high = 5 ! of the blocks: neighbours in memory, and the others

  type :: state_t
    integer(c_int64_t) :: step = 0, steps = 0
    integer(c_int64_t) :: packed = 0 ! three times the step, where it is described
    type(c_ptr) :: table = c_null_ptr, matrix = c_null_ptr, field = c_null_ptr, room = c_null_ptr
    integer :: rank = -1, size = -1 ! by rebuild
  end type

contains

  type(epop_dist2d_t) function tiles()
    tiles = epop_dist2d_t(epop_dist_block(6_c_int64_t), epop_dist_cyclic(9_c_int64_t), 0, 0)
  end function

  type(epop_blocks_t) function box()
    box = epop_blocks_t(dims=2, count=[high, wide, 0_c_int64_t, 0_c_int64_t, 0_c_int64_t, 0_c_int64_t], &
                        ghosts=[1, 1, 0, 0, 0, 0], periodic=[1, 1, 0, 0, 0, 0])
  end function

  ! This rank's tile, with columns that lie together.
  subroutine tile_of(state, tile)
    type(state_t), intent(in) :: state
    integer(c_int64_t), pointer, intent(out) :: tile(:, :)
    type(epop_dist2d_t) :: dist
    integer(c_int64_t) :: rows, cols
    dist = tiles()
    call epop_grid_near_square(state%size, dist%grid_rows, dist%grid_cols)
    call epop_dist2d_local(dist, state%rank, rows, cols)
    call c_f_pointer(state%matrix, tile, [rows, cols])
  end subroutine

  ! This rank's block: its first indices, and the array with ghosts.
  subroutine block_of(state, first, values)
    type(state_t), intent(in) :: state
    integer(c_int64_t), intent(out) :: first(2)
    real(c_double), pointer, intent(out) :: values(:, :)
    integer(c_int64_t) :: count(2)
    integer :: error
    error = epop_blocks_local(box(), state%rank, state%size, first, count)
    call c_f_pointer(state%field, values, count([2, 1]) + 2)
  end subroutine

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(state_t), pointer :: state
    integer(c_int64_t), pointer :: table(:), tile(:, :)
    real(c_double), pointer :: values(:, :)
    integer(c_int64_t) :: first(2), i, j
    allocate(state)
    data = c_loc(state)
    init = EPOP_OK
    if (epop_status() /= EPOP_NEW) return
    call c_f_pointer(argv, words, [argc])
    state%steps = epop_integer(words(2))
    init = rebuild(data)
    state%table = epop_malloc(24_c_size_t)
    call c_f_pointer(state%table, table, [3])
    table = [10, 20, 30]
    state%matrix = epop_malloc(8 * 6 * 9_c_size_t)
    call tile_of(state, tile)
    tile = state%rank
    state%field = epop_malloc(8 * epop_blocks_elements(box(), state%rank, state%size))
    state%room = epop_malloc(8 * epop_blocks_elements(box(), state%rank, state%size))
    call block_of(state, first, values)
    values = -1
    do j = 2, ubound(values, 2) - 1
      do i = 2, ubound(values, 1) - 1
        values(i, j) = 100 * (first(1) + j - 2) + first(2) + i - 2
      end do
    end do
  end function

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(state_t), pointer :: state
    call c_f_pointer(data, state)
    call epop_describe_values(d, 'step' // c_null_char, c_loc(state%step), 2 * c_sizeof(state%step))
    call epop_describe_values(d, 'packed' // c_null_char, c_loc(state%packed), c_sizeof(state%packed))
    call epop_describe_replicated(d, 'table' // c_null_char, state%table, MPI_INTEGER8, 3_c_int64_t, EPOP_CONSTANT)
    call epop_describe_matrix(d, 'matrix' // c_null_char, state%matrix, MPI_INTEGER8, tiles(), 0)
    call epop_describe_blocks(d, 'field' // c_null_char, state%field, MPI_DOUBLE_PRECISION, box(), 0)
    call epop_describe_blocks(d, 'room' // c_null_char, state%room, MPI_DOUBLE_PRECISION, box(), EPOP_SCRATCH)
  end subroutine

  integer(c_int) function pack_state(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: state
    call c_f_pointer(data, state)
    state%packed = 3 * state%step
    pack_state = EPOP_OK
  end function

  integer(c_int) function rebuild(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: state
    call c_f_pointer(data, state)
    if (state%packed /= 3 * state%step) print '(a)', 'WRONG: it was not packed'
    call mpi_comm_rank(epop_world(), state%rank, rebuild)
    call mpi_comm_size(epop_world(), state%size, rebuild)
  end function

  subroutine release(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: state
    call c_f_pointer(data, state)
    if (c_associated(state%field) .or. c_associated(state%table)) print '(a)', 'WRONG: something is left'
    deallocate(state)
  end subroutine

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: state
    integer(c_int64_t), pointer :: table(:), tile(:, :)
    real(c_double), pointer :: values(:, :)
    integer(c_int64_t) :: first(2), i, j
    call c_f_pointer(data, state)
    call c_f_pointer(state%table, table, [3])
    step = epop_halo_exchange(box(), MPI_DOUBLE_PRECISION, state%field)
    call block_of(state, first, values)
    do j = 1, ubound(values, 2)
      do i = 1, ubound(values, 1)
        if (nint(values(i, j)) /= 100 * modulo(first(1) + j - 2, high) + modulo(first(2) + i - 2, wide) + state%step) step = 1
      end do
    end do
    values = values + 1
    call tile_of(state, tile)
    tile = tile + 1
    if (any(table /= [10, 20, 30])) step = 2
    state%step = state%step + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: state
    call c_f_pointer(data, state)
    more = merge(1, 0, state%step < state%steps)
  end function

  ! What the matrix was filled with is not in it any more, the sum of it is.
  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: state
    integer(c_int64_t), pointer :: tile(:, :)
    integer(c_int64_t) :: total
    call c_f_pointer(data, state)
    call tile_of(state, tile)
    call mpi_reduce(sum(tile - state%step), total, 1, MPI_INTEGER8, MPI_SUM, 0, epop_world(), report)
    if (state%rank == 0) print '(2(a,i0))', 'matrix ', total, ', ranks ', state%size
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    type(epop_sizes_t) :: sizes
    integer(c_int) :: pc
    get_program = epop_program_create_abi('described' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    pc = epop_add_init(get_program, 'start' // c_null_char, init)
    pc = epop_add_elastic(get_program, 'steps' // c_null_char, step, epop_adapt_described, more)
    sizes = epop_sizes_t(min=1, max=4)
    if (epop_set_sizes(get_program, pc, sizes) /= EPOP_OK) get_program = c_null_ptr
    pc = epop_describe(get_program, describe)
    pc = epop_rebuild(get_program, rebuild)
    pc = epop_release(get_program, release)
    if (epop_pack(get_program, pack_state) /= EPOP_OK) get_program = c_null_ptr
    program%finalizer = epop_add_rigid(get_program, 'report' // c_null_char, report)
  end function
end module
