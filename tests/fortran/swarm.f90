! Particles on a ring of cells, for epop: items, whose owner a function names, and cells by a partition of the program's own.
! Each particle goes one cell on in each step; each cell counts the steps. The program looks at all of them in each step.
!     epop swarm.so STEPS
module swarm_program
  use epop
  use mpi
  implicit none

  integer(c_int64_t), parameter :: cells = 29, particles = 43

  type, bind(C) :: particle_t
    integer(c_int64_t) :: number, cell
  end type

  type :: swarm_t
    integer(c_int64_t) :: step = 0, steps = 0, count = 0
    type(c_ptr) :: here = c_null_ptr ! count particles
    type(epop_partition_t) :: partition
    integer(c_int64_t), allocatable :: passed(:) ! of this rank's cells
    integer :: kind ! the datatype of a particle
  end type

contains

  ! The ring is cut into arcs.
  integer(c_int) function owner(item, size, context) bind(C, name='')
    type(c_ptr), value :: item, context
    integer(c_int), value :: size
    type(particle_t), pointer :: particle
    call c_f_pointer(item, particle)
    owner = int(particle%cell * size / cells, c_int)
  end function

  ! Cells are dealt out from the last rank to the first. METIS or Scotch would be called here.
  integer(c_int) function divide(count, size, owner, context) bind(C, name='')
    integer(c_int64_t), value :: count
    integer(c_int), value :: size
    integer(c_int), intent(out) :: owner(count)
    type(c_ptr), value :: context
    integer(c_int64_t) :: i
    owner = [(int(size - 1 - modulo(i, int(size, c_int64_t)), c_int), i = 1, count)]
    divide = EPOP_OK
  end function

  ! Which cells this rank has, from 0.
  function cells_of(swarm) result(indices)
    type(swarm_t), intent(in) :: swarm
    integer(c_int64_t), allocatable :: indices(:)
    integer(c_int64_t) :: count
    integer :: rank, error
    call mpi_comm_rank(epop_world(), rank, error)
    allocate(indices(epop_partition_local(swarm%partition, rank)))
    count = epop_partition_local(swarm%partition, rank, indices)
  end function

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    type(c_ptr), pointer :: words(:)
    type(swarm_t), pointer :: swarm
    type(particle_t), pointer :: here(:)
    integer(c_int64_t) :: i
    integer :: rank
    allocate(swarm)
    data = c_loc(swarm)
    call c_f_pointer(argv, words, [argc])
    swarm%steps = epop_integer(words(2))
    call mpi_type_contiguous(2, MPI_INTEGER8, swarm%kind, init)
    call mpi_type_commit(swarm%kind, init)
    swarm%partition%divide = c_funloc(divide) ! on every process
    if (epop_status() /= EPOP_NEW) return ! its data is to come
    swarm%partition%count = cells
    init = epop_partition_divide(swarm%partition)
    if (init /= EPOP_OK) return
    allocate(swarm%passed(size(cells_of(swarm))), source=0_c_int64_t)
    call mpi_comm_rank(epop_world(), rank, init)
    swarm%here = epop_malloc(16 * int(particles, c_size_t))
    if (rank == 0) swarm%count = particles ! which go to their owners
    call c_f_pointer(swarm%here, here, [swarm%count])
    here = [(particle_t(i, modulo(7 * i, cells)), i = 1, swarm%count)]
    init = epop_items_exchange(swarm%here, swarm%count, swarm%kind, owner, c_null_ptr)
  end function

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    type(swarm_t), pointer :: swarm
    call c_f_pointer(data, swarm)
    call epop_describe_values(d, 'step' // c_null_char, c_loc(swarm%step), c_sizeof(swarm%step))
    call epop_describe_items(d, 'particles' // c_null_char, swarm%here, swarm%count, swarm%kind, owner, c_null_ptr, 0)
    call epop_describe_partition(d, 'cells' // c_null_char, swarm%partition)
    call epop_describe_allocatable_owned(d, 'passed' // c_null_char, epop_allocatable(swarm%passed), swarm%partition, 0)
  end subroutine

  ! Of all particles the numbers, and of all cells the indices, are there once.
  integer(c_int) function look(swarm) result(wrong)
    type(swarm_t), intent(in) :: swarm
    type(particle_t), pointer :: here(:)
    integer :: seen(particles + cells), all(particles + cells), i, rank, size
    call mpi_comm_rank(epop_world(), rank, wrong)
    call mpi_comm_size(epop_world(), size, wrong)
    call c_f_pointer(swarm%here, here, [swarm%count])
    seen = 0
    do i = 1, int(swarm%count)
      seen(here(i)%number) = seen(here(i)%number) + 1
      if (here(i)%cell /= modulo(7 * here(i)%number + swarm%step, cells)) wrong = 1
      if (here(i)%cell * size / cells /= rank) wrong = 2
    end do
    seen(particles + 1 + cells_of(swarm)) = 1
    call mpi_allreduce(seen, all, ubound(seen, 1), MPI_INTEGER, MPI_SUM, epop_world(), i)
    if (any(all /= 1)) wrong = 3
    if (any(swarm%passed /= swarm%step)) wrong = 4
  end function

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    type(swarm_t), pointer :: swarm
    type(particle_t), pointer :: here(:)
    call c_f_pointer(data, swarm)
    step = look(swarm)
    if (step /= EPOP_OK) return
    call c_f_pointer(swarm%here, here, [swarm%count])
    here%cell = modulo(here%cell + 1, cells)
    swarm%passed = swarm%passed + 1
    swarm%step = swarm%step + 1
    step = epop_items_exchange(swarm%here, swarm%count, swarm%kind, owner, c_null_ptr)
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    type(swarm_t), pointer :: swarm
    call c_f_pointer(data, swarm)
    more = merge(1, 0, swarm%step < swarm%steps)
  end function

  subroutine release(data) bind(C, name='')
    type(c_ptr), value :: data
    type(swarm_t), pointer :: swarm
    integer :: error
    call c_f_pointer(data, swarm)
    call mpi_type_free(swarm%kind, error)
    deallocate(swarm)
  end subroutine

  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    type(swarm_t), pointer :: swarm
    integer :: rank, error
    call c_f_pointer(data, swarm)
    report = look(swarm)
    call mpi_comm_rank(epop_world(), rank, error)
    if (rank == 0 .and. report == EPOP_OK) print '(2(i0, a))', particles, ' particles on ', cells, ' cells'
  end function

  type(c_ptr) function get_program() bind(C)
    type(epop_program_t), pointer :: program
    type(epop_sizes_t) :: sizes
    integer(c_int) :: result, pc
    get_program = epop_program_create_abi('swarm' // c_null_char, EPOP_ABI_VERSION)
    call c_f_pointer(get_program, program)
    result = epop_add_init(get_program, 'start' // c_null_char, init)
    pc = epop_add_elastic(get_program, 'steps' // c_null_char, step, epop_adapt_described, more)
    program%finalizer = epop_add_rigid(get_program, 'report' // c_null_char, report)
    sizes = epop_sizes_t(min=1, max=4)
    result = epop_set_sizes(get_program, pc, sizes)
    result = epop_describe(get_program, describe)
    result = epop_release(get_program, release)
  end function
end module
