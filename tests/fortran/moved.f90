! A program for epop with an adapt block of its own: blocks with ghosts, of which the grid changes, and a vector in blocks of
! lengths that it chooses itself move by calls, and as many elements as the maps say. Each is looked at in each step.
!     epop moved.so STEPS
module moved_program
  use epop
  use mpi
  implicit none

  integer(c_int64_t), parameter :: n = 31, wide = 7, high = 9 ! of the vector; of the blocks: neighbours in memory, and the others

  type :: state_t
    integer(c_int64_t) :: step = 0, steps = 0
    type(epop_dist_t) :: cuts
    type(c_ptr) :: vector = c_null_ptr, field = c_null_ptr
  end type

contains

  subroutine place(rank, size)
    integer, intent(out) :: rank, size
    integer :: error
    call mpi_comm_rank(epop_world(), rank, error)
    call mpi_comm_size(epop_world(), size, error)
  end subroutine

  ! A column of processes, or, of an odd number, a row. The first dimension has a boundary.
  type(epop_blocks_t) function box(size)
    integer, intent(in) :: size
    box%dims = 2
    box%count(1:2) = [high, wide]
    box%ghosts(1:2) = 1
    box%periodic(2) = 1
    box%grid(1 + modulo(size, 2)) = size
    box%grid(2 - modulo(size, 2)) = 1
  end function

  ! How many elements of the vector a rank wants: the first one has all that others leave, which take 2.
  integer(c_int64_t) function wanted(rank, size)
    integer, intent(in) :: rank, size
    wanted = merge(2_c_int64_t, 0_c_int64_t, rank > 0)
    if (rank == 0) wanted = n - 2 * (size - 1)
  end function

  real(c_double) function value_at(row, column)
    integer(c_int64_t), intent(in) :: row, column
    value_at = 100 * row + modulo(column, wide)
  end function

  subroutine block_of(state, first, values)
    type(state_t), intent(in) :: state
    integer(c_int64_t), intent(out) :: first(2)
    real(c_double), pointer, intent(out) :: values(:, :)
    integer(c_int64_t) :: count(2)
    integer :: rank, size, error
    call place(rank, size)
    error = epop_blocks_local(box(size), rank, size, first, count)
    call c_f_pointer(state%field, values, count([2, 1]) + 2)
  end subroutine

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(state_t), pointer :: s
    real(c_double), pointer :: values(:, :)
    integer(c_int64_t), pointer :: vector(:), starts(:)
    integer(c_int64_t) :: first(2), i, j
    type(c_ptr) :: memory
    integer :: rank, size
    allocate(s)
    data = c_loc(s)
    init = EPOP_OK
    s%cuts = epop_dist_block(0_c_int64_t)
    call c_f_pointer(argv, words, [argc])
    s%steps = epop_integer(words(2))
    if (epop_status() /= EPOP_NEW) return
    call place(rank, size)
    memory = epop_malloc(8 * int(size + 1, c_size_t))
    call c_f_pointer(memory, starts, [size + 1])
    starts = [0_c_int64_t, (n - 2 * (size - i), i = 1, size)]
    s%cuts = epop_dist_cuts(memory, size)
    s%vector = epop_malloc(8 * int(n, c_size_t))
    call c_f_pointer(s%vector, vector, [wanted(rank, size)])
    vector = [(starts(rank + 1) + i - 1, i = 1, wanted(rank, size))]
    s%field = epop_malloc(8 * epop_blocks_elements(box(size), rank, size))
    call block_of(s, first, values)
    do j = 1, ubound(values, 2)
      do i = 1, ubound(values, 1)
        values(i, j) = value_at(first(1) + j - 2, first(2) + i - 2)
      end do
    end do
  end function

  ! That this rank gives away, or keeps, and that all do. Takes the moves.
  subroutine add_up(window, moves, count, mine, total)
    type(epop_window_t), intent(in) :: window
    type(c_ptr), intent(in) :: moves
    integer(c_int), intent(in) :: count
    integer(c_int64_t), intent(out) :: mine, total
    type(epop_redist_move_t), pointer :: all(:)
    integer :: rank, error
    call mpi_comm_rank(window%all, rank, error)
    call c_f_pointer(moves, all, [count])
    total = sum(all%count)
    mine = sum(all%count, mask=all%from == rank)
    call epop_free(moves)
  end subroutine

  integer(c_int) function move_vector(window, s) result(moved)
    type(epop_window_t), intent(in) :: window
    type(state_t), intent(inout) :: s
    type(epop_dist_t) :: before, after
    type(c_ptr) :: moves
    integer(c_int) :: count
    integer(c_int64_t) :: had, shall, mine, total
    had = 0
    shall = 0
    if (window%old_rank >= 0) had = wanted(window%old_rank, window%old_size)
    if (window%new_rank >= 0) shall = wanted(window%new_rank, window%new_size)
    moved = epop_redist_counts(window, had, shall, before, after)
    if (moved == EPOP_OK) moved = epop_redist_map(window, before, after, moves, count)
    if (moved /= EPOP_OK) return
    call add_up(window, moves, count, mine, total)
    if (mine /= had .or. total /= n) moved = 11
    if (moved == EPOP_OK) moved = epop_redist_between(window, before, after, MPI_INTEGER8, s%vector)
    call epop_dist_free(before)
    call epop_dist_free(s%cuts)
    s%cuts = after
  end function

  integer(c_int) function move_field(window, s) result(moved)
    type(epop_window_t), intent(in) :: window
    type(state_t), intent(inout) :: s
    type(epop_blocks_t) :: before, after
    type(c_ptr) :: moves
    integer(c_int) :: count
    integer(c_int64_t) :: mine, total
    before = box(window%old_size)
    after = box(window%new_size)
    moved = epop_redist_blocks_map(window, before, after, moves, count)
    if (moved /= EPOP_OK) return
    call add_up(window, moves, count, mine, total)
    if (total /= (high + 2) * wide) moved = 12 ! with the boundary
    if (moved == EPOP_OK) moved = epop_redist_blocks(window, before, after, MPI_DOUBLE_PRECISION, s%field)
  end function

  ! Of the matrix that the field would be without ghosts.
  integer(c_int) function map_matrix(window) result(mapped)
    type(epop_window_t), intent(in) :: window
    type(epop_dist2d_t) :: before, after
    type(c_ptr) :: moves
    integer(c_int) :: count
    integer(c_int64_t) :: mine, total, rows, columns
    before = epop_dist2d_t(epop_dist_block(high), epop_dist_cyclic(wide), window%old_size, 1)
    after = epop_dist2d_t(epop_dist_block(high), epop_dist_cyclic(wide), 1, window%new_size)
    mapped = epop_redist2d_map(window, before, after, moves, count)
    if (mapped /= EPOP_OK) return
    call add_up(window, moves, count, mine, total)
    call epop_dist2d_local(before, window%old_rank, rows, columns)
    if (mine /= rows * columns .or. total /= high * wide) mapped = 13
  end function

  integer(c_int) function adapt(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    type(epop_window_t) :: window
    call c_f_pointer(data, s)
    adapt = epop_adapt_begin(window)
    if (adapt == EPOP_OK) adapt = epop_redist_replicated(window, c_loc(s%step), 1_c_int64_t, MPI_INTEGER8)
    if (adapt == EPOP_OK) adapt = move_vector(window, s)
    if (adapt == EPOP_OK) adapt = move_field(window, s)
    if (adapt == EPOP_OK) adapt = map_matrix(window)
    if (adapt == EPOP_OK) adapt = epop_adapt_commit()
  end function

  ! The ghosts of neighbours are wrong before the exchange; two are under way at once.
  integer(c_int) function exchange(s) result(done)
    type(state_t), intent(in) :: s
    type(c_ptr) :: halo, another
    type(epop_blocks_t) :: blocks
    real(c_double), pointer :: values(:, :)
    real(c_double), target, allocatable :: copy(:, :)
    integer(c_int64_t) :: first(2)
    integer(c_int) :: grid(2)
    integer :: rank, size
    call place(rank, size)
    call block_of(s, first, values)
    values([1, ubound(values, 1)], :) = -1
    if (first(1) > 0) values(:, 1) = -1
    copy = values
    blocks = box(size)
    done = epop_halo_start(blocks, MPI_DOUBLE_PRECISION, s%field, halo)
    if (done == EPOP_OK) done = epop_halo_start(blocks, MPI_DOUBLE_PRECISION, c_loc(copy), another)
    if (done == EPOP_OK) done = epop_halo_finish(halo)
    if (done == EPOP_OK) done = epop_halo_finish(another)
    if (done == EPOP_OK .and. any(copy(:, 2:ubound(copy, 2) - 1) /= values(:, 2:ubound(copy, 2) - 1))) done = 21
    if (c_associated(halo) .or. c_associated(another)) done = 22
    blocks%grid = 0
    blocks%grid(2) = 1
    if (epop_blocks_grid(blocks, size, grid) /= EPOP_OK) done = 23
    if (any(grid /= [size, 1])) done = 24
  end function

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    integer(c_int64_t), pointer :: vector(:)
    real(c_double), pointer :: values(:, :)
    integer(c_int64_t) :: first(2), i, j, count, total
    integer :: rank, size
    call c_f_pointer(data, s)
    call place(rank, size)
    count = epop_dist_local_count(s%cuts, rank, size)
    call mpi_allreduce(count, total, 1, MPI_INTEGER8, MPI_SUM, epop_world(), step)
    if (total /= n .or. count /= wanted(rank, size)) step = 1
    call c_f_pointer(s%vector, vector, [count])
    do i = 1, count
      if (vector(i) /= epop_dist_global(s%cuts, rank, size, i - 1)) step = 2
    end do
    if (step == EPOP_OK) step = exchange(s)
    call block_of(s, first, values)
    do j = 1, ubound(values, 2)
      do i = 1, ubound(values, 1)
        if (nint(values(i, j)) == nint(value_at(first(1) + j - 2, first(2) + i - 2))) cycle
        ! At the corners that only a boundary has, nobody fills the ghosts in.
        if (first(1) + j - 2 >= 0 .and. first(1) + j - 2 < high) step = 3
        if (i > 1 .and. i < ubound(values, 1)) step = 4
      end do
    end do
    s%step = s%step + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    more = merge(1, 0, s%step < s%steps)
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_sizes_t) :: sizes
    integer(c_int) :: result, pc
    get_program = epop_program_create_abi('moved' // c_null_char, EPOP_ABI_VERSION)
    result = epop_add_init(get_program, 'start' // c_null_char, init)
    pc = epop_add_elastic(get_program, 'steps' // c_null_char, step, adapt, more)
    sizes = epop_sizes_t(min=1, max=4)
    result = epop_set_sizes(get_program, pc, sizes)
  end function
end module
