! A program for epop with `use mpi_f08`: its phase goes through five iterations of an MPI_Barrier and an MPI_Bcast.
module observed_program
  use epop
  use mpi_f08
  implicit none
  integer, target :: made

contains

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    made = 0
    data = c_loc(made)
    init = EPOP_OK
  end function

  integer(c_int) function meet(data) bind(C, name='')
    type(c_ptr), value :: data
    integer, pointer :: turns
    type(MPI_Comm) :: world
    call c_f_pointer(data, turns)
    world%MPI_VAL = epop_world()
    call mpi_barrier(MPI_COMM_WORLD)
    call mpi_bcast(turns, 1, MPI_INTEGER, 0, world, meet)
    turns = turns + 1
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    integer, pointer :: turns
    call c_f_pointer(data, turns)
    more = merge(1, 0, turns < 5)
  end function

  type(c_ptr) function get_program() bind(C)
    integer(c_int) :: pc
    get_program = epop_program_create_abi('observed' // c_null_char, EPOP_ABI_VERSION)
    pc = epop_add_init(get_program, 'start' // c_null_char, init)
    pc = epop_add_rigid(get_program, 'meet' // c_null_char, meet, more)
  end function
end module
