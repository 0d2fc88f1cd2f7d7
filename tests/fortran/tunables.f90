! A program with a tunable of each sort, of which it prints the values; the work is in the share of its progress.
module tunables
  use epop
  implicit none
  private
  public :: get_program
  integer(c_int), target :: width = 8, kind_of = 4, depth = 2
  character(kind=c_char), target :: depth_name(6) = ['d', 'e', 'p', 't', 'h', c_null_char]
  integer(c_int64_t), target :: steps = 0

contains

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    init = epop_tunable('width' // c_null_char, c_loc(width), 1_c_int, 64_c_int)
    if (init == EPOP_OK) init = epop_tunable_list('kind' // c_null_char, c_loc(kind_of), [1_c_int, 4_c_int, 9_c_int], 3_c_int)
    if (init == EPOP_OK) init = epop_tunable_add(epop_tunable_t(c_loc(depth_name), c_loc(depth), 1, 9, per_visit=1))
  end function

  integer(c_int) function step(data) bind(C, name='')
    type(c_ptr), value :: data
    steps = steps + 1
    step = 0
  end function

  integer(c_int) function more(data) bind(C, name='')
    type(c_ptr), value :: data
    more = merge(1, 0, steps < 5)
  end function

  subroutine describe(data, d) bind(C, name='')
    type(c_ptr), value :: data, d
    call epop_describe_values(d, 'steps' // c_null_char, c_loc(steps), 8_c_size_t)
  end subroutine

  subroutine progress(data, done) bind(C, name='')
    type(c_ptr), value :: data
    type(epop_progress_t), intent(inout) :: done
    done = epop_progress_t(steps, 5_c_int64_t, real(steps, c_double) / 5)
  end subroutine

  integer(c_int) function report(data) bind(C, name='')
    type(c_ptr), value :: data
    print '(3(a,i0))', 'width ', width, ', kind ', kind_of, ', depth ', depth
    report = 0
  end function

  type(c_ptr) function get_program() bind(C)
    integer :: start, work, rest, error
    get_program = epop_program_create_abi('tunables' // c_null_char, EPOP_ABI_VERSION)
    start = epop_add_init(get_program, 'start' // c_null_char, init)
    work = epop_add_elastic(get_program, 'work' // c_null_char, step, epop_adapt_described, more)
    rest = epop_add_rigid(get_program, 'report' // c_null_char, report)
    error = epop_describe(get_program, describe)
    error = epop_set_progress(get_program, work, progress)
  end function
end module
