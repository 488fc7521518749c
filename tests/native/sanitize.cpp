// The kernels under a sanitizer (`make sanitize`): every memory and controller, and every memory by itself; odd sizes,
// rows of any length, every kind of access, forward and backward, on one thread and on several.
//
// Each tensor is a block of its own of exactly its size, so that a step outside is seen. What a kernel is to fill, and
// its workspaces, start as NaN: whatever it reads before writing shows up in what comes out, which must be finite.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dnc.hpp"
#include "joined.hpp"
#include "lrua.hpp"
#include "memory_step.hpp"
#include "network.hpp"
#include "none.hpp"
#include "ntm.hpp"
#include "over_steps.hpp"
#include "turns.hpp"

using namespace mnemon;

namespace {

using Random = std::mt19937;

void fail(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}

// Numbers in a block of their own; null when there are none, as torch has it.
template <class T> struct Tensor {
    std::unique_ptr<T[]> block;
    long size;

    explicit Tensor(long numbers) : block(numbers ? new T[numbers] : nullptr), size(numbers) {
        for (long i = 0; i < size; i++) block[i] = std::numeric_limits<T>::quiet_NaN();
    }
    Tensor(long numbers, Random& random, double low, double high) : Tensor(numbers) {
        std::uniform_real_distribution<double> any(low, high);
        for (long i = 0; i < size; i++) block[i] = (T)any(random);
    }
    T* get() const { return block.get(); }
    void check(const std::string& name) const {
        for (long i = 0; i < size; i++)
            if (!std::isfinite(block[i])) fail(name + ": not finite");
    }
    bool operator==(const Tensor& other) const {
        return size == other.size && (!size || !std::memcmp(get(), other.get(), size * sizeof(T)));
    }
};

template <class T> using Tensors = std::vector<Tensor<T>>;
template <class T> std::vector<T*> addresses(const Tensors<T>& tensors) {
    std::vector<T*> all;
    for (const auto& tensor : tensors) all.push_back(tensor.get());
    return all;
}

// A cell: its sizes, and those of the tensors of a row's state.
struct Cell {
    std::string name;
    Config config{};
    std::vector<long> state;
    long extra = 0;
};

Config sizes(int slots, int word, int reads, bool read_first) {
    Config c{};
    c.input = 3, c.hidden = 7;
    c.slots = slots, c.word = word, c.reads = reads, c.read_first = read_first;
    return c;
}

Cell ntm(int slots, int word, int reads, int writes, int reach, bool read_first) {
    Config c = sizes(slots, word, reads, read_first);
    const int address = word + 2 * reach + 4;
    c.writes = writes, c.shift_reach = reach;
    c.interface = reads * address + writes * (address + 2 * word);
    return {"ntm", c, {slots * word, reads * slots, writes * slots, reads * word}};
}

Cell dnc(int slots, int word, int reads, bool read_first, bool links, bool repaired, double clip) {
    Config c = sizes(slots, word, reads, read_first);
    c.writes = 1, c.links = links, c.clip = clip;
    c.masked_lookup = c.erase_freed = repaired;
    c.sharp_links = repaired && links;
    const int mask = repaired ? word : 0;
    c.interface = reads * (word + 2 + 3 * links + mask + 2 * c.sharp_links) + 3 * word + 3 + mask;
    return {"dnc", c, {slots * word, slots, links * slots * slots, links * slots, reads * slots, slots, reads * word}};
}

// Of which only some slots are written.
Cell owning(Cell cell, int first, int end) {
    cell.config.own_first = first, cell.config.own_end = end;
    return cell;
}

// So many of them under one controller.
Cell joined(Cell cell, int count) {
    const std::vector<long> one = cell.state;
    cell.name = "joined";
    cell.config.parts = count, cell.config.interface *= count, cell.config.reads *= count;
    for (cell.state.clear(); count; count--) cell.state.insert(cell.state.end(), one.begin(), one.end() - 1);
    cell.state.push_back(cell.config.parts * one.back());
    return cell;
}

// Used in turns by so many controllers, each by way of a cache.
Cell turns(Cell cell, int count) {
    const std::vector<long> one = cell.state;
    Config& c = cell.config;
    const long word = c.word;
    cell.name = "turns";
    c.controllers = count, c.interface = count * (c.interface + c.word);
    c.reads *= count, c.input *= count, c.hidden *= count;
    cell.state = {one[0], one[1], one[2], one[5]};
    for (int v = 0; v < count; v++) cell.state.insert(cell.state.end(), {one[3], one[4], word});
    cell.state.push_back(count * one[6]);
    return cell;
}

Cell lrua(int slots, int word, int reads, bool read_first, bool strengths) {
    Config c = sizes(slots, word, reads, read_first);
    c.strengths = strengths, c.decay = 0.9;
    c.interface = reads * (word + 1 + strengths);
    return {"lrua", c, {slots * word, slots, reads * slots, reads * slots, reads * word}};
}

Cell none() { return {"none", sizes(0, 0, 0, false), {0}}; }

// A sequence: its weights, inputs and what is asked of it.
template <class T, template <class> class Controller, template <class> class Memory> class Case {
  public:
    Case(const Cell& cell, int steps, int batch, bool ragged, bool scheduled, bool recurrent,
         bool state_gradients, unsigned seed)
        : random_(seed), config_(varied(cell.config, scheduled, seed)), name_(cell.name), sizes_(cell.state),
          inputs_((long)steps * batch * cell.config.input, random_, -1, 1),
          from_inputs_(config_.preactivations * (long)(config_.input + config_.reads * config_.word) / controllers(config_),
                       random_, -1, 1),
          from_hidden_(recurrent ? config_.preactivations * (long)config_.hidden / controllers(config_) : 0, random_, -1,
                       1),
          bias_(seed % 2 ? config_.preactivations : 0, random_, -1, 1),
          interface_((long)numbers() * config_.hidden / controllers(config_), random_, -1, 1),
          interface_bias_(seed % 3 ? numbers() : 0, random_, -1, 1),
          extra_(cell.extra + (config_.normalised ? 2L * config_.interface : 0), random_, -1, 1),
          keys_((long)config_.stores * config_.programs * config_.key, random_, -1, 1),
          attention_(Recall<T>(config_).weights_size, random_, -1, 1),
          cache_((long)batch * config_.cached * config_.hidden, random_, -1, 1),
          noise_(config_.drawn ? (long)steps * batch * config_.stores * config_.programs : 0, random_, -1, 1),
          dfeatures_((long)steps * batch * features(), random_, -1, 1) {
        config_.steps = steps, config_.batch = batch;
        config_.checkpoint_every = 1 + seed % 8;
        for (const int number : {steps, batch, (int)seed}) name_ += " " + std::to_string(number);
        for (const long size : sizes_) state_.emplace_back(size * batch, random_, 0, 0.1);
        for (const long size : sizes_) dfinal_.emplace_back(state_gradients ? size * batch : 0, random_, -1, 1);
        if (ragged)
            for (int row = 0; row < batch; row++) lengths_.push_back(row ? random_() % (steps + 1) : 0);
        if (scheduled)
            for (long i = 0; i < (long)steps * batch; i++) schedule_.push_back(random_() % (config_.cached ? 6 : 3));
        for (auto& access : schedule_) access = access < 3 ? access : access - 3 + kRecall;
        for (auto& access : schedule_)
            if (config_.controllers) access = kWrite + ((1 + random_() % ((1 << config_.controllers) - 1)) << kTurns);
        for (int store = 1; store <= config_.stores; store++)
            ends_.push_back((long)config_.interface * store / config_.stores);
    }

    // Everything that comes out.
    Tensors<T> run(int threads, bool keep) const {
        Config config = config_;
        config.threads = threads, config.keep_records = keep;
        const Network<T, Controller, Memory> network(config);
        long sizes[3];
        network.sizes(sizes);
        const long rows = config.batch, kept = keep ? config.steps + 1 : 2, every = config.checkpoint_every;
        const long chunks = keep ? (config.steps + every - 1) / every : 0;
        Tensor<T> records(rows * kept * sizes[0]), memory_records(rows * kept * sizes[1]);
        Tensor<T> checkpoints(rows * chunks * sizes[2]);
        Tensors<T> out, final_state, dstate;
        out.emplace_back(config.steps * rows * features());
        for (const long size : sizes_) final_state.emplace_back(size * rows), dstate.emplace_back(size * rows);
        const auto state = addresses(state_), final_addresses = addresses(final_state);
        Tensor<T> recalled(keep && config.cached ? config.steps * rows * config.hidden : 0);
        const Forward<T> forward{inputs_.get(),     from_inputs_.get(),    from_hidden_.get(), bias_.get(),
                                 interface_.get(),  interface_bias_.get(), extra_.get(),       keys_.get(),
                                 attention_.get(),  cache_.get(),          or_null(ends_),     noise_.get(),
                                 state.data(),      or_null(lengths_),     or_null(schedule_), out[0].get(),
                                 final_addresses.data(), records.get(),    memory_records.get(), checkpoints.get(),
                                 recalled.get()};
        network.forward(forward);
        if (keep) {
            out.emplace_back(config.steps * rows * config.preactivations);
            out.emplace_back(config.steps * rows * numbers());
            for (const long size : {extra_.size, keys_.size, attention_.size}) out.emplace_back(rows * size);
            out.emplace_back(cache_.size);
            const auto dfinal = addresses(dfinal_), dstate_addresses = addresses(dstate);
            network.backward(forward, {dfeatures_.get(), dfinal.data(), out[1].get(), out[2].get(), out[3].get(),
                                       out[4].get(), out[5].get(), out[6].get(), dstate_addresses.data()});
            for (auto& part : dstate) out.push_back(std::move(part));
        }
        for (auto& part : final_state) out.push_back(std::move(part));
        for (const auto& part : out) part.check(name_);
        return out;
    }

    // Alone, and on several threads that share the rows, and so on from two callers at once.
    void check() const {
        const Tensors<T> alone = run(1, true);
        run(3, false);
        std::thread other([&] { compare(alone, run(2, true)); });
        compare(alone, run(4, true));
        other.join();
    }

  private:
    Random random_;
    Config config_;
    std::string name_;
    std::vector<long> sizes_;
    Tensor<T> inputs_, from_inputs_, from_hidden_, bias_, interface_, interface_bias_, extra_;
    Tensor<T> keys_, attention_, cache_, noise_, dfeatures_;
    Tensors<T> state_, dfinal_;
    std::vector<int64_t> lengths_, ends_;
    std::vector<uint8_t> schedule_;

    // Some cells have stored programs, some a normalised vector, and some that follow a schedule recall; none that take
    // turns do.
    static Config varied(Config config, bool scheduled, unsigned seed) {
        if (config.controllers) return config;
        config.programs = seed % 4, config.temperature = 0.5;
        if (config.programs) config.stores = 1 + seed % 3, config.key = 1 + seed % 2;
        config.normalised = seed % 5 < 2;
        config.squashed_keys = seed % 2, config.drawn = config.programs && seed % 5 == 0;
        if (scheduled) config.cached = seed % 3, config.attention = config.cached ? 3 : 0;
        return config;
    }
    int numbers() const { return Interface<T>::numbers(config_); }
    int features() const { return config_.hidden + config_.reads * config_.word; }
    template <class N> static const N* or_null(const std::vector<N>& numbers) {
        return numbers.empty() ? nullptr : numbers.data();
    }
    void compare(const Tensors<T>& one, const Tensors<T>& other) const {
        if (!(one == other)) fail(name_ + ": the number of threads changes the result");
    }
};

int cases = 0;

template <class T, template <class> class Controller, template <class> class Memory>
void check_sizes(const Cell& cell, bool recurrent) {
    struct Size {
        int steps, batch;
    };
    const Size all[] = {{0, 3}, {1, 1}, {9, 5}, {17, 7}};
    for (const Size& size : all)
        for (int kind = 0; kind < 4; kind++, cases++)
            Case<T, Controller, Memory>(cell, size.steps, size.batch, kind & 1, kind & 2, recurrent,
                                        kind != 3, 7 * cases + kind)
                .check();
}

template <template <class> class Controller, template <class> class Memory>
void check_controller(Cell cell, const std::string& name, int gates, long extra, bool recurrent, bool has_cell) {
    const int hidden = cell.config.hidden;
    cell.name = name + " " + cell.name;
    cell.config.preactivations = gates * hidden;
    cell.extra = extra * hidden;
    cell.state.insert(cell.state.begin(), has_cell ? 2 : 1, hidden);
    check_sizes<float, Controller, Memory>(cell, recurrent);
    check_sizes<double, Controller, Memory>(cell, recurrent);
}

// A memory's step by itself, on one thread and on three.
template <class T, template <class> class Memory> void check_step(const Cell& cell, bool write, bool gradients) {
    const int batch = 5;
    Random random(cases);
    Tensor<T> vectors((long)batch * cell.config.interface, random, -1, 1);
    Tensors<T> state, dfinal, alone;
    for (const long size : cell.state) state.emplace_back(size * batch, random, 0, 0.1);
    for (const long size : cell.state) dfinal.emplace_back(gradients ? size * batch : 0, random, -1, 1);
    const auto from = addresses(state), dfrom = addresses(dfinal);
    for (const int threads : {1, 3}) {
        Config config = cell.config;
        config.steps = 1, config.batch = batch, config.threads = threads;
        Tensors<T> out, dstate;
        for (const long size : cell.state) out.emplace_back(size * batch), dstate.emplace_back(size * batch);
        const auto to = addresses(out), dto = addresses(dstate);
        Tensor<T> dvectors(vectors.size);
        const MemoryStep<T, Memory> step(config);
        step.forward({vectors.get(), from.data(), to.data(), write});
        step.backward({vectors.get(), from.data(), nullptr, write}, {dfrom.data(), dvectors.get(), dto.data()});
        for (auto& part : dstate) out.push_back(std::move(part));
        out.push_back(std::move(dvectors));
        for (const auto& part : out) part.check(cell.name + " step");
        if (threads == 1) alone = std::move(out);
        else if (!(alone == out)) fail(cell.name + " step: the number of threads changes the result");
    }
    cases++;
}

template <template <class> class Memory> void check_controllers(const Cell& cell) {
    check_controller<TanhController, Memory>(cell, "elman", 1, 0, true, false);
    check_controller<TanhController, Memory>(cell, "feed-forward", 1, 0, false, false);
    check_controller<GRUController, Memory>(cell, "gru", 4, 0, true, false);
    check_controller<LSTMController, Memory>(cell, "lstm", 4, 0, true, true);
}

template <template <class> class Memory> void check_memory(const Cell& cell) {
    for (const bool write : {false, true})
        for (const bool gradients : {false, true}) {
            check_step<float, Memory>(cell, write, gradients);
            check_step<double, Memory>(cell, write, gradients);
        }
    check_controllers<Memory>(cell);
    check_controller<LayerNormLSTMController, Memory>(cell, "layer-norm lstm", 4, 10, true, true);
}

// A sum over steps, of all of them and of some.
template <class T> void check_over_steps(long steps, int rows, int columns) {
    Random random(cases++);
    const Tensor<T> left(steps * rows, random, -1, 1), right(steps * columns, random, -1, 1);
    std::vector<int64_t> which;
    for (long k = 0; k < steps; k += 1 + random() % 3) which.push_back(k);
    for (const bool all : {true, false}) {
        const long count = all ? steps : which.size();
        const OverSteps<T> sums(count, all ? nullptr : which.data(), {left.get(), rows, rows},
                                {right.get(), columns, columns});
        const Tensor<T> alone((long)rows * columns), together((long)rows * columns);
        sums.sum(alone.get(), 1), sums.sum(together.get(), 3);
        alone.check("over steps");
        if (!(alone == together)) fail("over steps: the number of threads changes the result");
    }
}

}  // namespace

