// The DNC's memory (mnemon/memory/dnc.py): one sample, one step, forward and backward.
//
// Heads are numbered reads first; the write head is the last. The interface vector has for every read head
// [k, β, f, π, mask, sharpness] and for the write head [k, β, e, v, g^a, g^w, mask]; forward leaves it activated in the
// record. Content, what is kept every few steps and played back, is the memory, then the links row by row.
#pragma once

#include <algorithm>

#include "allocation.hpp"
#include "config.hpp"
#include "contents.hpp"
#include "links.hpp"

namespace mnemon {

template <class T> struct DNCMemory {
    static constexpr int kStates = 7;  // memory, usage, links, precedence, read_weights, write_weights, reads
    int N, Np, W, R, X, own_first, own_end;
    bool owns_all, links, masked, erase_freed, sharp, read_first;
    T clip;
    Contents<T> contents;
    // Within a head's part of the interface vector; k is first, β is at W.
    int free_gate, modes, mask, sharpness, read_head, erase, add, allocation_gate, write_gate, write_mask;
    // In a record. Rows of all heads have the write head's last.
    long xi, raw, ik, im, similarity, content, kept, usage, order, products, write_weights, read_weights;
    long precedence, forward_links, backward_links, sharp_forward, sharp_backward, available;
    long links_at, content_size, carry_size, scratch_size;  // the first within the content

    DNCMemory(const Config& c, Places<T>& places)
        : N(c.slots), Np(padded<T>(c.slots)), W(c.word), R(c.reads), X(c.interface),
          own_first(c.own_first), own_end(c.own_end ? c.own_end : c.slots),
          owns_all(own_first == 0 && own_end == c.slots), links(c.links), masked(c.masked_lookup),
          erase_freed(c.erase_freed), sharp(c.sharp_links), read_first(c.read_first), clip((T)c.clip),
          contents(N, W, masked || erase_freed), free_gate(W + 1), modes(W + 2), mask(modes + (links ? 3 : 0)),
          sharpness(mask + (masked ? W : 0)), read_head(sharpness + (sharp ? 2 : 0)), erase(W + 1), add(2 * W + 1),
          allocation_gate(3 * W + 1), write_gate(3 * W + 2), write_mask(3 * W + 3), xi(places.take(X)),
          raw(places.take(clip > 0 ? X : 0)), ik(places.take(R + 1)), im(places.take(inverses())),
          similarity(places.take((R + 1) * Np)), content(places.take((R + 1) * Np)), kept(places.take(N)),
          usage(places.take(N)), order(places.take(N)), products(places.take(N)),
          write_weights(places.take(N)), read_weights(links ? places.take(R * Np) : content),
          precedence(places.take(links ? N : 0)), forward_links(places.take(links ? R * Np : 0)),
          backward_links(places.take(links ? R * Np : 0)),
          sharp_forward(sharp ? places.take(R * Np) : forward_links),
          sharp_backward(sharp ? places.take(R * Np) : backward_links),
          available(owns_all ? usage : places.take(N)),
          links_at(contents.numbers()), content_size(links_at + (links ? (long)N * Np : 0)),
          carry_size(content_size + (long)(R + 3) * Np),
          scratch_size((long)(3 * R + 4 + (links ? kRowsNear : 0) + (erase_freed ? W : 0)) * Np +
                       2 * padded<T>(R + 1)) {}

    // ---- from and to the tensors of the state ----

    void begin(T* record, T* memory, const T* const* state, long row) const {
        contents.in(state[0] + row * N * W, memory);
        rows_in(state[1] + row * N, 1, N, record + usage);
        if (links) rows_in(state[2] + row * N * N, N, N, memory + links_at);
        if (links) rows_in(state[3] + row * N, 1, N, record + precedence);
        rows_in(state[4] + row * R * N, R, N, record + read_weights);
        rows_in(state[5] + row * N, 1, N, record + write_weights);
        if (!masked) contents.inverse_lengths(memory, record + im);
    }
    void end(const T* record, const T* memory, T* const* state, long row) const {
        contents.out(memory, state[0] + row * N * W);
        rows_out(record + usage, 1, N, state[1] + row * N);
        if (links) rows_out(memory + links_at, N, N, state[2] + row * N * N);
        if (links) rows_out(record + precedence, 1, N, state[3] + row * N);
        rows_out(record + read_weights, R, N, state[4] + row * R * N);
        rows_out(record + write_weights, 1, N, state[5] + row * N);
    }
    void begin_backward(T* carry, const T* const* dstate, long row) const {
        const Carry d = parts(carry);
        if (dstate[0]) contents.in(dstate[0] + row * N * W, d.memory);
        if (dstate[1]) rows_in(dstate[1] + row * N, 1, N, d.usage);
        if (links && dstate[2]) rows_in(dstate[2] + row * N * N, N, N, d.links);
        if (links && dstate[3]) rows_in(dstate[3] + row * N, 1, N, d.precedence);
        if (dstate[4]) rows_in(dstate[4] + row * R * N, R, N, d.read_weights);
        if (dstate[5]) rows_in(dstate[5] + row * N, 1, N, d.write_weights);
    }
    void end_backward(T* carry, T* const* dstate, long row) const {
        const Carry d = parts(carry);
        contents.out(d.memory, dstate[0] + row * N * W);
        rows_out(d.usage, 1, N, dstate[1] + row * N);
        if (links) rows_out(d.links, N, N, dstate[2] + row * N * N);
        if (links) rows_out(d.precedence, 1, N, dstate[3] + row * N);
        rows_out(d.read_weights, R, N, dstate[4] + row * R * N);
        rows_out(d.write_weights, 1, N, dstate[5] + row * N);
    }

    // ---- forward ----

    void forward(T* record, const T* before, T* memory, T* reads, bool write, T* scratch) const {
        activate(record);
        use(record, before);
        if (read_first) find_content(record, memory, before + im, 0, R, scratch);
        if (write) {
            find_write(record, before, memory, scratch);
        } else {
            set_zero(record + write_weights, Np);
        }
        if (links) follow_links(record, before, memory + links_at, write);
        if (read_first) find_reads(record, memory, reads);
        if (write) {
            change(record, memory, memory);
            if (!masked) contents.inverse_lengths(memory, record + im);
        } else if (!masked) {
            std::memcpy(record + im, before + im, Np * sizeof(T));
        }
        if (!read_first) {
            find_content(record, memory, record + im, 0, R, scratch);
            find_reads(record, memory, reads);
        }
    }

    // The content after a step from the content before it, by what the records keep. The step's own backward wants no
    // links after it; so after the last that is played back there are none.
    void replay(const T* record, const T* before, const T* memory_before, T* memory_after, bool write,
                bool last) const {
        if (!write) {
            std::memcpy(memory_after, memory_before, (last ? links_at : content_size) * sizeof(T));
            return;
        }
        change(record, memory_before, memory_after);
        if (links && !last)
            update_links(memory_before + links_at, memory_after + links_at, 0, N, Np, before + precedence,
                         record + write_weights);
    }

    // ---- backward ----

    // carry holds the gradients of the state after the step and receives those of the state before it; dxi receives the
    // gradient of the raw vector.
    void backward(const T* record, const T* before, const T* memory_before, const T* memory_after, const T* dreads,
                  T* carry, T* dxi, bool write, T* scratch) const {
        const Carry d = parts(carry);
        const Scratch s = rooms(scratch);
        set_zero(s.dkept, Np);
        if (!write) set_zero(d.write_weights, Np);  // they were 0, whatever came before
        if (read_first && write) change_backward(record, memory_before, d, dxi, s);
        reads_backward(record, before, read_first ? memory_before : memory_after, dreads, d, dxi, s);
        if (links) follow_links_backward(record, before, memory_before + links_at, d, write, s);
        if (!read_first && write) change_backward(record, memory_before, d, dxi, s);
        if (write) {
            find_write_backward(record, before, memory_before, d, dxi, s);
        } else {
            set_zero(dxi + (long)R * read_head, X - R * read_head);
        }
        use_backward(record, before, d, dxi, s);
        if (clip > 0)
            for (int i = 0; i < X; i++) dxi[i] = record[raw + i] >= -clip && record[raw + i] <= clip ? dxi[i] : 0;
    }

    // ---- for memories that are made of this one ----

    struct Carry {
        T *memory, *links, *usage, *precedence, *read_weights, *write_weights;
    };
    Carry parts(T* carry) const {
        T* rows = carry + content_size;
        return {carry, carry + links_at, rows, rows + Np, rows + 2 * Np, rows + (long)(R + 2) * Np};
    }
    long inverses() const { return (long)(masked ? R + 1 : 1) * Np; }           // at `im`
    long write_vector() const { return (long)R * read_head + add; }             // in the interface vector
    T clipped(T value) const { return clip > 0 ? std::min(std::max(value, -clip), clip) : value; }

  private:
    struct Scratch {
        T *strengths, *dstrengths, *dcontent, *dforward, *dbackward, *row, *dkept, *dallocated, *near, *freed;
    };
    Scratch rooms(T* scratch) const {
        T* rows = scratch + 2 * padded<T>(R + 1);
        auto take = [&](long count) { return rows += count * Np, rows - count * Np; };
        return {scratch, scratch + padded<T>(R + 1), take(R + 1), take(R), take(R), take(1), take(1), take(1),
                take(links ? kRowsNear : 0), rows};
    }

    // The part of the vector that head h has; the write head is number R.
    long head(int h) const { return xi + (long)h * read_head; }
    long mask_of(int h) const { return head(h) + (h < R ? mask : write_mask); }

    void activate(T* record) const {
        if (clip > 0) {
            std::memcpy(record + raw, record + xi, X * sizeof(T));
            for (int i = 0; i < X; i++) record[xi + i] = clipped(record[xi + i]);
        }
        for (int h = 0; h <= R; h++) {
            T* part = record + head(h);
            part[W] = 1 + softplus(part[W]);
            if (masked) squash(record + mask_of(h), W);
            if (!masked) record[ik + h] = inverse_length(part, W);
            if (h == R) continue;
            squash(part + free_gate, 1);
            if (links) choose(part + modes);
            for (int i = sharpness; i < read_head; i++) part[i] = 1 + softplus(part[i]);
        }
        T* write = record + head(R);
        squash(write + erase, W);
        squash(write + allocation_gate, 2);
    }
    static void squash(T* x, int n) {
        map(x, x, n, [](Vec<T> v) { return sigmoid<T>(v); });
    }
    static void choose(T* x) {
        const T most = std::max(x[0], std::max(x[1], x[2]));
        for (int i = 0; i < 3; i++) x[i] = std::exp(x[i] - most);
        const T scale = 1 / (x[0] + x[1] + x[2]);
        for (int i = 0; i < 3; i++) x[i] *= scale;
    }
    // The slope of 1 + softplus where it is `value`: σ(x) = 1 − e^{−softplus(x)}.
    static T slope(T value) { return 1 - std::exp(1 - value); }

    // ψ = Π_r (1 − f_r w_r),  u = (u + w − u w)_{t−1} ψ.
    void use(T* record, const T* before) const {
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> keep = spread<T>(1);
            for (int r = 0; r < R; r++)
                keep -= keep * record[head(r) + free_gate] * load<T>(before + read_weights + (long)r * Np + j);
            Vec<T> used = load<T>(before + usage + j), written = load<T>(before + write_weights + j);
            store<T>(record + kept + j, keep);
            store<T>(record + usage + j, (used + written - used * written) * keep);
        }
    }

