// Parameters of one environment (`Randomisation`, environments/randomisation.rs), in this order.
#define STIFFNESS 0
#define FRICTION 1
#define GAIN_FACTOR 2
#define THRESHOLD_FACTOR 3
#define NOISE_FACTOR 4
#define SPREAD_FACTOR 5
#define POSITION 6
#define ROTATION 9
#define PARAMETERS 12

// Finaliser of SplitMix64 (Steele et al. 2014).
__device__ __forceinline__ u64 mixed(u64 x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
