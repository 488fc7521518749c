// Threads and workspaces. OpenMP, because torch's own pool is OpenMP too: a second kind of pool would fight it.
//
// With MNEMON_SANITIZE (`make sanitize`) threads are the standard library's, because ThreadSanitizer does not see into
// OpenMP's, and a workspace is a new block for every call, of the size asked for and full of NaN.
#pragma once

#include <cstdlib>
#include <new>

#if defined(MNEMON_SANITIZE)
#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>
#endif

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
#if defined(MNEMON_SANITIZE)
    std::atomic<int> next{0};
    auto take = [&] {
        FlushDenormals guard;
        for (int i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; i++) pool.emplace_back(take);
    for (auto& thread : pool) thread.join();
#else
#pragma omp parallel num_threads(threads)
    {
        FlushDenormals guard;
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < count; i++) work(i);
    }
#endif
}

// Memory that a thread keeps between calls: fresh large blocks cost more in page faults than the work done in them.
class Workspace {
  public:
    ~Workspace() { std::free(block_); }
    template <class T> T* get(long numbers) {
        const size_t wanted = numbers * sizeof(T);
#if defined(MNEMON_SANITIZE)
        std::free(block_);
        block_ = std::malloc(wanted);
        std::fill_n(static_cast<T*>(block_), numbers, std::numeric_limits<T>::quiet_NaN());
        return static_cast<T*>(block_);
#endif
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
