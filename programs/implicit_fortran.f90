! Heat in a square plate by implicit steps: conjugate gradients with a sparse matrix, whose rows are dealt out by what is in them.
!     mpiexec.mpich -n 2 epop implicit_fortran [CELLS [STEPS]]
module implicit_program
  use epop
  use mpi
  implicit none

  type :: implicit_t
    integer(c_int64_t) :: cells = 40, steps = 100, step = 0
    type(epop_dist_t) :: cuts ! of the rows, which count from 0
    integer(c_int32_t), allocatable :: starts(:), columns(:) ! row i has starts(i) + 1 to starts(i + 1); columns count from 1
    real(c_double), allocatable :: a(:), u(:)
  end type

contains

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(implicit_t), pointer :: s
    integer :: rank, size, rows
    allocate(s)
    data = c_loc(s)
    s%cuts = epop_dist_block(0_c_int64_t)
    call c_f_pointer(argv, words, [argc])
    if (argc > 1) s%cells = epop_integer(words(2))
    if (argc > 2) s%steps = epop_integer(words(3))
    init = EPOP_OK
    if (epop_status() /= EPOP_NEW) return ! its data is to come
    call mpi_comm_rank(epop_world(), rank, init)
    call mpi_comm_size(epop_world(), size, init)
    s%cuts = epop_dist_even_cuts(s%cells * s%cells, size)
    rows = int(epop_dist_local_count(s%cuts, rank, size))
    allocate(s%starts(rows + 1), s%columns(0), s%a(0))
    call make_rows(s, int(epop_dist_global(s%cuts, rank, size, 0_c_int64_t)), rows)
    allocate(s%u(rows), source=1d0)
  end function

  ! 1 + 4 on the diagonal, -1 for each neighbour.
  subroutine make_rows(s, first, rows)
    type(implicit_t), intent(inout) :: s
    integer, intent(in) :: first, rows
    integer :: i, n, row
    logical :: near(4)
    n = int(s%cells)
    s%starts(1) = 0
    do i = 1, rows
      row = first + i
      near = [row > n, modulo(row, n) /= 1, modulo(row, n) /= 0, row <= n * n - n]
      s%columns = [s%columns, row, pack(row + [-n, -1, 1, n], near)]
      s%a = [s%a, 5d0, spread(-1d0, 1, count(near))]
      s%starts(i + 1) = ubound(s%a, 1)
    end do
  end subroutine

  ! A times the vector of which each rank has its rows.
  function times(s, x) result(y)
    type(implicit_t), intent(in) :: s
    real(c_double), intent(in) :: x(:)
    real(c_double) :: y(size(x)), whole(s%cells * s%cells)
    integer, allocatable :: counts(:), first(:)
    integer :: i, ranks, ierror
    call mpi_comm_size(epop_world(), ranks, ierror)
    allocate(counts(ranks), first(ranks))
    do i = 1, ranks
      counts(i) = int(epop_dist_local_count(s%cuts, i - 1, ranks))
      first(i) = sum(counts(:i - 1))
    end do
    call mpi_allgatherv(x, size(x), MPI_DOUBLE_PRECISION, whole, counts, first, MPI_DOUBLE_PRECISION, epop_world(), ierror)
    do i = 1, size(x)
      associate (from => s%starts(i) + 1, to => s%starts(i + 1))
        y(i) = dot_product(s%a(from:to), whole(s%columns(from:to)))
      end associate
    end do
  end function

  real(c_double) function dot(x, y)
    real(c_double), intent(in) :: x(:), y(:)
    real(c_double) :: here
    integer :: ierror
    here = dot_product(x, y)
    call mpi_allreduce(here, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, epop_world(), ierror)
  end function

  ! Solves A v = u, and v is u then.
  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(implicit_t), pointer :: s
    real(c_double), allocatable :: r(:), p(:), q(:)
    real(c_double) :: rho, before, alpha
    call c_f_pointer(data, s)
    allocate(r, source=s%u - times(s, s%u))
    allocate(p, source=r)
    rho = dot(r, r)
    do while (rho > 1d-24)
      q = times(s, p)
      alpha = rho / dot(p, q)
      s%u = s%u + alpha * p
      r = r - alpha * q
      before = rho
      rho = dot(r, r)
      p = r + rho / before * p
    end do
    s%u = s%u + 0.1d0 ! a source everywhere
    s%step = s%step + 1
    step = EPOP_OK
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(implicit_t), pointer :: s
    call c_f_pointer(data, s)
    more = merge(1, 0, s%step < s%steps)
  end function

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(implicit_t), pointer :: s
    call c_f_pointer(data, s)
    call epop_describe_values(d, 'step' // c_null_char, c_loc(s%step), c_sizeof(s%step))
    call epop_describe_cuts(d, 'rows' // c_null_char, s%cuts, 'A' // c_null_char)
    call epop_describe_allocatable_csr(d, 'A' // c_null_char, epop_allocatable(s%starts), s%cuts, &
                                       [epop_allocatable(s%columns), epop_allocatable(s%a)], 2, EPOP_CONSTANT)
    call epop_describe_allocatable_array(d, 'u' // c_null_char, epop_allocatable(s%u), s%cuts, 0)
  end subroutine

  subroutine release(data) bind(C, name='')
    type(c_ptr), value :: data
    type(implicit_t), pointer :: s
    call c_f_pointer(data, s)
    deallocate(s)
  end subroutine

  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    type(implicit_t), pointer :: s
    real(c_double) :: heat
    integer :: rank
    call c_f_pointer(data, s)
    heat = dot(s%u, s%u)
    call mpi_comm_rank(epop_world(), rank, report)
    if (rank == 0) print '(a, f0.6, a, i0, a)', 'heat ', heat, ' after ', s%step, ' steps'
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    integer(c_int) :: result
    get_program = epop_program_create_abi('implicit' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    result = epop_add_init(get_program, 'start' // c_null_char, init)
    result = epop_add_elastic(get_program, 'implicit' // c_null_char, step, epop_adapt_described, more)
    program%finalizer = epop_add_rigid(get_program, 'report' // c_null_char, report)
    result = epop_describe(get_program, describe)
    result = epop_release(get_program, release)
  end function
end module
