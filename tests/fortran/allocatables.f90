! A program for epop that describes allocatable arrays of all types and layouts, and looks at the bounds and at each element of
! them in each step: what is wrong ends the job. It prints how many windows there were.
!     epop allocatables.so STEPS
module allocatables_program
  use epop
  use mpi
  implicit none

  integer(c_int64_t), parameter :: n = 23, one = 1
  integer, parameter :: ghosts(3) = [0, 1, 2] ! in C's order

  type :: state_t
    integer(c_int64_t) :: step = 0, steps = 0
    type(epop_partition_t) :: partition
    integer(c_int32_t), allocatable :: i4(:), box(:, :, :)
    integer(c_int64_t), allocatable :: i8(:)
    logical, allocatable :: l4(:)
    real(c_float), allocatable :: r4(:)
    real(c_double), allocatable :: r8(:), matrix(:, :), few(:), scratch(:, :, :)
    complex(c_float), allocatable :: c4(:)
    complex(c_double), allocatable :: c8(:)
  end type

contains

  type(epop_blocks_t) function blocks()
    blocks%dims = 3
    blocks%count(1:3) = [6, 8, 10]
    blocks%ghosts(1:3) = ghosts
    blocks%periodic(1:3) = 1
  end function

  type(epop_dist2d_t) function tiles()
    tiles = epop_dist2d_t(epop_dist_block(6_c_int64_t), epop_dist_cyclic(9_c_int64_t), 0, 0)
  end function

  ! Every other index to the same rank.
  integer(c_int) function divide(count, size, owner, context) bind(C, name='')
    integer(c_int64_t), value :: count
    integer(c_int), value :: size
    integer(c_int), intent(out) :: owner(count)
    type(c_ptr), value :: context
    integer :: i
    if (c_associated(context)) print '(a)', 'WRONG: there is a context'
    owner = [(modulo(i / 2, size), i = 1, int(count))]
    divide = 0
  end function

  ! The global indices of this rank, from 0.
  function indices(dist) result(found)
    type(epop_dist_t), intent(in) :: dist
    integer(c_int64_t), allocatable :: found(:)
    integer :: rank, size, error
    integer(c_int64_t) :: i
    call mpi_comm_rank(epop_world(), rank, error)
    call mpi_comm_size(epop_world(), size, error)
    allocate(found(epop_dist_local_count(dist, rank, size)))
    do i = 1, ubound(found, 1)
      found(i) = epop_dist_global(dist, rank, size, i - 1)
    end do
  end function

  function owned(s) result(found)
    type(state_t), intent(in) :: s
    integer(c_int64_t), allocatable :: found(:)
    integer :: rank, error
    call mpi_comm_rank(epop_world(), rank, error)
    allocate(found(epop_partition_local(s%partition, rank)))
    if (epop_partition_local(s%partition, rank, found) /= ubound(found, 1)) error stop 'WRONG: the partition'
  end function

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(state_t), pointer :: s
    type(epop_dist2d_t) :: dist
    integer(c_int64_t) :: first(3), count(3), rows, cols
    integer :: rank, size, i
    allocate(s)
    data = c_loc(s)
    s%partition%divide = c_funloc(divide)
    call c_f_pointer(argv, words, [argc])
    s%steps = epop_integer(words(2))
    init = EPOP_OK
    if (epop_status() /= EPOP_NEW) return
    call mpi_comm_rank(epop_world(), rank, init)
    call mpi_comm_size(epop_world(), size, init)
    s%partition%count = n
    init = epop_partition_divide(s%partition)
    s%i4 = int(indices(epop_dist_cyclic(n)), c_int32_t)
    s%i8 = indices(epop_dist_block_cyclic(n, 3_c_int64_t))
    s%r4 = real(indices(epop_dist_block(n)), c_float)
    s%r8 = real(indices(epop_dist_cyclic(n)), c_double)
    s%c8 = cmplx(indices(epop_dist_block(n)), -1, c_double)
    s%c4 = cmplx(owned(s), 2, c_float)
    s%few = real(indices(epop_dist_block(2_c_int64_t)), c_double)
    s%l4 = [.true., .false., .true.]
    dist = tiles()
    call epop_grid_near_square(size, dist%grid_rows, dist%grid_cols)
    call epop_dist2d_local(dist, rank, rows, cols)
    allocate(s%matrix(rows, cols), source=real(rank, c_double))
    init = epop_blocks_local(blocks(), rank, size, first, count)
    allocate(s%box(-1:count(3) + 2, 0:count(2) + 1, count(1)), source=-1)
    allocate(s%scratch(-1:count(3) + 2, 0:count(2) + 1, count(1)), source=0d0)
    do i = 1, int(count(1))
      s%box(1:count(3), 1:count(2), i) = int(first(1)) + i
    end do
  end function

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    call epop_describe_values(d, 'step' // c_null_char, c_loc(s%step), 2 * c_sizeof(s%step))
    call epop_describe_members(d, 'step' // c_null_char, 'int64_t step, steps' // c_null_char)
    call epop_describe_partition(d, 'partition' // c_null_char, s%partition)
    call epop_describe_allocatable_array(d, 'i4' // c_null_char, epop_allocatable(s%i4), epop_dist_cyclic(n), EPOP_CONSTANT)
    call epop_describe_allocatable_array(d, 'i8' // c_null_char, epop_allocatable(s%i8), epop_dist_block_cyclic(n, 3_c_int64_t), 0)
    call epop_describe_allocatable_array(d, 'r4' // c_null_char, epop_allocatable(s%r4), epop_dist_block(n), 0)
    call epop_describe_allocatable_array(d, 'r8' // c_null_char, epop_allocatable(s%r8), epop_dist_cyclic(n), 0)
    call epop_describe_allocatable_array(d, 'c8' // c_null_char, epop_allocatable(s%c8), epop_dist_block(n), 0)
    call epop_describe_allocatable_array(d, 'few' // c_null_char, epop_allocatable(s%few), epop_dist_block(2_c_int64_t), 0)
    call epop_describe_allocatable_owned(d, 'c4' // c_null_char, epop_allocatable(s%c4), s%partition, 0)
    call epop_describe_allocatable_replicated(d, 'l4' // c_null_char, epop_allocatable(s%l4), 3_c_int64_t, EPOP_CONSTANT)
    call epop_describe_allocatable_matrix(d, 'matrix' // c_null_char, epop_allocatable(s%matrix), tiles(), 0)
    call epop_describe_allocatable_blocks(d, 'box' // c_null_char, epop_allocatable(s%box), blocks(), 0)
    call epop_describe_allocatable_blocks(d, 'scratch' // c_null_char, epop_allocatable(s%scratch), blocks(), EPOP_SCRATCH)
  end subroutine

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(2a)', 'WRONG: ', what
    error stop
  end subroutine

  ! Sums over the array's descriptor, as a library reads it: also of an array that was never allocated here.
  subroutine look(s)
    type(state_t), intent(in) :: s
    type(epop_dist2d_t) :: dist
    integer(c_int64_t) :: first(3), count(3), rows, cols, i
    integer :: rank, size, error
    character(200) :: text
    call mpi_comm_rank(epop_world(), rank, error)
    call mpi_comm_size(epop_world(), size, error)
    call check(all(s%i4 == indices(epop_dist_cyclic(n))) .and. lbound(s%i4, 1) == 1, 'i4')
    call check(all(s%i8 == indices(epop_dist_block_cyclic(n, 3_c_int64_t)) + s%step), 'i8')
    call check(ubound(s%i8, 1) == ubound(indices(epop_dist_block_cyclic(n, 3_c_int64_t)), 1), 'bounds of i8')
    call check(all(nint(s%r4) == indices(epop_dist_block(n))), 'r4')
    call check(all(nint(s%r8) == indices(epop_dist_cyclic(n)) + s%step), 'r8')
    call check(all(nint(real(s%c8)) == indices(epop_dist_block(n))) .and. all(nint(aimag(s%c8)) == -1), 'c8')
    call check(ubound(s%c4, 1) == ubound(owned(s), 1), 'bounds of c4')
    call check(all(nint(real(s%c4)) == owned(s)) .and. all(nint(aimag(s%c4)) == 2), 'c4')
    call check(allocated(s%few) .and. ubound(s%few, 1) == merge(2 / size + merge(1, 0, rank < modulo(2, size)), 0, .true.), 'few')
    call check(all(s%l4 .eqv. [.true., .false., .true.]), 'l4')
    write (text, *) s%l4, s%few
    call check(index(text, 'T F T') > 0, 'what is written of l4')
    dist = tiles()
    call epop_grid_near_square(size, dist%grid_rows, dist%grid_cols)
    call epop_dist2d_local(dist, rank, rows, cols)
    call check(all(shape(s%matrix) == [rows, cols]), 'shape of the matrix')
    error = epop_blocks_local(blocks(), rank, size, first, count)
    call check(all(lbound(s%box) == [-1, 0, 1]) .and. all(ubound(s%box) == [count(3) + 2, count(2) + 1, count(1)]), 'bounds of box')
    call check(all(shape(s%scratch) == shape(s%box)), 'shape of scratch')
    do i = 1, count(1)
      call check(all(s%box(:, :, i) == first(1) + i), 'box')
    end do
  end subroutine

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    step = epop_halo_exchange(blocks(), MPI_INTEGER, c_loc(s%box))
    call look(s)
    s%i8 = s%i8 + 1
    s%r8 = s%r8 + 1
    s%scratch = s%scratch + 1
    s%step = s%step + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    more = merge(1, 0, s%step < s%steps)
  end function

  subroutine release(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    call c_f_pointer(data, s)
    if (allocated(s%box) .or. allocated(s%few) .or. allocated(s%l4)) print '(a)', 'WRONG: something is left'
    deallocate(s)
  end subroutine

  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    type(state_t), pointer :: s
    real(c_double) :: total
    integer :: rank, size
    call c_f_pointer(data, s)
    call look(s)
    call mpi_comm_rank(epop_world(), rank, report)
    call mpi_comm_size(epop_world(), size, report)
    call mpi_reduce(sum(s%matrix), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, epop_world(), report)
    if (rank == 0) print '(2(a,i0))', 'matrix ', nint(total), ', ranks ', size
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    type(epop_sizes_t) :: sizes
    integer(c_int) :: result, pc
    get_program = epop_program_create_abi('allocatables' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    result = epop_add_init(get_program, 'start' // c_null_char, init)
    pc = epop_add_elastic(get_program, 'steps' // c_null_char, step, epop_adapt_described, more)
    sizes = epop_sizes_t(min=1, max=4)
    result = epop_set_sizes(get_program, pc, sizes)
    result = epop_describe(get_program, describe)
    result = epop_release(get_program, release)
    program%finalizer = epop_add_rigid(get_program, 'report' // c_null_char, report)
  end function
end module
