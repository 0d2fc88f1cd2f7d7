/*
 * EPOP for C++17, on top of <epop/epop.h>: blocks are lambdas on a state of the program's own type, an exception is the
 * failure of its block, and what is described is a container. Header only.
 *
 *     extern "C" EPOP_EXPORT epop_program_t *get_program(void)
 *     {
 *         epop::program<heat> p("heat");
 *         p.init([](int argc, char **argv) { return new heat(argc, argv); });
 *         p.elastic("diffuse", [](heat &h) { h.step(); }, [](const heat &h) { return h.more(); });
 *         p.describe([](heat &h, epop::description &d) { d.values("step", h.steps_done); d.array("u", h.u, h.cells);
 * }); return p.release();
 *     }
 */
#ifndef EPOP_EPOP_HPP
#define EPOP_EPOP_HPP

#if __cplusplus < 201703L
#error "<epop/epop.hpp> needs C++17 (-std=c++17)"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/* Without MPI's bindings for C++, which ended with MPI 2. */
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <epop/epop.h>

namespace epop
{

/* This process's rank in the present world, and how many it has. Local. */
inline int rank()
{
    int rank = 0;
    MPI_Comm_rank(epop_world(), &rank);
    return rank;
}

inline int size()
{
    int size = 1;
    MPI_Comm_size(epop_world(), &size);
    return size;
}

/* This rank's indices of a distribution: how many, and which one the local index i is. Local. */
inline std::int64_t local_count(epop_dist_t dist)
{
    return epop_dist_local_count(dist, rank(), size());
}

inline std::int64_t global(epop_dist_t dist, std::int64_t i)
{
    return epop_dist_global(dist, rank(), size(), i);
}

/*
 * An array whose memory EPOP can take over: from malloc(), not initialized by constructors. It is described in place,
 * so that its elements move from rank to rank without a copy. T has to be trivially copyable.
 */
template <class T> class array
{
    static_assert(std::is_trivially_copyable_v<T>, "EPOP moves elements as bytes: they have to be trivially copyable");

  public:
    array() = default;
    /* `count` elements, all bytes 0. std::bad_alloc. */
    explicit array(std::int64_t count)
    {
        make(count);
    }
    array(array &&other) noexcept
    {
        swap(other);
    }
    array &operator=(array &&other) noexcept
    {
        swap(other);
        return *this;
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array()
    {
        std::free(data_);
    }
    /* New elements, all bytes 0; what was there is gone. std::bad_alloc. */
    void make(std::int64_t count)
    {
        array old;
        swap(old);
        if (count > 0 && !(data_ = std::calloc(static_cast<std::size_t>(count), sizeof(T))))
            throw std::bad_alloc();
        count_ = count;
    }
    void swap(array &other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
    }
    T *data() noexcept
    {
        return static_cast<T *>(data_);
    }
    const T *data() const noexcept
    {
        return static_cast<const T *>(data_);
    }
    std::int64_t size() const noexcept
    {
        return count_;
    }
    bool empty() const noexcept
    {
        return count_ == 0;
    }
    T &operator[](std::int64_t i) noexcept
    {
        return data()[i];
    }
    const T &operator[](std::int64_t i) const noexcept
    {
        return data()[i];
    }
    T *begin() noexcept
    {
        return data();
    }
    T *end() noexcept
    {
        return data() + count_;
    }
    const T *begin() const noexcept
    {
        return data();
    }
    const T *end() const noexcept
    {
        return data() + count_;
    }

  private:
    friend class description;
    void *data_ = nullptr;
    std::int64_t count_ = 0;
};

/* MPI's datatype of an element: that of a number, else one of so many bytes, which is made once and never freed. */
template <class T> MPI_Datatype datatype()
{
    static_assert(std::is_trivially_copyable_v<T>, "EPOP moves elements as bytes: they have to be trivially copyable");
    if constexpr (std::is_same_v<T, double>)
        return MPI_DOUBLE;
    else if constexpr (std::is_same_v<T, float>)
        return MPI_FLOAT;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return sizeof(T) == 8 ? MPI_INT64_T : sizeof(T) == 4 ? MPI_INT32_T : sizeof(T) == 2 ? MPI_INT16_T : MPI_INT8_T;
    else if constexpr (std::is_integral_v<T>)
        return sizeof(T) == 8   ? MPI_UINT64_T
               : sizeof(T) == 4 ? MPI_UINT32_T
               : sizeof(T) == 2 ? MPI_UINT16_T
                                : MPI_UINT8_T;
    else {
        MPI_Datatype type;
        MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type);
        MPI_Type_commit(&type);
        return type;
    }
}

/* What a describe block lists in: see epop_describe_values and its like in <epop/describe.h>. */
class description
{
  public:
    /* A number, a structure or a std::array of these, the same on all ranks. */
    template <class T> void values(const char *name, T &value)
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                      "values are bytes: a trivially copyable type; describe containers with array() or replicated()");
        if (list_)
            epop_describe_values(list_, name, &value, sizeof value);
    }
    /* What they consist of, for those who read a checkpoint: "std::int64_t n" is "int64_t n". */
    void members(const char *name, const char *text)
    {
        if (list_)
            epop_describe_members(list_, name, text);
    }
    /* An array over all ranks, of which each has a part; in blocks where only a count is given. */
    template <class T> void array(const char *name, epop::array<T> &part, epop_dist_t dist, unsigned flags = 0)
    {
        if (list_)
            epop_describe_array(list_, name, &part.data_, type_of<T>(), dist, flags);
        else if (moved_)
            part.count_ = local_count(dist);
    }
    template <class T> void array(const char *name, epop::array<T> &part, std::int64_t count, unsigned flags = 0)
    {
        array(name, part, epop_dist_block(count), flags);
    }
    /* `count` elements that each rank has a copy of. */
    template <class T> void replicated(const char *name, epop::array<T> &copy, std::int64_t count, unsigned flags = 0)
    {
        if (list_)
            epop_describe_replicated(list_, name, &copy.data_, type_of<T>(), count, flags);
        else if (moved_)
            copy.count_ = count;
    }
    /* For all that this class does not have: <epop/describe.h>. NULL where nothing is listed. */
    epop_description_t *list() const noexcept
    {
        return list_;
    }

  protected:
    template <class State> friend class program;
    /* One datatype for each type, by its size: `types` is the program's. */
    struct memory {
        std::map<std::size_t, MPI_Datatype> types;
        std::map<std::string, epop::array<unsigned char>> copies; /* of vectors, by name */
    };
    description(memory &memory, epop_description_t *list, bool moved) : memory_(memory), list_(list), moved_(moved)
    {
    }
    template <class T> MPI_Datatype type_of()
    {
        if constexpr (std::is_arithmetic_v<T>)
            return datatype<T>();
        auto found = memory_.types.find(sizeof(T));
        if (found == memory_.types.end())
            found = memory_.types.emplace(sizeof(T), datatype<T>()).first;
        return found->second;
    }
    static void *&pointer_of(epop::array<unsigned char> &copy) noexcept
    {
        return copy.data_;
    }
    memory &memory_;
    epop_description_t *list_; /* NULL: nothing is listed */
    bool moved_;               /* the data is there in the new world */
};

