// Where Thrust's host back end takes device vectors from: arrays that launches may access, not the host's heap.
#pragma once

#include <thrust/mr/memory_resource.h>

#include "cuda_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace mr {

class new_delete_resource_base : public memory_resource<> {
  public:
    void* do_allocate(std::size_t bytes, std::size_t = THRUST_MR_DEFAULT_ALIGNMENT) override {
        void* vector = nullptr;
        if (cudaMalloc(&vector, bytes) != cudaSuccess) throw std::bad_alloc();
        return vector;
    }
    void do_deallocate(void* vector, std::size_t, std::size_t = THRUST_MR_DEFAULT_ALIGNMENT) override {
        cudaFree(vector);
    }
};

class new_delete_resource final : public new_delete_resource_base {};

}  // namespace mr
THRUST_NAMESPACE_END
