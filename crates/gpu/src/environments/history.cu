// Compares the numbers of steps (n) that the caller knows of each environment since its reset with ours; one thread per environment. Where it is 0,
// `fresh` is 1 and the environment has to be reset; where it is another number than ours, the status says so. The numbers then count one more step.
extern "C" __global__ void follow(View steps, u32* own, u8* fresh, u32* status, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 given = (u32)number_at(steps, i, 0, 0);
    fresh[i] = given == 0;
    if (given != 0 && given != own[i]) status[i] |= OTHER_HISTORY;
    own[i] = given + 1;
}