/*
 * The same with std::vector, whose memory EPOP cannot take over: in each resize and checkpoint a copy is made of it,
 * and a vector of what has come. While they are copied, twice the memory is needed. What is EPOP_CONSTANT moves ahead
 * from the vector itself, and only what has come is copied.
 */
class copies : public description
{
  public:
    using description::array;
    using description::replicated;
    template <class T> void array(const char *name, std::vector<T> &part, epop_dist_t dist, unsigned flags = 0)
    {
        if (void **copy = copied(name, part, flags, [&] { return local_count(dist); })) {
            epop_describe_array(list_, name, copy, type_of<T>(), dist, flags);
            epop_describe_original(list_, part.data());
        }
    }
    template <class T> void array(const char *name, std::vector<T> &part, std::int64_t count, unsigned flags = 0)
    {
        array(name, part, epop_dist_block(count), flags);
    }
    template <class T> void replicated(const char *name, std::vector<T> &copy, std::int64_t count, unsigned flags = 0)
    {
        if (void **block = copied(name, copy, flags, [&] { return count; })) {
            epop_describe_replicated(list_, name, block, type_of<T>(), count, flags);
            epop_describe_original(list_, copy.data());
        }
    }

  private:
    template <class State> friend class program;
    using description::description;
    /* Where the copy is to be listed; NULL: it is copied here, to there or back. */
    template <class T, class Count> void **copied(const char *name, std::vector<T> &vector, unsigned flags, Count count)
    {
        static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory");
        auto &copy = memory_.copies[name];
        if (list_)
            return &pointer_of(copy);
        if (!moved_ && flags & EPOP_CONSTANT) {
            copy.make(0); /* its data is read in its place */
        } else if (!moved_) {
            copy.make(static_cast<std::int64_t>(vector.size() * sizeof(T)));
            if (!vector.empty())
                std::memcpy(copy.data(), vector.data(), vector.size() * sizeof(T));
        } else {
            const T *first = static_cast<const T *>(pointer_of(copy));
            if (first || !(flags & EPOP_CONSTANT) || !count()) /* else what was here stays */
                vector.assign(first, first + (first ? count() : 0));
            copy.make(0);
        }
        return nullptr;
    }
};

