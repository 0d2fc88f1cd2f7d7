! EPOP programs in Fortran: a shared object with get_program() and blocks that are bind(C) procedures. These are the
! declarations of epop/program.h, elastic.h, redist.h, blocks.h, describe.h and tune.h, which say what each is for. Nothing of this module needs to be linked
! but libepop. A C communicator or datatype is an integer here: MPICH has the same number for Fortran's handle, so that what
! `use mpi` has can be given to these functions, and the other way round.
module epop
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: EPOP_ABI_VERSION = 3

  ! What functions and blocks return.
  integer(c_int), parameter :: EPOP_OK = 0, EPOP_ERR_ARGUMENT = 201, EPOP_ERR_STATE = 202, EPOP_ERR_MEMORY = 203, &
                               EPOP_ERR_MPI = 204, EPOP_ERR_REFUSED = 205, EPOP_ERR_SYSTEM = 206

  integer(c_int), parameter :: EPOP_NEW = 0, EPOP_JOINING = 1, EPOP_STAYING = 2, EPOP_LEAVING = 3, EPOP_RESTARTING = 4

  ! What a branch returns to end the program.
  integer(c_int), parameter :: EPOP_END = -4542020

  integer(c_int), parameter :: EPOP_SIZE_ANY = 0, EPOP_SIZE_MULTIPLE = 1, EPOP_SIZE_POWER_OF_TWO = 2, EPOP_SIZE_SQUARE = 3, &
                               EPOP_SIZE_EVEN = 4, EPOP_SIZE_ODD = 5, EPOP_SIZE_FUNCTION = 6

  ! Flags of described arrays.
  integer(c_int), parameter :: EPOP_CONSTANT = 1, EPOP_SCRATCH = 2

  integer(c_int), parameter :: EPOP_BLOCKS_DIMS = 6

  type, bind(C) :: epop_sizes_t
    integer(c_int) :: kind = EPOP_SIZE_ANY
    integer(c_int) :: min = 0, max = 0, factor = 0
    type(c_funptr) :: accepts = c_null_funptr
    integer(c_int) :: preferred = 0
  end type

  type, bind(C) :: epop_progress_t
    integer(c_int64_t) :: iteration, bound
    real(c_double) :: share = 0
  end type

  ! What epop_program_create and epop_add_... fill in; c_f_pointer makes one of a program, or its elements.
  type, bind(C) :: epop_element_t
    integer(c_int) :: type
    type(c_ptr) :: name
    type(c_funptr) :: init, phase_adapt, phase_exec, loop_condition, branch_condition
    type(c_ptr) :: sizes
    type(c_funptr) :: progress
  end type

  type, bind(C) :: epop_program_t
    type(c_ptr) :: data
    integer(c_int) :: size
    type(c_ptr) :: elements
    integer(c_int) :: abi_version
    type(c_ptr) :: name
    type(epop_sizes_t) :: sizes
    integer(c_int) :: finalizer, capacity
    type(c_funptr) :: describe, rebuild, release, pack
  end type

  type, bind(C) :: epop_window_t
    integer(c_int) :: status, old_rank, old_size, new_rank, new_size, staying, leaving, joining
    integer(c_int) :: before, after, all, intercomm
    type(c_ptr) :: new_ranks
  end type

  type, bind(C) :: epop_request_t
    integer(c_int) :: size = 0
    type(c_ptr) :: add_hosts = c_null_ptr, release_hosts = c_null_ptr, release_ranks = c_null_ptr
    integer(c_int) :: release_count = 0
  end type

  type, bind(C) :: epop_dist_t
    integer(c_int) :: kind ! one of the functions epop_dist_... makes it
    integer(c_int) :: ranks ! of a distribution by cuts, as block is the address of its starts
    integer(c_int64_t) :: count, block
  end type

  type, bind(C) :: epop_dist2d_t
    type(epop_dist_t) :: rows, cols
    integer(c_int) :: grid_rows, grid_cols
    integer(c_int) :: column_major = 1 ! as Fortran's arrays are
  end type

  ! Dimensions are in C's order: the last one is that of neighbours in memory, which is the first index of a Fortran array.
  type, bind(C) :: epop_blocks_t
    integer(c_int) :: dims = 1
    integer(c_int64_t) :: count(EPOP_BLOCKS_DIMS) = 0
    integer(c_int), dimension(EPOP_BLOCKS_DIMS) :: ghosts = 0, periodic = 0, grid = 0
  end type

  ! The blocks. data is what init put there: c_loc of the program's state, which c_f_pointer gives back.
  abstract interface
    integer(c_int) function epop_init_block(argc, argv, data) bind(C)
      import :: c_int, c_ptr
      integer(c_int), intent(inout) :: argc
      type(c_ptr), intent(inout) :: argv, data
    end function

    integer(c_int) function epop_block(data) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: data
    end function

    integer(c_int) function epop_branch_block(pc, data) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: pc
      type(c_ptr), value :: data
    end function

    subroutine epop_progress_block(data, progress) bind(C)
      import :: c_ptr, epop_progress_t
      type(c_ptr), value :: data
      type(epop_progress_t), intent(inout) :: progress
    end subroutine

    subroutine epop_describe_block(data, d) bind(C)
      import :: c_ptr
      type(c_ptr), value :: data, d
    end subroutine

    subroutine epop_release_block(data) bind(C)
      import :: c_ptr
      type(c_ptr), value :: data
    end subroutine
  end interface

  ! ---- Program. Names end with c_null_char.
  interface
    type(c_ptr) function epop_program_create_abi(name, abi_version) bind(C)
      import :: c_ptr, c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: abi_version ! EPOP_ABI_VERSION
    end function

    integer(c_int) function epop_add_init(program, name, init) bind(C)
      import :: c_ptr, c_char, c_int, epop_init_block
      type(c_ptr), value :: program
      character(kind=c_char), intent(in) :: name(*)
      procedure(epop_init_block) :: init
    end function

    integer(c_int) function epop_add_elastic(program, name, exec, adapt, loop) bind(C)
      import :: c_ptr, c_char, c_int, epop_block
      type(c_ptr), value :: program
      character(kind=c_char), intent(in) :: name(*)
      procedure(epop_block) :: exec, adapt, loop
    end function

    ! loop: of another phase that repeats; without it the phase runs once.
    integer(c_int) function epop_add_rigid(program, name, exec, loop) bind(C)
      import :: c_ptr, c_char, c_int, epop_block
      type(c_ptr), value :: program
      character(kind=c_char), intent(in) :: name(*)
      procedure(epop_block) :: exec
      procedure(epop_block), optional :: loop
    end function

    integer(c_int) function epop_add_branch(program, name, branch) bind(C)
      import :: c_ptr, c_char, c_int, epop_branch_block
      type(c_ptr), value :: program
      character(kind=c_char), intent(in) :: name(*)
      procedure(epop_branch_block) :: branch
    end function

    integer(c_int) function epop_describe(program, describe) bind(C)
      import :: c_ptr, c_int, epop_describe_block
      type(c_ptr), value :: program
      procedure(epop_describe_block) :: describe
    end function

    integer(c_int) function epop_rebuild(program, rebuild) bind(C)
      import :: c_ptr, c_int, epop_block
      type(c_ptr), value :: program
      procedure(epop_block) :: rebuild
    end function

    integer(c_int) function epop_release(program, release) bind(C)
      import :: c_ptr, c_int, epop_release_block
      type(c_ptr), value :: program
      procedure(epop_release_block) :: release
    end function

    integer(c_int) function epop_pack(program, pack) bind(C)
      import :: c_ptr, c_int, epop_block
      type(c_ptr), value :: program
      procedure(epop_block) :: pack
    end function

    integer(c_int) function epop_may_change(program, name) bind(C)
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: program
      character(kind=c_char), intent(in) :: name(*)
    end function

    integer(c_int) function epop_set_progress(program, pc, progress) bind(C)
      import :: c_ptr, c_int, epop_progress_block
      type(c_ptr), value :: program
      integer(c_int), value :: pc
      procedure(epop_progress_block) :: progress
    end function

    ! pc -1: those of the program.
    integer(c_int) function epop_set_sizes(program, pc, sizes) bind(C)
      import :: c_ptr, c_int, epop_sizes_t
      type(c_ptr), value :: program
      integer(c_int), value :: pc
      type(epop_sizes_t), intent(in) :: sizes
    end function

    ! value: c_loc of an integer(c_int) with the attribute target, which lasts as long as the program's data.
    integer(c_int) function epop_tunable(name, value, from, to) bind(C)
      import :: c_ptr, c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: value
      integer(c_int), value :: from, to
    end function

    integer(c_int) function epop_tunable_list(name, value, values, count) bind(C)
      import :: c_ptr, c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: value
      integer(c_int), intent(in) :: values(*)
      integer(c_int), value :: count
    end function

    ! An adapt block: give it to epop_add_elastic.
    integer(c_int) function epop_adapt_described(data) bind(C)
      import :: c_ptr, c_int
      type(c_ptr), value :: data
    end function
  end interface

  ! ---- Described data. `values` is c_loc of them. `local` is a part of the program's state, and no local variable: what is
  ! described is looked at when the block has returned.
  interface
    subroutine epop_describe_values(d, name, values, bytes) bind(C)
      import :: c_ptr, c_char, c_size_t
      type(c_ptr), value :: d, values
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: bytes
    end subroutine

    subroutine epop_describe_array(d, name, local, datatype, dist, flags) bind(C)
      import :: c_ptr, c_char, c_int, epop_dist_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: local
      integer(c_int), value :: datatype, flags
      type(epop_dist_t), value :: dist
    end subroutine

    subroutine epop_describe_matrix(d, name, local, datatype, dist, flags) bind(C)
      import :: c_ptr, c_char, c_int, epop_dist2d_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: local
      integer(c_int), value :: datatype, flags
      type(epop_dist2d_t), intent(in) :: dist
    end subroutine

    subroutine epop_describe_blocks(d, name, local, datatype, blocks, flags) bind(C)
      import :: c_ptr, c_char, c_int, epop_blocks_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: local
      integer(c_int), value :: datatype, flags
      type(epop_blocks_t), intent(in) :: blocks
    end subroutine

    subroutine epop_describe_replicated(d, name, local, datatype, count, flags) bind(C)
      import :: c_ptr, c_char, c_int, c_int64_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: local
      integer(c_int), value :: datatype, flags
      integer(c_int64_t), value :: count
    end subroutine

    integer(c_int) function epop_redist_described(window, describe, data) bind(C)
      import :: c_ptr, c_int, epop_describe_block, epop_window_t
      type(epop_window_t), intent(in) :: window
      procedure(epop_describe_block) :: describe
      type(c_ptr), value :: data
    end function

    ! In an executable, behind mpi_init_adapt: so that it can be saved, and restarted.
    integer(c_int) function epop_mpi_describe(describe, data) bind(C)
      import :: c_ptr, c_int, epop_describe_block
      procedure(epop_describe_block) :: describe
      type(c_ptr), value :: data
    end function

    integer(c_int) function epop_mpi_pack(pack) bind(C)
      import :: c_int, epop_block
      procedure(epop_block) :: pack
    end function

    integer(c_int) function epop_blocks_local(blocks, rank, size, first, count) bind(C)
      import :: c_int, c_int64_t, epop_blocks_t
      type(epop_blocks_t), intent(in) :: blocks
      integer(c_int), value :: rank, size
      integer(c_int64_t), intent(out) :: first(*), count(*) ! of each dimension
    end function

    integer(c_int64_t) function epop_blocks_elements(blocks, rank, size) bind(C)
      import :: c_int, c_int64_t, epop_blocks_t
      type(epop_blocks_t), intent(in) :: blocks
      integer(c_int), value :: rank, size
    end function

    integer(c_int) function epop_halo_exchange(blocks, datatype, array) bind(C)
      import :: c_int, c_ptr, epop_blocks_t
      type(epop_blocks_t), intent(in) :: blocks
      integer(c_int), value :: datatype
      type(c_ptr), value :: array
    end function
  end interface

  ! ---- World and window
  interface
    integer(c_int) function epop_world() bind(C)
      import :: c_int
    end function

    integer(c_int) function epop_status() bind(C)
      import :: c_int
    end function

    integer(c_int) function epop_adapt_begin(window) bind(C)
      import :: c_int, epop_window_t
      type(epop_window_t), intent(out) :: window
    end function

    integer(c_int) function epop_adapt_commit() bind(C)
      import :: c_int
    end function

    ! In an executable, between mpi_comm_adapt_begin and commit: for redistribution.
    integer(c_int) function epop_mpi_window(window) bind(C)
      import :: c_int, epop_window_t
      type(epop_window_t), intent(out) :: window
    end function

    integer(c_int) function epop_request_resize(size) bind(C)
      import :: c_int
      integer(c_int), value :: size
    end function

    integer(c_int) function epop_request_balance() bind(C)
      import :: c_int
    end function

    ! In the window of a balance; loads: as many as there are ranks.
    integer(c_int) function epop_balance_loads(loads) bind(C)
      import :: c_int, c_double
      real(c_double), intent(out) :: loads(*)
    end function

    integer(c_int) function epop_request_checkpoint() bind(C)
      import :: c_int
    end function

    integer(c_int) function epop_request(request) bind(C)
      import :: c_int, epop_request_t
      type(epop_request_t), intent(in) :: request
    end function
  end interface

  ! ---- Redistribution. What moves was allocated with epop_malloc; c_f_pointer makes an array of it.
  interface
    type(epop_dist_t) function epop_dist_block(count) bind(C)
      import :: c_int64_t, epop_dist_t
      integer(c_int64_t), value :: count
    end function

    type(epop_dist_t) function epop_dist_cyclic(count) bind(C)
      import :: c_int64_t, epop_dist_t
      integer(c_int64_t), value :: count
    end function

    type(epop_dist_t) function epop_dist_block_cyclic(count, block) bind(C)
      import :: c_int64_t, epop_dist_t
      integer(c_int64_t), value :: count, block
    end function

    integer(c_int64_t) function epop_dist_local_count(dist, rank, size) bind(C)
      import :: c_int, c_int64_t, epop_dist_t
      type(epop_dist_t), value :: dist
      integer(c_int), value :: rank, size
    end function

    ! Indices count from 0, as in C.
    integer(c_int64_t) function epop_dist_global(dist, rank, size, local) bind(C)
      import :: c_int, c_int64_t, epop_dist_t
      type(epop_dist_t), value :: dist
      integer(c_int), value :: rank, size
      integer(c_int64_t), value :: local
    end function

    integer(c_int) function epop_dist_owner(dist, size, global, local) bind(C)
      import :: c_int, c_int64_t, epop_dist_t
      type(epop_dist_t), value :: dist
      integer(c_int), value :: size
      integer(c_int64_t), value :: global
      integer(c_int64_t), optional, intent(out) :: local
    end function

    subroutine epop_grid_near_square(size, grid_rows, grid_cols) bind(C)
      import :: c_int
      integer(c_int), value :: size
      integer(c_int), intent(out) :: grid_rows, grid_cols
    end subroutine

    subroutine epop_dist2d_local(dist, rank, rows, cols) bind(C)
      import :: c_int, c_int64_t, epop_dist2d_t
      type(epop_dist2d_t), intent(in) :: dist
      integer(c_int), value :: rank
      integer(c_int64_t), intent(out) :: rows, cols
    end subroutine

    integer(c_int) function epop_redist(window, dist, datatype, local) bind(C)
      import :: c_int, c_ptr, epop_dist_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist_t), value :: dist
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: local
    end function

    integer(c_int) function epop_redist2d(window, before, after, datatype, local) bind(C)
      import :: c_int, c_ptr, epop_dist2d_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist2d_t), intent(in) :: before, after
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: local
    end function

    ! data: c_loc of what every rank has a copy of.
    integer(c_int) function epop_redist_replicated(window, data, count, datatype) bind(C)
      import :: c_int, c_int64_t, c_ptr, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(c_ptr), value :: data
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype
    end function
  end interface

  ! ---- The C library's: memory that redistribution may free, and the words of argv as numbers.
  interface
    type(c_ptr) function epop_malloc(bytes) bind(C, name='malloc')
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
    end function

    subroutine epop_free(memory) bind(C, name='free')
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine

    integer(c_long_long) function epop_integer(word) bind(C, name='atoll')
      import :: c_long_long, c_ptr
      type(c_ptr), value :: word
    end function

    real(c_double) function epop_real(word) bind(C, name='atof')
      import :: c_double, c_ptr
      type(c_ptr), value :: word
    end function
  end interface
end module
