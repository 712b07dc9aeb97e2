// Light of distant lamps (Phong 1975) and their shadows, after the relief of `camera.cu`. blockIdx.x is the press.

// Unit normal of the surface: right, up, towards the camera.
struct Normal {
    float x, y, z;
    __device__ __forceinline__ Normal(float right, float down) {
        z = 1.0f / sqrtf(1.0f + right * right + down * down);
        x = right * z;
        y = -down * z;
    }
    __device__ __forceinline__ float along(const float* direction) const { return direction[0] * x + direction[1] * y + direction[2] * z; }
};

// An integer power by repeated squaring.
__device__ __forceinline__ float power(float factor, int exponent) {
    float product = 1.0f;
    for (int left = exponent; left > 0; left >>= 1) {
        if (left & 1) product *= factor;
        factor *= factor;
    }
    return product;
}

// Adds the light of a lamp, of which `part` reaches the pixel.
__device__ __forceinline__ void add_lamp(const Lamp& lamp, int shininess, const Normal& normal, float part, float* level) {
    float diffuse = fmaxf(normal.along(lamp.direction), 0.0f), specular = 0.0f;
    if (lamp.specular[0] != 0.0f || lamp.specular[1] != 0.0f || lamp.specular[2] != 0.0f) {
        // A face that points away from the lamp has no highlight.
        specular = power(diffuse > 0.0f ? fmaxf(2.0f * diffuse * normal.z - lamp.direction[2], 0.0f) : 0.0f, shininess);
    }
    diffuse *= part;
    specular *= part;
    for (int c = 0; c < 3; c++) {
        if (lamp.diffuse[c] != 0.0f || lamp.specular[c] != 0.0f) {
            level[c] += (diffuse - lamp.flat[0]) * lamp.diffuse[c] + (specular - lamp.flat[1]) * lamp.specular[c];
        }
    }
}

// Phong light: background plus (n·l − flat) diffuse + ((r·v)^shininess − flat) specular of each lamp. `lit`: the fraction of each lamp's
// light that reaches each pixel, or null without shadows. blockIdx.y: 256 pixels, one per thread.
extern "C" __global__ void __launch_bounds__(256) shade_phong(CameraView view, const Lamp* lamps, int count, int shininess, const float* background, const float* lit,
                                                              const float* z, const float* margins, const int* rim, const Tap* across,
                                                              const Tap* down, const float* tracks, ImageOutputs images) {
    const int pixels = view.width * view.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int row = i / view.width, col = i % view.width;
    float right, downward, level[3];
    slopes(view, z + (long long)blockIdx.x * pixels, row, col, right, downward);
    const Normal normal(right, downward);
    for (int c = 0; c < 3; c++) level[c] = background[c * pixels + i];
    for (int k = 0; k < count; k++) add_lamp(lamps[k], shininess, normal, lit ? lit[((long long)blockIdx.x * count + k) * pixels + i] : 1.0f, level);
    write_pixel(view, level, row, col, margins + (long long)blockIdx.x * view.nodes[0] * view.nodes[1], rim[blockIdx.x] != 0, across, down,
           tracks + 2ll * blockIdx.x * view.markers, images, (long long)blockIdx.x * pixels + i);
}

// The fraction of each lamp's light that reaches each pixel. The largest height so far, decreasing with the slope of the ray, is propagated
// away from the lamp from one line of pixels to the next; a pixel h below it gets 1 − strength · smoothstep(h/softness). blockIdx.y: lamp;
// one pixel of a line per thread. Shared memory: two lines.
extern "C" __global__ void __launch_bounds__(256) cast_shadows(CameraView view, const Lamp* lamps, float strength, float softness, float pixel, const float* z,
                                                               float* lits) {
    extern __shared__ float shared[];
    const int pixels = view.width * view.height;
    const float right = lamps[blockIdx.y].direction[0], up = lamps[blockIdx.y].direction[1], towards = lamps[blockIdx.y].direction[2];
    const float* own = z + (long long)blockIdx.x * pixels;
    float* lit = lits + ((long long)blockIdx.x * gridDim.y + blockIdx.y) * pixels;
    const bool sideways = fabsf(right) >= fabsf(up);
    const float along = sideways ? right : up, aside = sideways ? up : right;
    if (along == 0.0f) {
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) lit[i] = 1.0f;
        return;
    }
    // Lines run across the ray's main direction; `shift` is the motion of the ray along a line from one line to the next.
    const int lines = sideways ? view.width : view.height, length = sideways ? view.height : view.width;
    const float shift = sideways ? up / fabsf(right) : -right / fabsf(up);
    const float fall = pixel * sqrtf(1.0f + (aside / along) * (aside / along)) * towards / sqrtf(right * right + up * up);
    const bool reversed = (sideways && right > 0.0f) || (!sideways && up < 0.0f);
    float *carried = shared, *next = shared + length;
    for (int at = threadIdx.x; at < length; at += blockDim.x) carried[at] = -__int_as_float(0x7f800000);
    __syncthreads();
    for (int k = 0; k < lines; k++) {
        const int line = reversed ? lines - 1 - k : k;
        for (int at = threadIdx.x; at < length; at += blockDim.x) {
            const int i = sideways ? at * view.width + line : line * view.width + at;
            const float from = fminf(fmaxf(at - shift, 0.0f), length - 1.0f);
            const int low = (int)from, high = min(low + 1, length - 1);
            const float part = from - low;
            const float ray = (part == 0.0f ? carried[low] : carried[low] * (1.0f - part) + carried[high] * part) - fall, height = -own[i];
            const float hidden = fminf(fmaxf((ray - height) / softness, 0.0f), 1.0f);
            lit[i] = 1.0f - strength * hidden * hidden * (3.0f - 2.0f * hidden);
            next[at] = fmaxf(ray, height);
        }
        __syncthreads();
        float* other = carried;
        carried = next;
        next = other;
    }
}
