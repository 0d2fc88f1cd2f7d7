! Heat in a rod, resized while it runs: an EPOP program in Fortran that describes its data. One end is kept at temperature 1, the other at 0.
!     mpiexec.mpich -n 2 epop heat_fortran [CELLS [STEPS]]
module heat_program
  use epop
  use mpi
  implicit none

  type :: heat_t
    integer(c_int64_t) :: cells = 1000, steps = 1000, step = 0
    type(c_ptr) :: u = c_null_ptr ! this rank's cells, double precision
  end type

contains

  ! Blocks are bind(C) with an empty name: `step` would be C's, and the C library has one.

  ! This rank's state and cells, and where it is in the world.
  subroutine find(data, heat, u, rank, size)
    type(c_ptr), intent(in) :: data
    type(heat_t), pointer, intent(out) :: heat
    real(c_double), pointer, intent(out) :: u(:)
    integer, intent(out) :: rank, size
    integer :: ierror
    call c_f_pointer(data, heat)
    call mpi_comm_rank(epop_world(), rank, ierror)
    call mpi_comm_size(epop_world(), size, ierror)
    call c_f_pointer(heat%u, u, [epop_dist_local_count(epop_dist_block(heat%cells), rank, size)])
  end subroutine

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(heat_t), pointer :: heat
    real(c_double), pointer :: u(:)
    integer :: rank, size
    allocate(heat)
    data = c_loc(heat)
    call c_f_pointer(argv, words, [argc])
    if (argc > 1) heat%cells = epop_integer(words(2))
    if (argc > 2) heat%steps = epop_integer(words(3))
    init = EPOP_OK
    if (epop_status() /= EPOP_NEW) return ! its data is to come
    call mpi_comm_rank(epop_world(), rank, init)
    call mpi_comm_size(epop_world(), size, init)
    heat%u = epop_malloc(8 * epop_dist_local_count(epop_dist_block(heat%cells), rank, size))
    call find(data, heat, u, rank, size)
    u = 0
  end function

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(heat_t), pointer :: heat
    real(c_double), pointer :: u(:)
    real(c_double) :: west, east
    integer :: rank, size, left, right, n
    call find(data, heat, u, rank, size)
    n = ubound(u, 1)
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < size - 1)
    west = 1
    east = 0
    call mpi_sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 0, west, 1, MPI_DOUBLE_PRECISION, left, 0, epop_world(), &
                      MPI_STATUS_IGNORE, step)
    call mpi_sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, left, 0, east, 1, MPI_DOUBLE_PRECISION, right, 0, epop_world(), &
                      MPI_STATUS_IGNORE, step)
    u = u + 0.25d0 * ([west, u(:n - 1)] - 2 * u + [u(2:), east])
    heat%step = heat%step + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(heat_t), pointer :: heat
    call c_f_pointer(data, heat)
    more = merge(1, 0, heat%step < heat%steps)
  end function

  ! Resizes, checkpoints, restart and recovery follow from this.
  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(heat_t), pointer :: heat
    call c_f_pointer(data, heat)
    call epop_describe_values(d, 'step' // c_null_char, c_loc(heat%step), c_sizeof(heat%step))
    call epop_describe_array(d, 'u' // c_null_char, heat%u, MPI_DOUBLE_PRECISION, epop_dist_block(heat%cells), 0)
  end subroutine

  subroutine release(data) bind(C, name='')
    type(c_ptr), value :: data
    type(heat_t), pointer :: heat
    call c_f_pointer(data, heat)
    deallocate(heat)
  end subroutine

  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    type(heat_t), pointer :: heat
    real(c_double), pointer :: u(:)
    real(c_double) :: total
    integer :: rank, size
    call find(data, heat, u, rank, size)
    call mpi_reduce(sum(u), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, epop_world(), report)
    if (rank == 0) print '(a,f0.6,a,i0,a)', 'heat ', total, ' after ', heat%step, ' steps'
  end function

  subroutine progress(data, done) bind(C, name='')
    type(c_ptr), value :: data
    type(epop_progress_t), intent(inout) :: done
    type(heat_t), pointer :: heat
    call c_f_pointer(data, heat)
    done = epop_progress_t(heat%step, heat%steps)
  end subroutine

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    integer :: start, diffuse, error
    get_program = epop_program_create_abi('heat' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    start = epop_add_init(get_program, 'start' // c_null_char, init)
    diffuse = epop_add_elastic(get_program, 'diffuse' // c_null_char, step, epop_adapt_described, more)
    program%finalizer = epop_add_rigid(get_program, 'report' // c_null_char, report)
    error = epop_set_sizes(get_program, -1, epop_sizes_t(max=256))
    error = epop_set_progress(get_program, diffuse, progress)
    error = epop_describe(get_program, describe)
    error = epop_release(get_program, release)
  end function
end module
