/* Runs kernels for aarch64 that another process made: reads jobs from standard input, and writes
 * their planes after the kernel to standard output.
 *
 * A job is a header, the code, the runs, and the planes one after the other. Without runs each
 * plane is the register file of a point, and its globals, and the kernel is a point kernel, which
 * is called for each. All numbers are little-endian. Code is written into pages that become
 * executable afterwards, and are never both. The program uses no library and calls Linux itself, so
 * that a compiler is enough to build it. */

#include <stddef.h>
#include <stdint.h>

struct header {
    uint32_t code_bytes, entry, runs, planes, plane_bytes, vector_bytes, steps, exit;
};
struct ref {
    uint8_t *at;
    uint64_t mask;
};
struct run {
    uint32_t start, vectors;
};

enum { READ = 63, WRITE = 64, EXIT = 93, MAP = 222, PROTECT = 226 };
enum { READABLE = 1, WRITABLE = 2, EXECUTABLE = 4, PRIVATE = 2, ANONYMOUS = 32 };

static long ask(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
    return x0;
}

static void fail(const char *what) {
    size_t length = 0;
    while (what[length] != 0) length++;
    ask(WRITE, 2, (long)what, (long)length, 0, 0, 0);
    ask(EXIT, 1, 0, 0, 0, 0, 0);
}

/* Whether there was anything more to read. */
static int read_all(void *to, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        long more = ask(READ, 0, (long)to + (long)done, (long)(bytes - done), 0, 0, 0);
        if (more == 0 && done == 0) return 0;
        if (more <= 0) fail("the input ends early\n");
        done += (size_t)more;
    }
    return 1;
}

static void write_all(const void *from, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        long more = ask(WRITE, 1, (long)from + (long)done, (long)(bytes - done), 0, 0, 0);
        if (more <= 0) fail("the output is closed\n");
        done += (size_t)more;
    }
}

static uint8_t *map(size_t bytes) {
    long at = ask(MAP, 0, (long)bytes, READABLE | WRITABLE, PRIVATE | ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096) fail("no memory\n");
    return (uint8_t *)at;
}

/* A buffer that grows, and whose contents may be lost then. */
struct buffer {
    uint8_t *at;
    size_t size;
};

static void *grow(struct buffer *buffer, size_t bytes) {
    if (bytes > buffer->size) {
        buffer->size = (2 * bytes + 0xffff) & ~(size_t)0xffff;
        buffer->at = map(buffer->size);
    }
    return buffer->at;
}

/* The libcalls, by number: what Rust makes of these operators. */

/* The integer mantissa of a magnitude, and its power of two. */
static uint32_t whole(uint32_t bits, int *power) {
    *power = (int)(bits >> 23);
    if (*power == 0) {
        *power = 1;
        return bits;
    }
    return (bits & 0x7fffff) | 0x800000;
}

static uint32_t remainder_of_floats(uint32_t a, uint32_t b) {
    uint32_t sign = a & 0x80000000, x = a & 0x7fffffff, y = b & 0x7fffffff;
    if (x >= 0x7f800000 || y > 0x7f800000 || y == 0) return 0x7fc00000;
    if (x < y) return a;
    int from, to;
    uint64_t rest = whole(x, &from), divisor = whole(y, &to);
    for (rest %= divisor; from > to; from--) rest = rest * 2 % divisor;
    if (rest == 0) return sign;
    while (rest < 0x800000 && to > 1) {
        rest *= 2;
        to--;
    }
    uint32_t power = rest < 0x800000 ? 0 : (uint32_t)to << 23;
    return sign | power | ((uint32_t)rest & 0x7fffff);
}

static uint32_t quotient(uint32_t a, uint32_t b) {
    if (b == 0) return 0;
    return b == UINT32_MAX ? 0 - a : (uint32_t)((int32_t)a / (int32_t)b);
}
static uint32_t rest(uint32_t a, uint32_t b) {
    if (b == 0 || b == UINT32_MAX) return 0;
    return (uint32_t)((int32_t)a % (int32_t)b);
}
static uint32_t unsigned_quotient(uint32_t a, uint32_t b) { return b == 0 ? 0 : a / b; }
static uint32_t unsigned_rest(uint32_t a, uint32_t b) { return b == 0 ? 0 : a % b; }

