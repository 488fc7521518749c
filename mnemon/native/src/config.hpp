// What a kernel is told: the sizes of a cell and of a call, and where the tensors are.
#pragma once

#include <cstdint>

#include "vector.hpp"

namespace mnemon {

// The same fields in the same order as _Config in mnemon/native/library.py.
struct Config {
    int32_t steps, batch, input, hidden, preactivations, interface;  // T, B, I, H, P, X
    int32_t slots, word, reads, writes, shift_reach;          // N, W, R, V
    int32_t read_first, links, masked_lookup, erase_freed, sharp_links, strengths;
    int32_t own_first, own_end;                               // the slots that a DNC writes; both 0: all
    int32_t parts;                                            // joined memories; X and R are those of all, N of one
    int32_t controllers;                                      // that take turns; I, H, P, X and R are those of all
    int32_t programs, stores, key, squashed_keys, drawn;      // P, S, K of stored programs; no programs: linear
    int32_t normalised;                                       // whether ξ is
    int32_t cached, attention;                                // outputs that are recalled, and K of what chooses them
    int32_t checkpoint_every, threads, keep_records;
    double clip, decay, temperature;
};

inline int controllers(const Config& c) { return c.controllers ? c.controllers : 1; }

// What a step does with the memory; the numbers of Access in mnemon/writing.py. In a schedule, kRecall is added to it
// where the last outputs are recalled before the step, and above kTurns there is a bit for each who takes a turn.
enum Access : uint8_t { kHold = 0, kRead = 1, kWrite = 2 };
constexpr uint8_t kRecall = 4;
constexpr int kTurns = 3;

// Hands out places in a record: every field starts at a whole vector.
template <class T> struct Places {
    long used = 0;
    long take(long numbers) {
        const long here = used;
        used += padded<T>((int)numbers);
        return here;
    }
};

// The tensors of a forward call. Time first; rows are contiguous. State tensors come in the order of the Python
// NamedTuples: controller's first, then the memory's.
template <class T> struct Forward {
    const T* inputs;           // T B I
    const T* from_inputs;      // P × (I + R·W): acts on [x_t, r_{t−1}]
    const T* from_hidden;      // P × H: acts on h_{t−1}; null: nothing does
    const T* bias;             // P, or null
    const T* interface;        // Z × H, where Z = X, or P X + S (K + 1) with stored programs
    const T* interface_bias;   // Z, or null
    const T* extra;            // more parameters of the controller, and after them gains and biases of a normalised ξ
    const T* keys;             // S P K: of the programs, or null
    const T* attention;        // weights that choose what is recalled, or null
    const T* cache;            // B L H: the outputs before h_0, the last one last, or null
    const int64_t* ends;       // S: where each store's part of the interface vector ends, or null
    const T* noise;            // T B S P: added to the programs' logits, or null
    const T* const* state;     // before the first step
    const int64_t* lengths;    // B, or null: all rows are T long
    const uint8_t* schedule;   // T B: an Access for every step and row, or null: all write
    T* features;               // T B (H + R·W)
    T* const* final_state;
    T* records;                // (T + 1) B × a controller's record; 2 B of them when nothing is kept
    T* memory_records;         // likewise
    T* checkpoints;            // ⌈T / every⌉ B × content
    T* recalled;               // T B H: filled where a step recalled with what it went on from; null: not kept
};

// The tensors of a backward call, beside those of the forward one.
template <class T> struct Backward {
    const T* dfeatures;            // T B (H + R·W)
    const T* const* dfinal_state;  // an entry may be null: no gradient
    T* dpreactivations;            // T B P
    T* dinterface;                 // T B Z
    T* dextra;                     // B × extra
    T* dkeys;                      // B × S P K
    T* dattention;                 // B × its weights
    T* dcache;                     // B L H
    T* const* dstate;
};

}  // namespace mnemon
