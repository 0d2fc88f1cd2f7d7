! Heat in a square plate, one side of which is kept at temperature 1 and the others at 0: Fortran arrays that are allocatable,
! with ghosts, as a resize leaves them.
!     mpiexec.mpich -n 2 epop plate_fortran [CELLS [STEPS]]
module plate_program
  use epop
  use mpi
  implicit none

  type :: plate_t
    integer(c_int64_t) :: cells = 100, steps = 1000, step = 0
    real(c_double), allocatable :: u(:, :) ! this rank's block, u(1:n, 1:m), and a ghost around it
  end type

contains

  type(epop_blocks_t) function box(plate)
    type(plate_t), intent(in) :: plate
    box%dims = 2
    box%count(1:2) = plate%cells
    box%ghosts(1:2) = 1
  end function

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(plate_t), pointer :: plate
    integer(c_int64_t) :: first(2), count(2)
    integer :: rank, size
    allocate(plate)
    data = c_loc(plate)
    call c_f_pointer(argv, words, [argc])
    if (argc > 1) plate%cells = epop_integer(words(2))
    if (argc > 2) plate%steps = epop_integer(words(3))
    init = EPOP_OK
    if (epop_status() /= EPOP_NEW) return ! its data is to come
    call mpi_comm_rank(epop_world(), rank, init)
    call mpi_comm_size(epop_world(), size, init)
    init = epop_blocks_local(box(plate), rank, size, first, count)
    allocate(plate%u(0:count(2) + 1, 0:count(1) + 1), source=0d0)
    if (first(1) == 0) plate%u(:, 0) = 1
  end function

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(plate_t), pointer :: plate
    integer :: n, m
    call c_f_pointer(data, plate)
    step = epop_halo_exchange(box(plate), MPI_DOUBLE_PRECISION, c_loc(plate%u))
    n = ubound(plate%u, 1) - 1
    m = ubound(plate%u, 2) - 1
    associate (u => plate%u)
      u(1:n, 1:m) = 0.25d0 * (u(0:n - 1, 1:m) + u(2:n + 1, 1:m) + u(1:n, 0:m - 1) + u(1:n, 2:m + 1))
    end associate
    plate%step = plate%step + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(plate_t), pointer :: plate
    call c_f_pointer(data, plate)
    more = merge(1, 0, plate%step < plate%steps)
  end function

  ! Resizes, checkpoints, restart and recovery follow from this.
  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(plate_t), pointer :: plate
    call c_f_pointer(data, plate)
    call epop_describe_values(d, 'step' // c_null_char, c_loc(plate%step), c_sizeof(plate%step))
    call epop_describe_allocatable_blocks(d, 'u' // c_null_char, epop_allocatable(plate%u), box(plate), 0)
  end subroutine

  subroutine release(data) bind(C, name='')
    type(c_ptr), value :: data
    type(plate_t), pointer :: plate
    call c_f_pointer(data, plate)
    deallocate(plate)
  end subroutine

  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    type(plate_t), pointer :: plate
    real(c_double) :: here, heat
    integer :: rank
    call c_f_pointer(data, plate)
    here = sum(plate%u(1:ubound(plate%u, 1) - 1, 1:ubound(plate%u, 2) - 1))
    call mpi_reduce(here, heat, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, epop_world(), report)
    call mpi_comm_rank(epop_world(), rank, report)
    if (rank == 0) print '(a, f0.6, a, i0, a)', 'heat ', heat, ' after ', plate%step, ' steps'
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    integer(c_int) :: result
    get_program = epop_program_create_abi('plate' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    result = epop_add_init(get_program, 'start' // c_null_char, init)
    result = epop_add_elastic(get_program, 'diffuse' // c_null_char, step, epop_adapt_described, more)
    program%finalizer = epop_add_rigid(get_program, 'report' // c_null_char, report)
    result = epop_describe(get_program, describe)
    result = epop_release(get_program, release)
  end function
end module
