! A program whose elements are filled in one by one, and which prints what EPOP says of it, and of its sizes.
module looked_at_program
  use epop
  implicit none
  character(kind=c_char), target :: name_of_init(6) = ['s', 't', 'a', 'r', 't', c_null_char]
  type(epop_sizes_t), target :: four = epop_sizes_t(EPOP_SIZE_POWER_OF_TWO, 1, 4)

contains

  ! Of a text that ends with c_null_char.
  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(address, letters, [10000])
    text = ''
    do i = 1, 10000
      if (letters(i) == c_null_char) exit
      text = text // letters(i)
    end do
  end function

  integer(c_int) function init(argc, argv, data) bind(C, name='')
    integer(c_int), intent(inout) :: argc
    type(c_ptr), intent(inout) :: argv, data
    character(kind=c_char), target :: text(40)
    print '(2a)', 'an error: ', text_of(epop_result_text(EPOP_ERR_REFUSED))
    init = epop_sizes_text(four, text, 40)
    print '(2a)', 'sizes: ', text_of(c_loc(text))
    print '(2(a, l1), a, i0)', '4: ', epop_sizes_accept(four, 4) /= 0, ', 3: ', epop_sizes_accept(four, 3) /= 0, &
      ', 9: ', epop_sizes_round_down(four, 9)
  end function

  integer(c_int) function work(data) bind(C, name='')
    type(c_ptr), value :: data
    type(c_ptr) :: json, other
    type(epop_sizes_t), pointer :: sizes
    character(kind=c_char), target :: error(80)
    other = programmed()
    json = epop_program_to_json(other)
    print '(a)', text_of(json)
    call epop_free(json)
    call c_f_pointer(epop_sizes_at(other, 1), sizes)
    print '(2a, i0)', text_of(epop_element_type_name(EPOP_RP)), ' up to ', sizes%max
    work = merge(EPOP_OK, 1_c_int, epop_program_validate(other, error, 80) == EPOP_OK)
    call epop_program_free(other)
    other = epop_program_alloc_abi(0, EPOP_ABI_VERSION)
    if (epop_program_validate(other, error, 80) == EPOP_ERR_ARGUMENT) print '(2a)', 'another: ', text_of(c_loc(error))
    call epop_program_free(other)
  end function

  type(c_ptr) function programmed() result(program)
    type(epop_program_t), pointer :: all
    type(epop_element_t), pointer :: elements(:)
    program = epop_program_alloc_abi(2, EPOP_ABI_VERSION)
    call c_f_pointer(program, all)
    call c_f_pointer(all%elements, elements, [all%size])
    elements%type = [EPOP_INIT, EPOP_RP]
    elements(1)%name = c_loc(name_of_init)
    elements(1)%init = c_funloc(init)
    elements(2)%phase_exec = c_funloc(work)
    elements(2)%sizes = c_loc(four)
  end function

  type(c_ptr) function get_program() bind(C)
    get_program = programmed()
  end function
end module
