// Arrays of other libraries: `View`, declared on the host (environments/view.rs). A null address stands for an array that is not bound.

// Element types, numbered as on the host.
#define VIEW_F64 0
#define VIEW_F32 1
#define VIEW_U8 2
#define VIEW_I32 3
#define VIEW_I64 4

__device__ __forceinline__ i64 view_index(const View& view, u32 i, u32 j, u32 k) {
    return view.strides[0] * (i64)i + view.strides[1] * (i64)j + view.strides[2] * (i64)k;
}
__device__ __forceinline__ double number_at(const View& view, u32 i, u32 j, u32 k) {
    i64 index = view_index(view, i, j, k);
    if (view.kind == VIEW_F32) return (double)((const float*)view.address)[index];
    if (view.kind == VIEW_F64) return ((const double*)view.address)[index];
    if (view.kind == VIEW_I32) return (double)((const i32*)view.address)[index];
    return view.kind == VIEW_U8 ? (double)((const u8*)view.address)[index] : (double)((const i64*)view.address)[index];
}
// The vector of three numbers of row i, from column `first` on.
__device__ __forceinline__ Vec3 row_vector(const View& view, u32 i, u32 first) {
    return vec3(number_at(view, i, first, 0), number_at(view, i, first + 1, 0), number_at(view, i, first + 2, 0));
}
// Writes one number; does nothing where the array is not bound.
__device__ __forceinline__ void set_number(const View& view, u32 i, u32 j, u32 k, Scalar value) {
    if (view.address == 0) return;
    i64 index = view_index(view, i, j, k);
    if (view.kind == VIEW_F32)
        ((float*)view.address)[index] = (float)value;
    else
        ((double*)view.address)[index] = value;
}
// Reads COUNT numbers of row i, from column j on: one, or four f32 side by side (`View::has_fours`).
template <u32 COUNT> __device__ __forceinline__ void numbers_at(const View& view, u32 i, u32 j, double* numbers) {
    if constexpr (COUNT == 1) {
        numbers[0] = number_at(view, i, j, 0);
    } else {
        const float4 four = *(const float4*)((const float*)view.address + (view.strides[0] * (i64)i + j));
        numbers[0] = four.x, numbers[1] = four.y, numbers[2] = four.z, numbers[3] = four.w;
    }
}
// Writes such numbers.
template <u32 COUNT> __device__ __forceinline__ void set_numbers(const View& view, u32 i, u32 j, const double* numbers) {
    if constexpr (COUNT == 1)
        set_number(view, i, j, 0, (Scalar)numbers[0]);
    else
        *(float4*)((float*)view.address + (view.strides[0] * (i64)i + j)) = make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
}
// Adds to one number of an array of floating-point numbers.
__device__ __forceinline__ void add_number(const View& view, u32 i, u32 j, u32 k, Scalar value) {
    i64 index = view_index(view, i, j, k);
    if (view.kind == VIEW_F32)
        ((float*)view.address)[index] = (float)(value + ((const float*)view.address)[index]);
    else
        ((double*)view.address)[index] += value;
}
// Writes a vector into row i, from column `first` on.
__device__ __forceinline__ void set_row_vector(const View& view, u32 i, u32 first, Vec3 v) {
    set_number(view, i, first, 0, v.x);
    set_number(view, i, first + 1, 0, v.y);
    set_number(view, i, first + 2, 0, v.z);
}
// Adds a vector to row i, from column `first` on.
__device__ __forceinline__ void add_row_vector(const View& view, u32 i, u32 first, Vec3 v) {
    add_number(view, i, first, 0, v.x);
    add_number(view, i, first + 1, 0, v.y);
    add_number(view, i, first + 2, 0, v.z);
}
// Writes a vector as elements (i, j, 0 … 2).
__device__ __forceinline__ void set_vector(const View& view, u32 i, u32 j, Vec3 v) {
    set_number(view, i, j, 0, v.x);
    set_number(view, i, j, 1, v.y);
    set_number(view, i, j, 2, v.z);
}
