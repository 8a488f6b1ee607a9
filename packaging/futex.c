/* Waits with a limit, on systems of 32 bits whose C library has times of 64 bits.
 *
 * The standard library of Rust asks futex(2) by syscall(3), and gives it the time of the C library. On 32 bits that call reads a
 * time of 32 bits, so that a wait ends at once or a second early; futex_time64(2) reads one of 64. The linker puts
 * __wrap_syscall in the place of syscall (--wrap=syscall, see tools.sh).
 */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* linux/arch/arm/tools/syscall.tbl and its like of other processors: the same number on all of 32 bits, since Linux 5.1. */
#define FUTEX_TIME64 422
/* The command without its flags, and the commands that take a limit: linux/futex.h. */
#define FUTEX_COMMAND 127
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAIT_REQUEUE_PI 11

_Static_assert(sizeof(long) == 4 && sizeof(time_t) == 8, "for 32 bits with times of 64 bits");

long __real_syscall(long number, ...);

static int waits(long operation)
{
    switch (operation & FUTEX_COMMAND) {
    case FUTEX_WAIT:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
        return 1;
    default:
        return 0;
    }
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number != SYS_futex || !d || !waits(b))
        return __real_syscall(number, a, b, c, d, e, f);
    long done = __real_syscall(FUTEX_TIME64, a, b, c, d, e, f);
    if (done != -1 || errno != ENOSYS)
        return done;
    /* Before Linux 5.1. */
    const struct timespec *limit = (const struct timespec *)d;
    int32_t old[2] = {limit->tv_sec > INT32_MAX ? INT32_MAX : (int32_t)limit->tv_sec, (int32_t)limit->tv_nsec};
    return __real_syscall(SYS_futex, a, b, c, (long)old, e, f);
}
