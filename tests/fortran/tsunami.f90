! In the shape of a public shallow-water code: a wave in a channel, in time steps, with a probe in every fourth one. It
! expects the elastic calls in the module mpi. Leaving processes give their cells to those that stay, in the window;
! joining ones have none until the cells are dealt out anew, in the loop.
!     tsunami END STEPS        until the file END is there, or for so many steps; prints "STEPS steps, result NUMBER"
module channel
    use mpi
    implicit none
    integer, parameter :: cells = 240, probe_steps = 4, deal_steps = 6
    type carried
        integer :: step
        logical :: filled
        double precision :: time
    end type
    type(carried) :: now = carried(0, .false., 0)
    double precision, allocatable :: depth(:), flow(:) ! of this process, with a neighbour's cell at each end
    integer :: mine = 0, holders = 0                   ! cells; how many processes have some: the first ones
    integer :: rank_mpi, size_mpi, status_mpi, err
contains
    logical function is_root()
        is_root = rank_mpi == 0 .and. status_mpi /= MPI_ADAPT_STATUS_JOINING
    end function

    subroutine update_world()
        call mpi_comm_rank(MPI_COMM_WORLD, rank_mpi, err)
        call mpi_comm_size(MPI_COMM_WORLD, size_mpi, err)
    end subroutine

    subroutine take(h, q, place, sharers)
        double precision, intent(in) :: h(cells), q(cells)
        integer, intent(in) :: place, sharers
        integer :: first
        if (allocated(depth)) deallocate (depth, flow)
        holders = sharers
        mine = 0
        if (place >= 0 .and. place < sharers) mine = cells * (place + 1) / sharers - cells * place / sharers
        first = cells * max(place, 0) / sharers
        allocate (depth(0:mine + 1), flow(0:mine + 1), source=0d0)
        depth(1:mine) = h(first + 1:first + mine)
        flow(1:mine) = q(first + 1:first + mine)
    end subroutine

    ! To the first `sharers` processes; `place` is this one's among them. Over the present world.
    subroutine deal(place, sharers)
        integer, intent(in) :: place, sharers
        double precision :: h(cells), q(cells)
        integer :: counts(size_mpi), starts(size_mpi), i
        call mpi_allgather(mine, 1, MPI_INTEGER, counts, 1, MPI_INTEGER, MPI_COMM_WORLD, err)
        starts = [(sum(counts(1:i - 1)), i=1, size_mpi)]
        call mpi_allgatherv(depth(1:mine), mine, MPI_DOUBLE_PRECISION, h, counts, starts, MPI_DOUBLE_PRECISION, &
                            MPI_COMM_WORLD, err)
        call mpi_allgatherv(flow(1:mine), mine, MPI_DOUBLE_PRECISION, q, counts, starts, MPI_DOUBLE_PRECISION, &
                            MPI_COMM_WORLD, err)
        call take(h, q, place, sharers)
    end subroutine

    subroutine exchange(field)
        double precision, intent(inout) :: field(0:)
        integer :: left, right
        left = merge(rank_mpi - 1, MPI_PROC_NULL, mine > 0 .and. rank_mpi > 0)
        right = merge(rank_mpi + 1, MPI_PROC_NULL, mine > 0 .and. rank_mpi + 1 < holders)
        field(0) = field(1)
        field(mine + 1) = field(mine)
        call mpi_sendrecv(field(1), 1, MPI_DOUBLE_PRECISION, left, 1, field(mine + 1), 1, MPI_DOUBLE_PRECISION, right, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
        call mpi_sendrecv(field(mine), 1, MPI_DOUBLE_PRECISION, right, 2, field(0), 1, MPI_DOUBLE_PRECISION, left, 2, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
    end subroutine

    ! Lax and Friedrichs, as wide as the fastest wave allows.
    subroutine time_step()
        double precision :: fastest, dt, flux(0:mine + 1)
        fastest = 1
        if (mine > 0) fastest = maxval(abs(flow(1:mine) / depth(1:mine)) + sqrt(9.81d0 * depth(1:mine)))
        call mpi_allreduce(MPI_IN_PLACE, fastest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, err)
        dt = 0.5d0 / fastest
        now%time = now%time + dt
        if (mine == 0) return
        call exchange(depth)
        call exchange(flow)
        flux = flow**2 / depth + 4.905d0 * depth**2
        depth(1:mine) = (depth(0:mine - 1) + depth(2:)) / 2 - dt / 2 * (flow(2:) - flow(0:mine - 1))
        flow(1:mine) = (flow(0:mine - 1) + flow(2:)) / 2 - dt / 2 * (flux(2:) - flux(0:mine - 1))
    end subroutine

    ! Of the bits of all, so that it does not depend on how they are dealt out.
    integer(8) function result()
        integer(8) :: own
        own = sum(ishft(transfer(depth(1:mine), [0_8]), -12)) + sum(ishft(transfer(flow(1:mine), [0_8]), -12))
        call mpi_allreduce(own, result, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, err)
    end function

    subroutine adapt()
        integer :: flag, info, between, after, staying, leaving, joining, place
        integer(8) :: unused
        double precision :: nothing(cells)
        call mpi_probe_adapt(flag, status_mpi, info, err)
        if (flag /= MPI_ADAPT_TRUE) return
        call mpi_info_free(info, err)
        if (status_mpi /= MPI_ADAPT_STATUS_JOINING) unused = result() ! all old processes meet once more
        call mpi_comm_adapt_begin(between, after, staying, leaving, joining, err)
        place = -1
        if (status_mpi == MPI_ADAPT_STATUS_STAYING) call mpi_comm_rank(after, place, err)
        if (leaving > 0 .and. status_mpi /= MPI_ADAPT_STATUS_JOINING) call deal(place, staying)
        if (joining > 0 .and. status_mpi /= MPI_ADAPT_STATUS_LEAVING) then
            call mpi_bcast(now, int(storage_size(now) / 8), MPI_BYTE, 0, after, err)
            call mpi_bcast(holders, 1, MPI_INTEGER, 0, after, err)
        end if
        if (status_mpi == MPI_ADAPT_STATUS_JOINING) call take(nothing, nothing, -1, holders)
        if (status_mpi == MPI_ADAPT_STATUS_LEAVING) deallocate (depth, flow)
        call mpi_comm_adapt_commit(err)
        status_mpi = MPI_ADAPT_STATUS_STAYING
        call update_world()
    end subroutine
end module

program tsunami
    use channel
    implicit none
    character(1000) :: end_file, text
    integer :: steps, i
    integer(8) :: total
    logical :: is_over
    call get_command_argument(1, end_file)
    call get_command_argument(2, text)
    read (text, *) steps
    call mpi_init_adapt(status_mpi, err)
    call update_world()
    if (status_mpi == MPI_ADAPT_STATUS_JOINING) then
        call adapt()
    else
        call take([(merge(2d0, 1d0, i < cells / 4), i=1, cells)], [(0d0, i=1, cells)], rank_mpi, size_mpi)
    end if
    do
        is_over = now%step == steps .and. steps > 0
        if (is_root() .and. steps == 0) inquire (file=trim(end_file), exist=is_over)
        call mpi_bcast(is_over, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, err)
        if (is_over) exit
        now%step = now%step + 1
        if (mod(now%step, deal_steps) == 0) call deal(rank_mpi, size_mpi)
        call time_step()
        if (mod(now%step, probe_steps) == 0) call adapt()
    end do
    total = result()
    if (is_root()) print '(i0, " steps, result ", i0)', now%step, total
    call mpi_finalize(err)
end program
