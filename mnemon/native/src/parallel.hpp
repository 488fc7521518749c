// Threads and workspaces. OpenMP, because torch's own pool is OpenMP too: a second kind of pool would fight it.
#pragma once

#include <cstdlib>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mnemon {

// Numbers too small to be normal count as zero while a kernel runs: processors are slow with them, and faint weightings
// are full of them. The caller's mode comes back afterwards.
class FlushDenormals {
  public:
#if defined(__x86_64__)
    FlushDenormals() : mode_(_mm_getcsr()) { _mm_setcsr(mode_ | 0x8040); }
    ~FlushDenormals() { _mm_setcsr(mode_); }

  private:
    unsigned mode_;
#endif
};

// Calls work(0) … work(count − 1), each once, on so many threads.
template <class Work> void in_parallel(int count, int threads, Work work) {
    if (threads < 2 || count < 2) {
        FlushDenormals guard;
        for (int i = 0; i < count; i++) work(i);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        FlushDenormals guard;
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < count; i++) work(i);
    }
}

// Memory that a thread keeps between calls: fresh large blocks cost more in page faults than the work done in them.
class Workspace {
  public:
    ~Workspace() { std::free(block_); }
    template <class T> T* get(long numbers) {
        const size_t wanted = numbers * sizeof(T);
        if (wanted > size_) {
            std::free(block_);
            size_ = (wanted + 4095) / 4096 * 4096;
            block_ = std::aligned_alloc(4096, size_);
            if (!block_) throw std::bad_alloc();
        }
        return static_cast<T*>(block_);
    }

  private:
    void* block_ = nullptr;
    size_t size_ = 0;
};

}  // namespace mnemon