/* Makes a program for get_program: blocks as in <epop/program.h>. One in each shared object. */
template <class State> class program
{
  public:
    explicit program(const char *name) : program_(epop_program_create(name))
    {
        if (!program_)
            throw std::bad_alloc();
    }
    program(const program &) = delete;
    program &operator=(const program &) = delete;
    ~program()
    {
        epop_program_free(program_);
    }
    /* make(argc, argv): returns a new State, which belongs to the program, and is deleted when a process leaves. */
    template <class Make> void init(Make make, const char *name = "init")
    {
        kept<Make>::block.emplace(std::move(make));
        epop_add_init(program_, name, [](int *argc, char ***argv, void **data) {
            return guarded("INIT", [&] {
                *data = new instance{std::unique_ptr<State>((*kept<Make>::block)(*argc, *argv)), {}};
            });
        });
        epop_release(program_, [](void *data) {
            free_types(static_cast<instance *>(data)->memory), delete static_cast<instance *>(data);
        });
    }
    /* exec(state), more(state): is there another iteration? Returns the pc. Described data moves in each resize. */
    template <class Exec, class More> int elastic(const char *name, Exec exec, More more)
    {
        return epop_add_elastic(program_, name, block(std::move(exec), name), epop_adapt_described,
                                condition(std::move(more), name));
    }
    template <class Exec> int rigid(const char *name, Exec exec)
    {
        return epop_add_rigid(program_, name, block(std::move(exec), name), nullptr);
    }
    template <class Exec, class More> int rigid(const char *name, Exec exec, More more)
    {
        return epop_add_rigid(program_, name, block(std::move(exec), name), condition(std::move(more), name));
    }
    /* next(pc, state): the next pc, or EPOP_END. */
    template <class Next> int branch(const char *name, Next next)
    {
        kept<Next>::block.emplace(std::move(next));
        kept<Next>::name = name;
        return epop_add_branch(program_, name, [](int pc, void *data) {
            return answered<Next>([&] { return static_cast<int>((*kept<Next>::block)(pc, state(data))); });
        });
    }
    /* list(state, description), or list(state, copies) where there are vectors. rebuild(state): makes what follows from
     * the data, in the new world. */
    template <class List> void describe(List list)
    {
        describe(std::move(list), [](State &) {});
    }
    template <class List, class Rebuild> void describe(List list, Rebuild rebuild)
    {
        constexpr bool in_place = std::is_invocable_v<List, State &, description &>;
        using lister = std::conditional_t<in_place, description, copies>;
        kept<List>::block.emplace(std::move(list));
        kept<Rebuild>::block.emplace(std::move(rebuild));
        epop_describe(program_, [](void *data, epop_description_t *d) { run<List, lister>(data, d, false); });
        epop_rebuild(program_, [](void *data) {
            return guarded("the rebuild block", [&] {
                run<List, lister>(data, nullptr, true);
                (*kept<Rebuild>::block)(state(data));
            });
        });
        if constexpr (!in_place)
            epop_pack(program_, [](void *data) {
                return guarded("the pack block", [&] { run<List, lister>(data, nullptr, false); });
            });
    }
    /* done(state), of(state): so far, and in all. */
    template <class Done, class Of> void progress(int pc, Done done, Of of)
    {
        kept<Done>::block.emplace(std::move(done));
        kept<Of>::block.emplace(std::move(of));
        epop_set_progress(program_, pc, [](void *data, epop_progress_t *progress) {
            progress->iteration = (*kept<Done>::block)(state(data));
            progress->bound = (*kept<Of>::block)(state(data));
        });
    }
    /* Which numbers of ranks a phase accepts, and how it scales; with pc -1 those that say nothing of it. */
    void sizes(int pc, const epop_sizes_t &sizes)
    {
        epop_set_sizes(program_, pc, &sizes);
    }
    /* For all that this class does not have: <epop/program.h>. */
    epop_program_t *get() const noexcept
    {
        return program_;
    }
    /* For get_program to return. */
    epop_program_t *release() noexcept
    {
        return std::exchange(program_, nullptr);
    }

  private:
    struct instance {
        std::unique_ptr<State> state;
        typename description::memory memory;
    };
    /* A lambda has a type of its own, so there is one of each. */
    template <class F> struct kept {
        static inline std::optional<F> block;
        static inline const char *name = "";
    };
    static void free_types(typename description::memory &memory)
    {
        for (auto &[size, type] : memory.types)
            MPI_Type_free(&type);
    }
    static State &state(void *data)
    {
        return *static_cast<instance *>(data)->state;
    }
    static void say(const char *where, const char *what)
    {
        std::fprintf(stderr, "epop: %s: an exception on rank %d: %s\n", where, rank(), what);
    }
    template <class F> static int guarded(const char *where, F f)
    {
        try {
            f();
            return EPOP_OK;
        } catch (const std::bad_alloc &) {
            say(where, "out of memory");
            return EPOP_ERR_MEMORY;
        } catch (const std::exception &e) {
            say(where, e.what());
        } catch (...) {
            say(where, "one that is no std::exception");
        }
        return EPOP_ERR_STATE;
    }
    /* A condition has no value for a failure: the process exits, which ends the job. */
    template <class Kept, class F> static int answered(F f)
    {
        int answer = 0;
        if (guarded(kept<Kept>::name, [&] { answer = f(); }) != EPOP_OK)
            std::exit(1);
        return answer;
    }
    template <class Exec> static auto block(Exec exec, const char *name) -> int (*)(void *)
    {
        kept<Exec>::block.emplace(std::move(exec));
        kept<Exec>::name = name;
        return [](void *data) {
            static_cast<instance *>(data)->memory.copies.clear();
            return guarded(kept<Exec>::name, [&] { (*kept<Exec>::block)(state(data)); });
        };
    }
    template <class More> static auto condition(More more, const char *name) -> int (*)(void *)
    {
        kept<More>::block.emplace(std::move(more));
        kept<More>::name = name;
        return [](void *data) {
            return answered<More>(
                [&] { return static_cast<int>(static_cast<bool>((*kept<More>::block)(state(data)))); });
        };
    }
    template <class List, class Lister> static void run(void *data, epop_description_t *d, bool moved)
    {
        Lister lister(static_cast<instance *>(data)->memory, d, moved);
        (*kept<List>::block)(state(data), lister);
    }
    epop_program_t *program_;
};

} // namespace epop
#endif
