! A program for epop with an adapt block of its own: sparse rows, rows with lengths, and items move by calls. Row r, from 0, has
! modulo(r, 3) elements that are r, and weighs as many. Each is looked at in each step.
!     epop rows.so STEPS
module rows_program
  use epop
  use mpi
  implicit none

  integer(c_int64_t), parameter :: n = 31

  type :: state_t
    integer(c_int64_t) :: step = 0, steps = 0
    type(epop_dist_t) :: cuts
    type(c_ptr) :: starts = c_null_ptr, lengths = c_null_ptr, of_starts = c_null_ptr, of_lengths = c_null_ptr, rows = c_null_ptr
    integer(c_int64_t) :: items = 0
    type(c_ptr) :: item = c_null_ptr
  end type

contains

  subroutine place(rank, size)
    integer, intent(out) :: rank, size
    integer :: error
    call mpi_comm_rank(epop_world(), rank, error)
    call mpi_comm_size(epop_world(), size, error)
  end subroutine

  integer(c_int) function owner(item, size, context) bind(C, name='')
    type(c_ptr), value :: item, context
    integer(c_int), value :: size
    integer(c_int64_t), pointer :: number
    if (c_associated(context)) print '(a)', 'WRONG: there is a context'
    call c_f_pointer(item, number)
    owner = int(modulo(number, int(size, c_int64_t)), c_int)
  end function

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(state_t), pointer :: s
    integer(c_int32_t), pointer :: starts(:), lengths(:)
    integer(c_int64_t), pointer :: of_starts(:), of_lengths(:), rows(:), item(:)
    integer(c_int64_t) :: i, count
    integer :: rank, size
    allocate(s)
    data = c_loc(s)
    init = EPOP_OK
    s%cuts = epop_dist_block(0_c_int64_t)
    call c_f_pointer(argv, words, [argc])
    s%steps = epop_integer(words(2))
    if (epop_status() /= EPOP_NEW) return
    call place(rank, size)
    s%cuts = epop_dist_even_cuts(n, size)
    count = epop_dist_local_count(s%cuts, rank, size)
    s%starts = epop_malloc(4 * int(count + 1, c_size_t))
    s%lengths = epop_malloc(4 * int(count + 1, c_size_t))
    s%rows = epop_malloc(8 * int(count + 1, c_size_t))
    s%of_starts = epop_malloc(24 * int(count + 1, c_size_t))
    s%of_lengths = epop_malloc(24 * int(count + 1, c_size_t))
    s%item = epop_malloc(8 * int(count + 1, c_size_t))
    call c_f_pointer(s%starts, starts, [count + 1])
    call c_f_pointer(s%lengths, lengths, [count])
    call c_f_pointer(s%rows, rows, [count])
    call c_f_pointer(s%of_starts, of_starts, [3 * count])
    call c_f_pointer(s%of_lengths, of_lengths, [3 * count])
    call c_f_pointer(s%item, item, [count])
    starts(1) = 0
    do i = 1, count
      rows(i) = epop_dist_global(s%cuts, rank, size, i - 1)
      lengths(i) = int(modulo(rows(i), 3_c_int64_t))
      starts(i + 1) = starts(i) + lengths(i)
      of_starts(starts(i) + 1:starts(i + 1)) = rows(i)
      of_lengths(starts(i) + 1:starts(i + 1)) = rows(i)
    end do
    item = rows
    s%items = count
    init = epop_items_exchange(s%item, s%items, MPI_INTEGER8, owner, c_null_ptr)
  end function

  ! To cuts by weight; all that has rows moves from the old to the new ones.
  integer(c_int) function adapt(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    type(epop_window_t) :: window
    type(epop_dist_t) :: after
    type(c_ptr), target :: of_starts, of_lengths
    call c_f_pointer(data, s)
    adapt = epop_adapt_begin(window)
    if (adapt == EPOP_OK) adapt = epop_redist_replicated(window, c_loc(s%step), 1_c_int64_t, MPI_INTEGER8)
    if (adapt == EPOP_OK) adapt = epop_redist_balance(window, s%cuts, MPI_INTEGER, s%lengths, 1d0, after)
    of_starts = s%of_starts
    of_lengths = s%of_lengths
    if (adapt == EPOP_OK) adapt = epop_redist_csr(window, s%cuts, after, MPI_INTEGER, s%starts, &
                                                  [epop_row_array_t(MPI_INTEGER8, c_loc(of_starts))], 1)
    if (adapt == EPOP_OK) adapt = epop_redist_rows(window, s%cuts, after, MPI_INTEGER, s%lengths, &
                                                   [epop_row_array_t(MPI_INTEGER8, c_loc(of_lengths))], 1)
    if (adapt == EPOP_OK) adapt = epop_redist_between(window, s%cuts, after, MPI_INTEGER8, s%rows)
    if (adapt == EPOP_OK) adapt = epop_redist_described(window, describe, data)
    s%of_starts = of_starts
    s%of_lengths = of_lengths
    call epop_dist_free(s%cuts)
    s%cuts = after
    if (adapt == EPOP_OK) adapt = epop_adapt_commit()
  end function

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    call epop_describe_items(d, 'items' // c_null_char, s%item, s%items, MPI_INTEGER8, owner, c_null_ptr, 0)
  end subroutine

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    integer(c_int32_t), pointer :: starts(:), lengths(:)
    integer(c_int64_t), pointer :: of_starts(:), of_lengths(:), rows(:), item(:)
    integer(c_int64_t) :: i, count, sums(2), totals(2)
    integer :: rank, size
    call c_f_pointer(data, s)
    call place(rank, size)
    count = epop_dist_local_count(s%cuts, rank, size)
    call c_f_pointer(s%starts, starts, [count + 1])
    call c_f_pointer(s%lengths, lengths, [count])
    call c_f_pointer(s%rows, rows, [count])
    call c_f_pointer(s%of_starts, of_starts, [3 * count])
    call c_f_pointer(s%of_lengths, of_lengths, [3 * count])
    call c_f_pointer(s%item, item, [s%items])
    sums = [count, s%items]
    call mpi_allreduce(sums, totals, 2, MPI_INTEGER8, MPI_SUM, epop_world(), step)
    if (any(totals /= n)) step = 1
    do i = 1, count
      if (rows(i) /= epop_dist_global(s%cuts, rank, size, i - 1)) step = 2
      if (lengths(i) /= modulo(rows(i), 3_c_int64_t)) step = 3
      if (starts(i + 1) - starts(i) /= lengths(i)) step = 4
      if (any(of_starts(starts(i) + 1:starts(i + 1)) /= rows(i))) step = 5
      if (any(of_lengths(starts(i) + 1:starts(i + 1)) /= rows(i))) step = 6
    end do
    if (any(modulo(item, int(size, c_int64_t)) /= rank)) step = 7
    s%step = s%step + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    more = merge(1, 0, s%step < s%steps)
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    type(epop_sizes_t) :: sizes
    integer(c_int) :: result, pc
    get_program = epop_program_create_abi('rows' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    result = epop_add_init(get_program, 'start' // c_null_char, init)
    pc = epop_add_elastic(get_program, 'steps' // c_null_char, step, adapt, more)
    sizes = epop_sizes_t(min=1, max=4)
    result = epop_set_sizes(get_program, pc, sizes)
  end function
end module