#define EACH(name, of)                                                     \
    static void name(uint32_t *a, const uint32_t *b, size_t elements) {       \
        for (size_t i = 0; i < elements; i++) a[i] = of(a[i], b[i]);          \
    }
EACH(each_remainder_of_floats, remainder_of_floats)
EACH(each_quotient, quotient)
EACH(each_rest, rest)
EACH(each_unsigned_quotient, unsigned_quotient)
EACH(each_unsigned_rest, unsigned_rest)

typedef void callee(uint32_t *a, const uint32_t *b, size_t elements);

/* The first two result registers of a kernel. */
struct exit_state {
    uint64_t exit, steps;
};

/* Calls a kernel, with numbers in the registers that it has to preserve; the clobbered vector
 * registers hold nothing. */
static struct exit_state call_kernel(const void *kernel, const void *first, const void *second, uint64_t third, uint64_t fourth, callee **callees) {
    uint64_t saved[8], found[8];
    for (int i = 0; i < 8; i++) saved[i] = 0x0123456789abcdef * (uint64_t)(i + 1);
    register const void *x0 __asm__("x0") = first;
    register const void *x1 __asm__("x1") = second;
    register uint64_t x2 __asm__("x2") = third;
    register uint64_t x3 __asm__("x3") = fourth;
    register callee **x4 __asm__("x4") = callees;
    register const void *x19 __asm__("x19") = kernel;
    register uint64_t *x20 __asm__("x20") = saved;
    register uint64_t *x21 __asm__("x21") = found;
    register uint64_t x22 __asm__("x22");
    __asm__ volatile(
        "ldp d8, d9, [x20]\n ldp d10, d11, [x20, 16]\n ldp d12, d13, [x20, 32]\n ldp d14, d15, [x20, 48]\n"
        "mov x22, sp\n blr x19\n mov x9, sp\n sub x22, x22, x9\n"
        "stp d8, d9, [x21]\n stp d10, d11, [x21, 16]\n stp d12, d13, [x21, 32]\n stp d14, d15, [x21, 48]\n"
        : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "=&r"(x22)
        : "r"(x19), "r"(x20), "r"(x21)
        : "memory", "cc", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x30",
          "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
          "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
    if (x22 != 0) fail("the stack pointer was not restored\n");
    for (int i = 0; i < 8; i++) {
        if (saved[i] != found[i]) fail("d8 to d15 were not restored\n");
    }
    return (struct exit_state){(uint64_t)x0, (uint64_t)x1};
}

static struct buffer code, runs, planes, refs;

void _start(void) {
    callee *callees[] = {each_remainder_of_floats, each_quotient, each_rest, each_unsigned_quotient, each_unsigned_rest};
    struct header header;
    while (read_all(&header, sizeof header)) {
        if (code.size != 0) ask(PROTECT, (long)code.at, (long)code.size, READABLE | WRITABLE, 0, 0, 0);
        uint8_t *kernel = grow(&code, header.code_bytes);
        read_all(kernel, header.code_bytes);
        if (ask(PROTECT, (long)code.at, (long)code.size, READABLE | EXECUTABLE, 0, 0, 0) != 0) fail("code cannot be run\n");
        __builtin___clear_cache((char *)kernel, (char *)kernel + header.code_bytes);

        struct run *each = grow(&runs, header.runs * sizeof *each);
        read_all(each, header.runs * sizeof *each);
        size_t bytes = (size_t)header.planes * header.plane_bytes;
        uint8_t *first = grow(&planes, bytes);
        read_all(first, bytes);
        struct ref *words = grow(&refs, header.planes * sizeof *words);
        for (uint32_t i = 0; i < header.planes; i++) {
            words[i] = (struct ref){first + (size_t)i * header.plane_bytes, UINT64_MAX};
        }
        if (header.runs != 0) {
            call_kernel(kernel + header.entry, words, each, header.runs, header.vector_bytes, callees);
        } else {
            for (uint32_t i = 0; i < header.planes; i++) {
                struct exit_state state = call_kernel(kernel + header.entry, words[i].at, words[i].at, header.steps, (uint64_t)callees, callees);
                if (state.exit != header.exit || state.steps != header.steps) fail("a point exited elsewhere\n");
            }
        }
        write_all(first, bytes);
    }
    ask(EXIT, 0, 0, 0, 0, 0, 0);
}
