! EPOP programs in Fortran: a shared object with get_program() and blocks that are bind(C) procedures. These are the
! declarations of epop/program.h, elastic.h, redist.h, blocks.h, describe.h, unstructured.h and tune.h, which say what each is for. Nothing of this module needs to be linked
! but libepop. A C communicator or datatype is an integer here: MPICH has the same number for Fortran's handle, so that what
! `use mpi` has can be given to these functions, and the other way round. A text that a function returns is a type(c_ptr) to
! characters, of which c_null_char is the last.
module epop
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: EPOP_ABI_VERSION = 4

  ! What functions and blocks return.
  integer(c_int), parameter :: EPOP_OK = 0, EPOP_ERR_ARGUMENT = 201, EPOP_ERR_STATE = 202, EPOP_ERR_MEMORY = 203, &
                               EPOP_ERR_MPI = 204, EPOP_ERR_REFUSED = 205, EPOP_ERR_SYSTEM = 206

  ! Types of elements.
  integer(c_int), parameter :: EPOP_INIT = 1, EPOP_EP = 2, EPOP_RP = 3, EPOP_BRANCH = 4

  integer(c_int), parameter :: EPOP_NEW = 0, EPOP_JOINING = 1, EPOP_STAYING = 2, EPOP_LEAVING = 3, EPOP_RESTARTING = 4

  ! What a branch returns to end the program.
  integer(c_int), parameter :: EPOP_END = -4542020

  integer(c_int), parameter :: EPOP_SIZE_ANY = 0, EPOP_SIZE_MULTIPLE = 1, EPOP_SIZE_POWER_OF_TWO = 2, EPOP_SIZE_SQUARE = 3, &
                               EPOP_SIZE_EVEN = 4, EPOP_SIZE_ODD = 5, EPOP_SIZE_FUNCTION = 6

  integer(c_int), parameter :: EPOP_SCALING_STRONG = 0, EPOP_SCALING_WEAK = 1, EPOP_SCALING_WEAK_WORK = 2

  ! Flags of described arrays.
  integer(c_int), parameter :: EPOP_CONSTANT = 1, EPOP_SCRATCH = 2

  integer(c_int), parameter :: EPOP_BLOCKS_DIMS = 6

  type, bind(C) :: epop_sizes_t
    integer(c_int) :: kind = EPOP_SIZE_ANY
    integer(c_int) :: min = 0, max = 0, factor = 0
    type(c_funptr) :: accepts = c_null_funptr
    integer(c_int) :: preferred = 0, scaling = EPOP_SCALING_STRONG
  end type

  type, bind(C) :: epop_progress_t
    integer(c_int64_t) :: iteration, bound
    real(c_double) :: share = 0
  end type

  ! c_f_pointer makes a program of the type(c_ptr) to it, and an array of its elements. Of a new program the elements are all zero;
  ! c_funloc makes a block's address, and sizes is the c_loc of something that lasts.
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

  ! How many elements go from one rank of window%all to another, or stay there.
  type, bind(C) :: epop_redist_move_t
    integer(c_int) :: from, to
    integer(c_int64_t) :: count
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

  ! An allocatable array, of gfortran: epop_allocatable makes it. What it stands for has to last, as the program's state does.
  type, bind(C) :: epop_allocatable_t
    type(c_ptr) :: descriptor
    integer(c_int) :: type, bytes, rank
  end type

  ! One of several arrays that hold rows of different lengths.
  type, bind(C) :: epop_row_array_t
    integer(c_int) :: datatype
    type(c_ptr) :: local ! c_loc of the type(c_ptr) to the elements
  end type

  ! Which rank, from 0, owns each index. divide: c_funloc of an epop_divide_block; c_null_funptr: consecutive blocks.
  type, bind(C) :: epop_partition_t
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: owner = c_null_ptr ! count integer(c_int), from epop_malloc
    integer(c_int) :: ranks = 0
    type(c_funptr) :: divide = c_null_funptr
    type(c_ptr) :: context = c_null_ptr
  end type

  ! name: c_loc of characters that end with c_null_char. values: c_loc of integer(c_int), or c_null_ptr, for `from` to `to`.
  type, bind(C) :: epop_tunable_t
    type(c_ptr) :: name = c_null_ptr, value = c_null_ptr
    integer(c_int) :: from = 0, to = 0
    type(c_ptr) :: values = c_null_ptr
    integer(c_int) :: count = 0, per_visit = 0
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

    ! The rank, from 0, that an item belongs to.
    integer(c_int) function epop_owner_block(item, size, context) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: item, context
      integer(c_int), value :: size
    end function

    ! Fills owner with ranks from 0 to size - 1; not 0: it cannot.
    integer(c_int) function epop_divide_block(count, size, owner, context) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: count
      integer(c_int), value :: size
      integer(c_int), intent(out) :: owner(count)
      type(c_ptr), value :: context
    end function
  end interface

  ! ---- Program. Names end with c_null_char.
  interface
    type(c_ptr) function epop_program_create_abi(name, abi_version) bind(C)
      import :: c_ptr, c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: abi_version ! EPOP_ABI_VERSION
    end function

    type(c_ptr) function epop_program_alloc_abi(size, abi_version) bind(C)
      import :: c_ptr, c_int
      integer(c_int), value :: size, abi_version
    end function

    ! For those who look at a program themselves: the one that get_program returns is the driver's.
    subroutine epop_program_free(program) bind(C)
      import :: c_ptr
      type(c_ptr), value :: program
    end subroutine

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

    integer(c_int) function epop_tunable_add(tunable) bind(C)
      import :: c_int, epop_tunable_t
      type(epop_tunable_t), intent(in) :: tunable
    end function

    ! An adapt block: give it to epop_add_elastic.
    integer(c_int) function epop_adapt_described(data) bind(C)
      import :: c_ptr, c_int
      type(c_ptr), value :: data
    end function
  end interface

  ! ---- Size rules, and looking at programs
  interface
    integer(c_int) function epop_sizes_accept(sizes, size) bind(C)
      import :: c_int, epop_sizes_t
      type(epop_sizes_t), intent(in) :: sizes
      integer(c_int), value :: size
    end function

    integer(c_int) function epop_sizes_round_down(sizes, size) bind(C)
      import :: c_int, epop_sizes_t
      type(epop_sizes_t), intent(in) :: sizes
      integer(c_int), value :: size
    end function

    ! The text ends with c_null_char.
    integer(c_int) function epop_sizes_text(sizes, text, text_size) bind(C)
      import :: c_int, c_char, epop_sizes_t
      type(epop_sizes_t), intent(in) :: sizes
      character(kind=c_char), intent(out) :: text(*)
      integer(c_int), value :: text_size
    end function

    ! c_f_pointer makes a type(epop_sizes_t) of it.
    type(c_ptr) function epop_sizes_at(program, pc) bind(C)
      import :: c_ptr, c_int
      type(c_ptr), value :: program
      integer(c_int), value :: pc
    end function

    integer(c_int) function epop_scaling_at(program, pc) bind(C)
      import :: c_ptr, c_int
      type(c_ptr), value :: program
      integer(c_int), value :: pc
    end function

    type(c_ptr) function epop_scaling_name(scaling) bind(C)
      import :: c_ptr, c_int
      integer(c_int), value :: scaling
    end function

    type(c_ptr) function epop_element_type_name(type) bind(C)
      import :: c_ptr, c_int
      integer(c_int), value :: type
    end function

    integer(c_int) function epop_program_validate(program, error, error_size) bind(C)
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: program
      character(kind=c_char), intent(out) :: error(*)
      integer(c_int), value :: error_size
    end function

    ! The caller frees it by epop_free.
    type(c_ptr) function epop_program_to_json(program) bind(C)
      import :: c_ptr
      type(c_ptr), value :: program
    end function

    type(c_ptr) function epop_result_text(result) bind(C)
      import :: c_ptr, c_int
      integer(c_int), value :: result
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

    subroutine epop_describe_members(d, name, members) bind(C)
      import :: c_ptr, c_char
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*), members(*)
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

    ! original: c_loc of the part.
    subroutine epop_describe_original(d, original) bind(C)
      import :: c_ptr
      type(c_ptr), value :: d, original
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

    ! A whole adaptation of an executable; returns an MPI error code.
    integer(c_int) function epop_mpi_adapt_described() bind(C)
      import :: c_int
    end function

    integer(c_int) function epop_blocks_grid(blocks, size, grid) bind(C)
      import :: c_int, epop_blocks_t
      type(epop_blocks_t), intent(in) :: blocks
      integer(c_int), value :: size
      integer(c_int), intent(out) :: grid(*) ! of each dimension
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

    ! In two steps: halo is made by start, and array may not be deallocated before finish.
    integer(c_int) function epop_halo_start(blocks, datatype, array, halo) bind(C)
      import :: c_int, c_ptr, epop_blocks_t
      type(epop_blocks_t), intent(in) :: blocks
      integer(c_int), value :: datatype
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: halo
    end function

    integer(c_int) function epop_halo_finish(halo) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: halo
    end function
  end interface

  ! ---- Allocatable arrays of gfortran: epop_describe_allocatable_array(d, name, epop_allocatable(state%u), dist, flags), without a
  ! datatype. After a resize state%u itself has the bounds of what the rank owns then; in blocks that begins with 1, and ghosts
  ! are around it. A rank that owns nothing has it allocated with no elements, and one that leaves, not allocated.
  interface epop_allocatable
    type(epop_allocatable_t) function epop__fortran_i4_1(array)
      import :: epop_allocatable_t, c_int32_t
      integer(c_int32_t), allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_i4_2(array)
      import :: epop_allocatable_t, c_int32_t
      integer(c_int32_t), allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_i4_3(array)
      import :: epop_allocatable_t, c_int32_t
      integer(c_int32_t), allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_i4_4(array)
      import :: epop_allocatable_t, c_int32_t
      integer(c_int32_t), allocatable, intent(in) :: array(:, :, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_i8_1(array)
      import :: epop_allocatable_t, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_i8_2(array)
      import :: epop_allocatable_t, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_i8_3(array)
      import :: epop_allocatable_t, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_i8_4(array)
      import :: epop_allocatable_t, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: array(:, :, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_l4_1(array)
      import :: epop_allocatable_t
      logical, allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_l4_2(array)
      import :: epop_allocatable_t
      logical, allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_l4_3(array)
      import :: epop_allocatable_t
      logical, allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_l4_4(array)
      import :: epop_allocatable_t
      logical, allocatable, intent(in) :: array(:, :, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_r4_1(array)
      import :: epop_allocatable_t, c_float
      real(c_float), allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_r4_2(array)
      import :: epop_allocatable_t, c_float
      real(c_float), allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_r4_3(array)
      import :: epop_allocatable_t, c_float
      real(c_float), allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_r4_4(array)
      import :: epop_allocatable_t, c_float
      real(c_float), allocatable, intent(in) :: array(:, :, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_r8_1(array)
      import :: epop_allocatable_t, c_double
      real(c_double), allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_r8_2(array)
      import :: epop_allocatable_t, c_double
      real(c_double), allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_r8_3(array)
      import :: epop_allocatable_t, c_double
      real(c_double), allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_r8_4(array)
      import :: epop_allocatable_t, c_double
      real(c_double), allocatable, intent(in) :: array(:, :, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_c4_1(array)
      import :: epop_allocatable_t, c_float
      complex(c_float), allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_c4_2(array)
      import :: epop_allocatable_t, c_float
      complex(c_float), allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_c4_3(array)
      import :: epop_allocatable_t, c_float
      complex(c_float), allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_c4_4(array)
      import :: epop_allocatable_t, c_float
      complex(c_float), allocatable, intent(in) :: array(:, :, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_c8_1(array)
      import :: epop_allocatable_t, c_double
      complex(c_double), allocatable, intent(in) :: array(:)
    end function

    type(epop_allocatable_t) function epop__fortran_c8_2(array)
      import :: epop_allocatable_t, c_double
      complex(c_double), allocatable, intent(in) :: array(:, :)
    end function

    type(epop_allocatable_t) function epop__fortran_c8_3(array)
      import :: epop_allocatable_t, c_double
      complex(c_double), allocatable, intent(in) :: array(:, :, :)
    end function

    type(epop_allocatable_t) function epop__fortran_c8_4(array)
      import :: epop_allocatable_t, c_double
      complex(c_double), allocatable, intent(in) :: array(:, :, :, :)
    end function
  end interface

  interface
    subroutine epop_describe_allocatable_array(d, name, array, dist, flags) bind(C, name='epop__fortran_array')
      import :: c_ptr, c_char, c_int, epop_allocatable_t, epop_dist_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_allocatable_t), value :: array
      type(epop_dist_t), value :: dist
      integer(c_int), value :: flags
    end subroutine

    subroutine epop_describe_allocatable_matrix(d, name, array, dist, flags) bind(C, name='epop__fortran_matrix')
      import :: c_ptr, c_char, c_int, epop_allocatable_t, epop_dist2d_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_allocatable_t), value :: array
      type(epop_dist2d_t), intent(in) :: dist
      integer(c_int), value :: flags
    end subroutine

    subroutine epop_describe_allocatable_blocks(d, name, array, blocks, flags) bind(C, name='epop__fortran_blocks')
      import :: c_ptr, c_char, c_int, epop_allocatable_t, epop_blocks_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_allocatable_t), value :: array
      type(epop_blocks_t), intent(in) :: blocks
      integer(c_int), value :: flags
    end subroutine

    subroutine epop_describe_allocatable_replicated(d, name, array, count, flags) bind(C, name='epop__fortran_replicated')
      import :: c_ptr, c_char, c_int, epop_allocatable_t, c_int64_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_allocatable_t), value :: array
      integer(c_int64_t), value :: count
      integer(c_int), value :: flags
    end subroutine
  end interface

  ! ---- What is not dealt out evenly. Ranks and indices, and so the starts of cuts and of rows, count from 0, as in C: row i of
  ! Fortran, which counts from 1, has the elements starts(i) + 1 to starts(i + 1).
  interface
    subroutine epop_describe_csr(d, name, starts, index, rows, arrays, count, flags) bind(C)
      import :: c_ptr, c_char, c_int, epop_dist_t, epop_row_array_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: starts
      integer(c_int), value :: index, count, flags
      type(epop_dist_t), value :: rows
      type(epop_row_array_t), intent(in) :: arrays(*)
    end subroutine

    subroutine epop_describe_allocatable_csr(d, name, starts, rows, arrays, count, flags) bind(C, name='epop__fortran_csr')
      import :: c_ptr, c_char, c_int, epop_allocatable_t, epop_dist_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_allocatable_t), value :: starts
      type(epop_dist_t), value :: rows
      type(epop_allocatable_t), intent(in) :: arrays(*)
      integer(c_int), value :: count, flags
    end subroutine
  end interface

  interface
    subroutine epop_describe_owned(d, name, local, datatype, partition, flags) bind(C)
      import :: c_ptr, c_char, c_int, epop_partition_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: local
      integer(c_int), value :: datatype, flags
      type(epop_partition_t), intent(in) :: partition
    end subroutine

    subroutine epop_describe_allocatable_owned(d, name, array, partition, flags) bind(C, name='epop__fortran_owned')
      import :: c_ptr, c_char, c_int, epop_allocatable_t, epop_partition_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_allocatable_t), value :: array
      type(epop_partition_t), intent(in) :: partition
      integer(c_int), value :: flags
    end subroutine
  end interface

  ! cuts and partition are parts of the program's state, as they are looked at when the block has returned.
  interface
    type(epop_dist_t) function epop_dist_cuts(starts, ranks) bind(C)
      import :: c_int, c_ptr, epop_dist_t
      type(c_ptr), value :: starts ! ranks + 1 integer(c_int64_t), from epop_malloc where they are described
      integer(c_int), value :: ranks
    end function

    type(epop_dist_t) function epop_dist_even_cuts(count, ranks) bind(C)
      import :: c_int, c_int64_t, epop_dist_t
      integer(c_int64_t), value :: count
      integer(c_int), value :: ranks
    end function

    subroutine epop_dist_free(dist) bind(C)
      import :: epop_dist_t
      type(epop_dist_t), intent(inout) :: dist
    end subroutine

    ! Without weights: even cuts.
    subroutine epop_describe_cuts(d, name, cuts, weights) bind(C)
      import :: c_ptr, c_char, epop_dist_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_dist_t), intent(inout) :: cuts
      character(kind=c_char), optional, intent(in) :: weights(*)
    end subroutine

    subroutine epop_describe_items(d, name, items, count, datatype, owner, context, flags) bind(C)
      import :: c_ptr, c_char, c_int, c_int64_t, epop_owner_block
      type(c_ptr), value :: d, context
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: items
      integer(c_int64_t), intent(in) :: count
      integer(c_int), value :: datatype, flags
      procedure(epop_owner_block) :: owner
    end subroutine

    integer(c_int) function epop_items_exchange(items, count, datatype, owner, context) bind(C)
      import :: c_ptr, c_int, c_int64_t, epop_owner_block
      type(c_ptr), intent(inout) :: items
      integer(c_int64_t), intent(inout) :: count
      integer(c_int), value :: datatype
      procedure(epop_owner_block) :: owner
      type(c_ptr), value :: context
    end function

    subroutine epop_describe_partition(d, name, partition) bind(C)
      import :: c_ptr, c_char, epop_partition_t
      type(c_ptr), value :: d
      character(kind=c_char), intent(in) :: name(*)
      type(epop_partition_t), intent(inout) :: partition
    end subroutine

    integer(c_int) function epop_partition_divide(partition) bind(C)
      import :: c_int, epop_partition_t
      type(epop_partition_t), intent(inout) :: partition
    end function

    ! Writes the rank's indices, from 0, in order, and returns how many there are.
    integer(c_int64_t) function epop_partition_local(partition, rank, indices) bind(C)
      import :: c_int, c_int64_t, epop_partition_t
      type(epop_partition_t), intent(in) :: partition
      integer(c_int), value :: rank
      integer(c_int64_t), optional, intent(out) :: indices(*)
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

    integer(c_int) function epop_threads() bind(C)
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

    integer(c_int) function epop_redist_between(window, before, after, datatype, local) bind(C)
      import :: c_int, c_ptr, epop_dist_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist_t), value :: before, after
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: local
    end function

    ! Rows of different lengths: lengths has one of them for each local row, starts the row pointers, from 0. datatype is
    ! that of these: MPI_INTEGER or MPI_INTEGER8.
    integer(c_int) function epop_redist_rows(window, before, after, datatype, lengths, arrays, count) bind(C)
      import :: c_int, c_ptr, epop_dist_t, epop_row_array_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist_t), value :: before, after
      integer(c_int), value :: datatype, count
      type(c_ptr), intent(inout) :: lengths
      type(epop_row_array_t), intent(in) :: arrays(*)
    end function

    integer(c_int) function epop_redist_csr(window, before, after, datatype, starts, arrays, count) bind(C)
      import :: c_int, c_ptr, epop_dist_t, epop_row_array_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist_t), value :: before, after
      integer(c_int), value :: datatype, count
      type(c_ptr), intent(inout) :: starts
      type(epop_row_array_t), intent(in) :: arrays(*)
    end function

    ! Cuts for the new ranks, by weights: c_loc of an integer for each index of this rank; c_null_ptr: all the same.
    integer(c_int) function epop_redist_balance(window, before, datatype, weights, share, after) bind(C)
      import :: c_int, c_double, c_ptr, epop_dist_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist_t), intent(inout) :: before
      integer(c_int), value :: datatype
      type(c_ptr), value :: weights
      real(c_double), value :: share
      type(epop_dist_t), intent(out) :: after
    end function

    integer(c_int) function epop_redist2d(window, before, after, datatype, local) bind(C)
      import :: c_int, c_ptr, epop_dist2d_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist2d_t), intent(in) :: before, after
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: local
    end function

    integer(c_int) function epop_redist_blocks(window, before, after, datatype, local) bind(C)
      import :: c_int, c_ptr, epop_blocks_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_blocks_t), intent(in) :: before, after
      integer(c_int), value :: datatype
      type(c_ptr), intent(inout) :: local
    end function

    ! Both distributions, from the numbers of indices of this rank.
    integer(c_int) function epop_redist_counts(window, had, shall, before, after) bind(C)
      import :: c_int, c_int64_t, epop_dist_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      integer(c_int64_t), value :: had, shall
      type(epop_dist_t), intent(out) :: before, after
    end function

    ! Moves that a redistribution would make: c_f_pointer makes an array of count type(epop_redist_move_t), which the caller frees
    ! by epop_free.
    integer(c_int) function epop_redist_map(window, before, after, moves, count) bind(C)
      import :: c_int, c_ptr, epop_dist_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist_t), value :: before, after
      type(c_ptr), intent(out) :: moves
      integer(c_int), intent(out) :: count
    end function

    integer(c_int) function epop_redist2d_map(window, before, after, moves, count) bind(C)
      import :: c_int, c_ptr, epop_dist2d_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_dist2d_t), intent(in) :: before, after
      type(c_ptr), intent(out) :: moves
      integer(c_int), intent(out) :: count
    end function

    integer(c_int) function epop_redist_blocks_map(window, before, after, moves, count) bind(C)
      import :: c_int, c_ptr, epop_blocks_t, epop_window_t
      type(epop_window_t), intent(in) :: window
      type(epop_blocks_t), intent(in) :: before, after
      type(c_ptr), intent(out) :: moves
      integer(c_int), intent(out) :: count
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