    // With t = u + w − u w of before: dψ += du t,  du_{t−1} = du ψ (1 − w),  dw_{t−1} = du ψ (1 − u). With
    // others_r = dψ Π_{q≠r} (1 − f_q w_q): df_r = −Σ others_r w_r,  dw_r −= f_r others_r. Of that product, the heads
    // before r are kept in rows, and those after it run along.
    void use_backward(const T* record, const T* before, const Carry& d, T* dxi, const Scratch& s) const {
        T* left = s.dforward;  // not needed any more
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> used = load<T>(before + usage + j), written = load<T>(before + write_weights + j);
            Vec<T> dused = load<T>(d.usage + j), product = spread<T>(1);
            store<T>(s.dkept + j, load<T>(s.dkept + j) + dused * (used + written - used * written));
            dused *= load<T>(record + kept + j);
            store<T>(d.usage + j, dused * (1 - written));
            store<T>(d.write_weights + j, dused * (1 - used));
            for (int r = 0; r < R; r++) {
                store<T>(left + (long)r * Np + j, product);
                product -= product * record[head(r) + free_gate] * load<T>(before + read_weights + (long)r * Np + j);
            }
        }
        for (int r = R - 1; r >= 0; r--) {
            const T gate = record[head(r) + free_gate];
            const T* weights = before + read_weights + (long)r * Np;
            T* dweights = d.read_weights + (long)r * Np;
            Vec<T> dgate{};
            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> running = load<T>(s.dkept + j), weight = load<T>(weights + j);  // dψ times those from the right
                Vec<T> others = running * load<T>(left + (long)r * Np + j);
                dgate -= others * weight;
                store<T>(dweights + j, load<T>(dweights + j) - others * gate);
                store<T>(s.dkept + j, running - running * gate * weight);
            }
            dxi[(long)r * read_head + free_gate] = sum<T>(dgate) * gate * (1 - gate);
        }
    }

    // Content weights of `count` heads from `first` on.
    void find_content(T* record, const T* memory, const T* inverse, int first, int count, T* scratch) const {
        const T* keys = record + head(first);
        const long rows = (long)first * Np;
        for (int h = 0; h < count; h++) scratch[h] = record[head(first + h) + W];
        if (masked)
            masked_look_up(memory, W, N, count, keys, record + mask_of(first), read_head, scratch, record + ik + first,
                           record + im + rows, record + similarity + rows, record + content + rows);
        else
            contents.look_up(memory, inverse, count, keys, read_head, record + ik + first, scratch,
                             record + similarity + rows, record + content + rows);
    }

    // dcontent is used up.
    void find_content_backward(const T* record, const T* memory, const T* inverse, int first, int count, T* dcontent,
                               T* dmemory, T* dxi, const Scratch& s) const {
        const T* keys = record + head(first);
        T* dkeys = dxi + (long)first * read_head;
        const long rows = (long)first * Np;
        for (int h = 0; h < count; h++) s.strengths[h] = record[head(first + h) + W];
        if (masked) {
            T* dmasks = dxi + mask_of(first) - xi;
            masked_look_up_backward(memory, W, Np, count, keys, record + mask_of(first), read_head, s.strengths,
                                    record + ik + first, record + im + rows, record + similarity + rows,
                                    record + content + rows, dcontent, dkeys, dmasks, s.dstrengths, dmemory);
            for (int h = 0; h < count; h++)
                for (int w = 0; w < W; w++) {
                    const T m = record[mask_of(first + h) + w];
                    dmasks[(long)h * read_head + w] *= m * (1 - m);
                }
        } else {
            contents.look_up_backward(memory, inverse, count, keys, read_head, record + ik + first, s.strengths,
                                      record + similarity + rows, record + content + rows, dcontent, dkeys, read_head,
                                      s.dstrengths, dmemory, s.row);
        }
        for (int h = 0; h < count; h++) dkeys[(long)h * read_head + W] = s.dstrengths[h] * slope(s.strengths[h]);
    }

    // w = g^w (g^a a + (1 − g^a) c).
    // Where some slots belong to others, these count as used up, and the content weights are those of the own slots.
    void find_write(T* record, const T* before, const T* memory, T* scratch) const {
        find_content(record, memory, before + im, R, 1, scratch);
        if (!owns_all) keep_to_own(record);
        multiply_less_used(record + available, N, scratch, (int32_t*)(record + order), record + products);
        const T *part = record + head(R), *c = record + content + (long)R * Np;
        const T by_allocation = part[write_gate] * part[allocation_gate], by_content = part[write_gate] - by_allocation;
        for (int j = 0; j < Np; j += kLanes<T>)
            store<T>(record + write_weights + j,
                     by_allocation * allocation(record + available + j, record + products + j) +
                         by_content * load<T>(c + j));
    }

    // A softmax over some of the slots is that over all of them, cut and divided by what is left; its gradient is then
    // that of any softmax with these weights.
    void keep_to_own(T* record) const {
        T* c = record + content + (long)R * Np;
        std::memcpy(record + available, record + usage, Np * sizeof(T));
        for (int j = 0; j < N; j++)
            if (j < own_first || j >= own_end) c[j] = 0, record[available + j] = 1;
        const T scale = 1 / total_of(c);
        for (int j = 0; j < Np; j += kLanes<T>) store<T>(c + j, scale * load<T>(c + j));
    }

    // dg^w = Σ dw (g^a a + (1 − g^a) c),  dg^a = g^w Σ dw (a − c),  da = g^w g^a dw,  dc = g^w (1 − g^a) dw.
    void find_write_backward(const T* record, const T* before, const T* memory, const Carry& d, T* dxi,
                             const Scratch& s) const {
        const T *part = record + head(R), *c = record + content + (long)R * Np;
        const T ga = part[allocation_gate], gw = part[write_gate];
        for (int j = 0; !owns_all && j < N; j++)
            if (j < own_first || j >= own_end) d.write_weights[j] = 0;  // they were 0, whatever came before
        Vec<T> with_allocated{}, with_content{};
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> dw = load<T>(d.write_weights + j);
            with_allocated += dw * allocation(record + available + j, record + products + j);
            with_content += dw * load<T>(c + j);
            store<T>(s.dallocated + j, gw * ga * dw);
            store<T>(s.dcontent + j, gw * (1 - ga) * dw);
        }
        const T a = sum<T>(with_allocated), b = sum<T>(with_content);
        T* dpart = dxi + (long)R * read_head;
        dpart[write_gate] = (ga * a + (1 - ga) * b) * gw * (1 - gw);
        dpart[allocation_gate] = gw * (a - b) * ga * (1 - ga);
        find_content_backward(record, memory, before + im, R, 1, s.dcontent, d.memory, dxi, s);
        allocation_backward(record + available, N, (const int32_t*)(record + order), record + products, s.dallocated,
                            d.usage);
    }

    // M_t = (M_{t−1} ψ) ∘ (1 − w eᵀ) + w vᵀ, with ψ only if what is freed is erased.
    void change(const T* record, const T* before, T* after) const {
        const T* part = record + head(R);
        if (erase_freed) {
            scale_slots(before, record + kept, after);
            before = after;
        }
        contents.erase_and_add(before, after, 1, record + write_weights, part + erase, part + add, 0);
    }
    void scale_slots(const T* memory, const T* scale, T* scaled) const {
        for (int w = 0; w < W; w++)
            for (int j = 0; j < Np; j += kLanes<T>)
                store<T>(scaled + (long)w * Np + j, load<T>(memory + (long)w * Np + j) * load<T>(scale + j));
    }

    // As erase_and_add_backward; then dψ += Σ_w dM M_{t−1} and dM ← dM ψ.
    void change_backward(const T* record, const T* before, const Carry& d, T* dxi, const Scratch& s) const {
        const T* part = record + head(R);
        T* dpart = dxi + (long)R * read_head;
        if (erase_freed) scale_slots(before, record + kept, s.freed);
        contents.erase_and_add_backward(erase_freed ? s.freed : before, 1, record + write_weights, part + erase,
                                        part + add, 0, d.memory, d.write_weights, dpart + erase, dpart + add, 0);
        for (int w = 0; w < W; w++) dpart[erase + w] *= part[erase + w] * (1 - part[erase + w]);
        if (!erase_freed) return;
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> total = load<T>(s.dkept + j);
            for (long w = 0; w < W; w++) total += load<T>(d.memory + w * Np + j) * load<T>(before + w * Np + j);
            store<T>(s.dkept + j, total);
        }
        scale_slots(d.memory, record + kept, d.memory);
    }

    // The links and the precedence move on, and the heads follow the links before or after that.
    void follow_links(T* record, const T* before, T* matrix, bool write) const {
        const T *previous = before + read_weights, *written = record + write_weights;
        set_zero(record + forward_links, (long)R * Np);
        set_zero(record + backward_links, (long)R * Np);
        for (int first = 0; first < N; first += kRowsNear) {
            const int last = std::min(N, first + kRowsNear);
            T* rows = matrix + (long)first * Np;
            if (write && !read_first) update_links(matrix, matrix, first, last, Np, before + precedence, written);
            follow(rows, last - first, Np, R, previous, record + forward_links + first);
            retrace(rows, last - first, Np, R, previous + first, record + backward_links);
            if (write && read_first) update_links(matrix, matrix, first, last, Np, before + precedence, written);
        }
        const T keep = write ? 1 - total_of(written) : 1;
        for (int j = 0; j < Np; j += kLanes<T>)
            store<T>(record + precedence + j, keep * load<T>(before + precedence + j) + load<T>(written + j));
    }
    T total_of(const T* row) const {
        Vec<T> total{};
        for (int j = 0; j < Np; j += kLanes<T>) total += load<T>(row + j);
        return sum<T>(total);
    }

    // p = (1 − Σ w) p_{t−1} + w:  dw(i) += dp(i) − Σ_j dp(j) p_{t−1}(j),  dp_{t−1} = (1 − Σ w) dp; then the links.
    void follow_links_backward(const T* record, const T* before, const T* matrix, const Carry& d, bool write,
                               const Scratch& s) const {
        const T* written = record + write_weights;
        if (write) {
            const T lost = dot(d.precedence, before + precedence, Np), keep = 1 - total_of(written);
            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> dp = load<T>(d.precedence + j);
                store<T>(d.write_weights + j, load<T>(d.write_weights + j) + dp - lost);
                store<T>(d.precedence + j, keep * dp);
            }
            zero_padding(d.write_weights, N);
        }
        const LinkGradients<T> g{N, Np, R, matrix, written, before + precedence, before + read_weights, s.dforward,
                                 s.dbackward, d.links, d.write_weights, d.precedence, d.read_weights};
        if (!write) links_backward<T, false, false>(g, s.near);
        else if (read_first) links_backward<T, true, true>(g, s.near);
        else links_backward<T, true, false>(g, s.near);
    }

    // w_r = π(1) b + π(2) c + π(3) f, b and f sharpened or not; r = Σ w M. Content weights and links are there already.
    void find_reads(T* record, const T* memory, T* reads) const {
        for (int r = 0; links && r < R; r++) {
            const T* part = record + head(r);
            const long row = (long)r * Np;
            T *b = record + sharp_backward + row, *f = record + sharp_forward + row;
            if (sharp) {
                sharpen(record + backward_links + row, N, part[sharpness], b);
                sharpen(record + forward_links + row, N, part[sharpness + 1], f);
            }
            const T* c = record + content + row;
            for (int j = 0; j < Np; j += kLanes<T>)
                store<T>(record + read_weights + row + j, part[modes] * load<T>(b + j) +
                                                              part[modes + 1] * load<T>(c + j) +
                                                              part[modes + 2] * load<T>(f + j));
        }
        contents.read(memory, R, record + read_weights, reads);
    }

    // dπ = (Σ dw b, Σ dw c, Σ dw f) and on through its softmax; db = π(1) dw, dc = π(2) dw, df = π(3) dw, the outer two
    // on through their sharpening. Leaves dforward and dbackward for the links, and dw_{t−1} at 0 for them to add to.
    void reads_backward(const T* record, const T* before, const T* memory, const T* dreads, const Carry& d, T* dxi,
                        const Scratch& s) const {
        contents.read_backward(memory, R, record + read_weights, dreads, d.read_weights, d.memory);
        for (int r = 0; links && r < R; r++) modes_backward(record, r, d.read_weights + (long)r * Np, dxi, s);
        if (!links) std::memcpy(s.dcontent, d.read_weights, (long)R * Np * sizeof(T));
        set_zero(d.read_weights, (long)R * Np);
        find_content_backward(record, memory, (read_first ? before : record) + im, 0, R, s.dcontent, d.memory, dxi, s);
    }
    void modes_backward(const T* record, int r, const T* dweights, T* dxi, const Scratch& s) const {
        const T *part = record + head(r), *mode = part + modes;
        const long row = (long)r * Np;
        const T *b = record + sharp_backward + row, *c = record + content + row, *f = record + sharp_forward + row;
        T *db = s.dbackward + row, *dc = s.dcontent + row, *df = s.dforward + row;
        Vec<T> total[3] = {};
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> dw = load<T>(dweights + j);
            total[0] += dw * load<T>(b + j);
            total[1] += dw * load<T>(c + j);
            total[2] += dw * load<T>(f + j);
            store<T>(db + j, mode[0] * dw);
            store<T>(dc + j, mode[1] * dw);
            store<T>(df + j, mode[2] * dw);
        }
        T* dpart = dxi + (long)r * read_head;
        T sums[3], inner = 0;
        for (int i = 0; i < 3; i++) inner += mode[i] * (sums[i] = sum<T>(total[i]));
        for (int i = 0; i < 3; i++) dpart[modes + i] = mode[i] * (sums[i] - inner);
        if (!sharp) return;
        const T back = part[sharpness], forth = part[sharpness + 1];
        dpart[sharpness] = sharpen_backward(record + backward_links + row, b, Np, back, db) * slope(back);
        dpart[sharpness + 1] = sharpen_backward(record + forward_links + row, f, Np, forth, df) * slope(forth);
    }
};

}  // namespace mnemon