int main() {
    for (const int rows : {0, 1, 7})
        for (const int columns : {0, 1, 17, 80})
            for (const long steps : {0, 1, 63, 130}) {
                check_over_steps<float>(steps, rows, columns);
                check_over_steps<double>(steps, rows, columns);
            }
    check_memory<NoMemory>(none());
    for (const bool read_first : {false, true}) {
        check_memory<NTMMemory>(ntm(1, 1, 1, 1, 1, read_first));
        check_memory<NTMMemory>(ntm(5, 3, 3, 2, 1, read_first));
        check_memory<NTMMemory>(ntm(17, 9, 5, 3, 2, read_first));
        check_memory<NTMMemory>(ntm(3, 2, 1, 1, 5, read_first));  // the shift reaches further than round
        check_memory<NTMMemory>(ntm(3, 21, 3, 2, 1, read_first));  // few slots lie slot by slot
        check_memory<DNCMemory>(dnc(6, 21, 7, read_first, true, false, 20));
        check_memory<DNCMemory>(dnc(1, 1, 1, read_first, true, false, 20));
        check_memory<DNCMemory>(dnc(5, 3, 3, read_first, true, true, 0.5));
        check_memory<DNCMemory>(dnc(19, 9, 5, read_first, true, false, 0));
        check_memory<DNCMemory>(dnc(33, 2, 4, read_first, true, true, 0));
        check_memory<DNCMemory>(dnc(16, 4, 2, read_first, false, true, 20));
        check_memory<DNCMemory>(dnc(7, 5, 7, read_first, false, false, 0));
        check_memory<DNCMemory>(owning(dnc(19, 3, 2, read_first, true, false, 20), 4, 18));
        check_memory<JoinedMemory>(joined(dnc(5, 3, 2, read_first, true, true, 0.5), 2));
        check_memory<JoinedMemory>(joined(dnc(7, 2, 1, read_first, false, false, 0), 3));
        check_controllers<TurnsMemory>(turns(dnc(6, 3, 2, read_first, true, true, 0.5), 2));
        check_controllers<TurnsMemory>(turns(dnc(20, 9, 1, read_first, true, false, 20), 4));
        check_controllers<TurnsMemory>(turns(dnc(5, 2, 3, read_first, false, false, 0), 5));
        check_controllers<TurnsMemory>(turns(dnc(4, 17, 2, read_first, true, false, 20), 2));
        check_controllers<TurnsMemory>(turns(dnc(1, 1, 1, read_first, true, false, 0), 1));
        check_memory<LRUAMemory>(lrua(1, 1, 1, read_first, true));
        check_memory<LRUAMemory>(lrua(5, 3, 3, read_first, false));
        check_memory<LRUAMemory>(lrua(19, 9, 5, read_first, true));
        check_memory<LRUAMemory>(lrua(4, 2, 4, read_first, true));
    }
    check_memory<DNCMemory>(dnc(513, 1, 1, false, false, false, 0));  // more slots than are sorted by counting
    std::printf("%d sequences, all clean\n", cases);
}
