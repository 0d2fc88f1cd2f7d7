// All that <epop/epop.hpp> describes, compared element by element in each iteration. Rank 0 asks for the sizes of
// RESIZE in turn, and for a checkpoint. With CXX_DATA=copies there are std::vectors, too.
//     cxx_data.so [RESIZE [STEPS [throw=BLOCK]]]    BLOCK: init, exec, more, rebuild (on rank 0)
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <epop/epop.hpp>

namespace
{
struct cell {
    double x;
    int i;
};

struct mesh {
    struct {
        std::int64_t n = 101, step = 0;
        int windows = 0;
    } s;
    std::array<int, 3> three{};
    epop::array<double> u;
    epop::array<cell> cells;
    epop::array<int> table;
    std::vector<float> v;
    std::vector<cell> w;
    std::vector<std::int64_t> all;
    std::string sizes, fails;
    int last = 0, steps = 10;

    bool fails_in(const char *block) const
    {
        return fails == std::string("throw=") + block && s.step > 2;
    }
    epop_dist_t blocks() const
    {
        return epop_dist_block(s.n);
    }
    epop_dist_t cyclic() const
    {
        return epop_dist_cyclic(s.n);
    }
    epop_dist_t mixed() const
    {
        return epop_dist_block_cyclic(s.n, 4);
    }
    void make()
    {
        three = {1, 2, 3};
        u.make(epop::local_count(blocks()));
        cells.make(epop::local_count(cyclic()));
        table.make(7);
        v.resize(static_cast<std::size_t>(epop::local_count(mixed())));
        w.resize(static_cast<std::size_t>(epop::local_count(cyclic())));
        all.resize(5);
        for (std::int64_t i = 0; i < u.size(); i++)
            u[i] = static_cast<double>(epop::global(blocks(), i));
        for (std::int64_t i = 0; i < cells.size(); i++)
            cells[i] = w[static_cast<std::size_t>(i)] = cell{0.5, static_cast<int>(epop::global(cyclic(), i))};
        for (std::int64_t i = 0; i < 7; i++)
            table[i] = static_cast<int>(3 * i);
        for (std::size_t i = 0; i < v.size(); i++)
            v[i] = static_cast<float>(epop::global(mixed(), static_cast<std::int64_t>(i)));
        for (std::size_t i = 0; i < all.size(); i++)
            all[i] = static_cast<std::int64_t>(11 * i);
    }
    void expect(bool right, const char *what) const
    {
        if (!right)
            throw std::logic_error(std::string("wrong: ") + what);
    }
    void look(bool copies) const
    {
        const auto done = static_cast<double>(s.step);
        expect(three == std::array<int, 3>{1, 2, 3}, "values");
        expect(u.size() == epop::local_count(blocks()) && cells.size() == epop::local_count(cyclic()) &&
                   table.size() == 7,
               "sizes");
        for (std::int64_t i = 0; i < u.size(); i++)
            expect(u[i] == static_cast<double>(epop::global(blocks(), i)) + done, "u");
        for (std::int64_t i = 0; i < cells.size(); i++)
            expect(cells[i].i == epop::global(cyclic(), i) && cells[i].x == 0.5, "cells");
        for (std::int64_t i = 0; i < 7; i++)
            expect(table[i] == 3 * i, "table");
        if (!copies)
            return;
        expect(static_cast<std::int64_t>(v.size()) == epop::local_count(mixed()) &&
                   w.size() == static_cast<std::size_t>(cells.size()) && all.size() == 5,
               "lengths");
        for (std::size_t i = 0; i < v.size(); i++)
            expect(static_cast<double>(v[i]) ==
                       static_cast<double>(epop::global(mixed(), static_cast<std::int64_t>(i))) + done,
                   "v");
        for (std::size_t i = 0; i < w.size(); i++)
            expect(w[i].i == cells[static_cast<std::int64_t>(i)].i, "w");
        for (std::size_t i = 0; i < all.size(); i++)
            expect(all[i] == static_cast<std::int64_t>(11 * i), "all");
    }
    void advance()
    {
        for (double &x : u)
            x += 1;
        for (float &x : v)
            x += 1;
        s.step++;
        usleep(1000);
        MPI_Barrier(epop_world());
    }
    int next_size() const
    {
        std::size_t at = 0;
        for (int i = 0; i < s.windows && at != std::string::npos; i++) {
            at = sizes.find(',', at);
            at += at != std::string::npos;
        }
        return at == std::string::npos || sizes.empty() ? 0 : std::atoi(sizes.c_str() + at);
    }
    bool more()
    {
        int size = next_size();
        if (size && last != size && epop::rank() == 0)
            epop_request_resize(size);
        last = size;
        if (s.step == 3 && epop::rank() == 0)
            epop_request_checkpoint();
        return size || s.step < steps;
    }
};

void places(mesh &m, epop::description &d)
{
    d.values("s", m.s);
    d.members("s", "int64_t n, step; int windows");
    d.values("three", m.three);
    d.array("u", m.u, m.s.n);
    d.array("cells", m.cells, m.cyclic());
    d.replicated("table", m.table, 7);
}
} // namespace

extern "C" EPOP_EXPORT epop_program_t *get_program(void)
{
    static bool copies; // known in INIT only, but a describe block is of one kind
    epop::program<mesh> p("cxx_data");
    const char *way = std::getenv("CXX_DATA");
    copies = way && std::string(way) == "copies";
    p.init([](int argc, char **argv) {
        auto *m = new mesh;
        m->sizes = argc > 1 ? argv[1] : "";
        m->steps = argc > 2 ? std::atoi(argv[2]) : 10;
        m->fails = argc > 3 && epop::rank() == 0 ? argv[3] : "";
        if (m->fails == "throw=init")
            throw std::runtime_error("no such mesh");
        if (epop_status() == EPOP_NEW)
            m->make();
        return m;
    });
    int pc = p.elastic(
        "work",
        [](mesh &m) {
            m.look(copies);
            if (m.fails_in("exec"))
                throw std::runtime_error("diverged");
            m.advance();
        },
        [](mesh &m) {
            if (m.fails_in("more"))
                throw 7;
            return m.more();
        });
    epop_sizes_t sizes = {};
    sizes.scaling = EPOP_SCALING_WEAK_WORK;
    p.sizes(pc, sizes);
    p.progress(
        pc, [](mesh &m) { return m.s.step; }, [](mesh &m) { return m.steps; });
    p.rigid("tell", [](mesh &m) {
        m.look(copies);
        if (epop::rank() == 0)
            std::printf("right on %d ranks after %d windows\n", epop::size(), m.s.windows);
    });
    p.branch("end", [](int, mesh &) { return EPOP_END; });
    auto rebuild = [](mesh &m) {
        if (m.fails == "throw=rebuild")
            throw std::bad_alloc();
        m.s.windows += epop_status() != EPOP_RESTARTING;
    };
    if (copies)
        p.describe(
            [](mesh &m, epop::copies &d) {
                places(m, d);
                d.array("v", m.v, m.mixed());
                d.array("w", m.w, m.cyclic(), EPOP_CONSTANT);
                d.replicated("all", m.all, 5, EPOP_CONSTANT);
            },
            rebuild);
    else
        p.describe(places, rebuild);
    return p.release();
}
