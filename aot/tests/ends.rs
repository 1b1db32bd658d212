//! Tests that machine code, which reads whole SIMD vectors, never reads past the end of a host's
//! plane.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![allow(unsafe_code)]

use adumbra_aot::NativeCompiler;
use adumbra_ir::host::{ConstantTexture, Limits};
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_vm::{BatchMachine, BatchOptions, GlobalSource, Outcome, SimdLevel, lower};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

// SAFETY: the C library defines these functions, with these types on 64-bit Linux.
unsafe extern "C" {
    fn mmap(
        at: *mut c_void,
        len: usize,
        may: c_int,
        how: c_int,
        file: c_int,
        from: i64,
    ) -> *mut c_void;
    fn mprotect(at: *mut c_void, len: usize, may: c_int) -> c_int;
    fn munmap(at: *mut c_void, len: usize) -> c_int;
}

const READ_WRITE: c_int = 3;
const PRIVATE_ANONYMOUS: c_int = 0x22;
/// No page is larger.
const PAGE: usize = 1 << 16;

/// Words that end right before an inaccessible page.
struct Ending {
    start: *mut c_void,
    words: *mut u32,
    len: usize,
}

impl Ending {
    fn new(words: &[u32]) -> Ending {
        // SAFETY: the pages are new, and only the second one is made inaccessible; the words fit
        // the first one.
        unsafe {
            let start = mmap(
                std::ptr::null_mut(),
                2 * PAGE,
                READ_WRITE,
                PRIVATE_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(start as isize, -1, "there is memory");
            assert_eq!(mprotect(start.byte_add(PAGE), PAGE, 0), 0);
            let at: *mut u32 = start.byte_add(PAGE).cast::<u32>().sub(words.len());
            at.copy_from_nonoverlapping(words.as_ptr(), words.len());
            Ending {
                start,
                words: at,
                len: words.len(),
            }
        }
    }

    fn words(&self) -> &[u32] {
        // SAFETY: `new` wrote `len` words there, and only `self` has the pages.
        unsafe { std::slice::from_raw_parts(self.words, self.len) }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // SAFETY: `start` is that of a mapping of two pages, which nothing uses later.
        unsafe { munmap(self.start, 2 * PAGE) };
    }
}

/// The sum of n times x, where n differs from point to point. Each iteration reads x in the host's
/// plane.
const SUM: &str = "adumbra ir 1
    global n: int
    global x: float
    output f: float
    entry main
    fn main() -> (f32) ^0 {
        %0: i32 = global n[0]
        %2: f32 = const 0.0
        %3: i32 = const 0
        %4: i32 = const 1
        %5: f32 = loop ^1 (%6: f32 = %2, %7: i32 = %3) {
            %8: bool = ilt %7, %0
            if %8 ^2 {
                yield
            } else ^3 {
                break ^1 %6
            }
            %1: f32 = global x[0]
            %9: f32 = add %6, %1
            %10: i32 = iadd %7, %4
            continue ^1 %9, %10
        }
        return %5
    }";

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn code_reads_no_plane_past_its_end() {
    let Some(native) = NativeCompiler::new("sum") else {
        return;
    };
    let module = parse(SUM, FileId::MAIN).expect("the source is IR");
    let program = Arc::new(lower(&module).expect("it is small"));
    let native: Arc<dyn adumbra_vm::native::NativeBackend> = Arc::new(native);
    for level in SimdLevel::available() {
        let options = BatchOptions {
            level: Some(level),
            native: Some(native.clone()),
            ..BatchOptions::default()
        };
        let mut machine = BatchMachine::new(program.clone(), Limits::default(), &options);
        for points in [1, 15, 16, 17, 31, 32, 33, 48, 64, 80] {
            let iterations: Vec<u32> = (0..points).map(|point| point % 7).collect();
            let numbers: Vec<u32> = (0..points).map(|p| (p as f32).to_bits()).collect();
            let planes = [Ending::new(&iterations), Ending::new(&numbers)];
            let plane = |index: usize| GlobalSource::Varying {
                words: planes[index].words(),
                stride: 1,
            };
            let same = GlobalSource::Uniform(0);
            let globals = [plane(0), same, same, plane(1), same, same];
            let mut host = ConstantTexture([0.0; 4]);
            machine.run(&globals, &[], 0, points as usize, &mut host);
            for point in 0..points {
                assert_eq!(machine.outcomes()[point as usize], Outcome::Finished);
                let expected = ((point % 7) * point) as f32;
                let found = f32::from_bits(machine.output(0, 0, point as usize));
                assert_eq!(found, expected, "{level}: point {point} of {points}");
            }
        }
    }
}
