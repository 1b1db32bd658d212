//! The C reference: `c/point.c` and `c/batch.c` as built by each compiler found, with each set of
//! transcendentals, at each SIMD level; `c/networks.c` at each, too; and `c/edges.c` at AVX2.

use adumbra::batch::SimdLevel;
use adumbra_cli::benchmarks::PixelGlobals;

/// A value with both shadows, in the memory layout of C.
pub type CDual = adumbra::Dual<f32>;

/// A program at one point.
#[repr(C)]
pub struct PointProgram {
    /// Value alone.
    pub value: extern "C" fn(&PixelGlobals) -> f32,
    /// Value and shadows.
    pub dual: extern "C" fn(&PixelGlobals, &mut CDual),
}

/// The exports of `c/point.c`: W1 to W4, and the first 50 statements of W4.
#[repr(C)]
pub struct PointTable {
    /// W1 to W4.
    pub programs: [PointProgram; 4],
    /// The first 50 statements of W4, value and shadows.
    pub first50: extern "C" fn(&PixelGlobals, &mut CDual),
}

/// The planes that a batch reads.
#[repr(C)]
struct PlanesIn {
    x: *const f32,
    y: *const f32,
    sx: CDual,
    sy: CDual,
}

/// The planes that it writes.
#[repr(C)]
struct PlanesOut {
    v: *mut f32,
    x: *mut f32,
    y: *mut f32,
}

type Run = unsafe extern "C" fn(&PlanesIn, &PlanesOut, usize);

/// A program over many points.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct BatchProgram {
    values: Run,
    duals: Run,
}

/// The exports of `c/batch.c`: W1 to W4, the first 50 statements of W4, and a second version of
/// those of the four that have one, with dual numbers throughout.
#[repr(C)]
pub struct BatchTable {
    programs: [BatchProgram; 4],
    first50: Run,
    forward: [Option<Run>; 4],
}

/// One build of the C reference over one point.
pub struct CPoint {
    /// The compiler.
    pub compiler: &'static str,
    /// `equal`: the algorithms of our engines. `cheap`: polynomials of 2 to 5 ulp.
    pub maths: &'static str,
    /// Its programs.
    pub table: &'static PointTable,
}

/// One build of the C reference over many points.
pub struct CBatch {
    /// The compiler.
    pub compiler: &'static str,
    /// As for a [`CPoint`].
    pub maths: &'static str,
    /// The SIMD level that it needs: `avx2` or `avx512`.
    pub level: &'static str,
    /// The number of interleaved vectors.
    pub interleave: usize,
    table: &'static BatchTable,
}

/// The parameters of a disc.
#[repr(C)]
pub struct CDisc {
    pub r: f32,
    pub cx: f32,
    pub cy: f32,
    pub alpha: f32,
    pub paint: [f32; 3],
}

/// The exports of `c/edges.c`.
#[repr(C)]
pub struct EdgeTable {
    gradient: unsafe extern "C" fn(&CDisc, i32, i32, &[*mut f32; 7]),
}

/// One build of gradients through edges.
pub struct CEdges {
    /// The compiler.
    pub compiler: &'static str,
    table: &'static EdgeTable,
}

/// The most pixels of a line.
const MOST_OF_LINE: usize = 4096;

impl CEdges {
    /// Writes the gradient of a disc's image, by its floats.
    ///
    /// # Panics
    /// If a line has more than 4,096 pixels, or a plane is too short.
    pub fn gradient(&self, disc: &CDisc, [width, height]: [usize; 2], planes: &mut [Vec<f32>; 7]) {
        assert!(width <= MOST_OF_LINE);
        assert!(planes.iter().all(|plane| plane.len() >= width * height));
        let planes = planes.each_mut().map(|plane| plane.as_mut_ptr());
        // SAFETY: each plane has a float for each pixel, and a line fits C's memory of lines; C
        // keeps no pointer. The processor has AVX2, which `edges` checks.
        unsafe { (self.table.gradient)(disc, width as i32, height as i32, &planes) }
    }
}

/// Every build of gradients through edges that this processor can run.
pub fn edges() -> Vec<CEdges> {
    match SimdLevel::Avx2.is_available() {
        true => tables::edges(),
        false => Vec::new(),
    }
}

/// The exports of `c/networks.c`: a network with 2 inputs and 16 neurons in each hidden layer, and
/// one with 3 and 64.
#[repr(C)]
pub struct NetworkTable {
    networks: [NetworkRun; 2],
}

type NetworkRun = unsafe extern "C" fn(i32, *const f32, *const f32, *const f32, *mut f32, usize);

/// One build of the networks.
pub struct CNetworks {
    /// The compiler.
    pub compiler: &'static str,
    /// The SIMD level that it needs.
    pub level: &'static str,
    table: &'static NetworkTable,
}

impl CNetworks {
    /// Runs a network over all points: `kind` 0 gives its value, 1 the sum of its gradient by the
    /// inputs, 2 the sum of that by the weights.
    ///
    /// # Panics
    /// If the planes differ in length, their length is not a multiple of 64, or the weights are
    /// not those of the network.
    pub fn run(
        &self,
        index: usize,
        kind: usize,
        weights: &[f32],
        [x, y]: &[Vec<f32>; 2],
        out: &mut [f32],
    ) {
        let points = x.len();
        assert!(y.len() == points && out.len() == points && points.is_multiple_of(BLOCK));
        assert_eq!(weights.len(), [337, 4481][index]);
        let run = self.table.networks[index];
        // SAFETY: all planes have that many floats, a multiple of C's block, and the weights are
        // as many as the network has; C keeps no pointer. `networks` left out builds that this
        // processor cannot run.
        unsafe {
            run(
                kind as i32,
                weights.as_ptr(),
                x.as_ptr(),
                y.as_ptr(),
                out.as_mut_ptr(),
                points,
            )
        }
    }
}

/// Every build of the networks that this processor can run.
pub fn networks() -> Vec<CNetworks> {
    let mut networks = tables::networks();
    networks.retain(|build| SimdLevel::from_name(build.level).is_some_and(SimdLevel::is_available));
    networks
}

/// The most points that a build computes at once.
const BLOCK: usize = 64;

impl CBatch {
    /// Runs program `index` over all points of two planes, seeded along x and y.
    ///
    /// # Panics
    /// If the planes differ in length, or their length is not a multiple of 64.
    pub fn run(
        &self,
        index: usize,
        shadows: bool,
        planes: &[Vec<f32>; 2],
        out: &mut [Vec<f32>; 3],
    ) {
        let BatchProgram { values, duals } = self.table.programs[index];
        call(if shadows { duals } else { values }, planes, out);
    }

    /// Whether there is a program with dual numbers throughout, where the default one has slopes
    /// that were derived by hand.
    pub fn has_forward(&self, index: usize) -> bool {
        self.table.forward[index].is_some()
    }

    /// Runs that program, as [`run`](CBatch::run) does.
    ///
    /// # Panics
    ///
    /// As for [`run`](CBatch::run), or if there is no such program.
    pub fn run_forward(&self, index: usize, planes: &[Vec<f32>; 2], out: &mut [Vec<f32>; 3]) {
        let run = self.table.forward[index].expect("there is such a program");
        call(run, planes, out);
    }

    /// Runs the first 50 statements of W4, value and shadows.
    ///
    /// # Panics
    ///
    /// As for [`run`](CBatch::run).
    pub fn run_first50(&self, planes: &[Vec<f32>; 2], out: &mut [Vec<f32>; 3]) {
        call(self.table.first50, planes, out);
    }
}

/// Calls a program of a build that this processor can run.
fn call(run: Run, [x, y]: &[Vec<f32>; 2], out: &mut [Vec<f32>; 3]) {
    let points = x.len();
    assert!(y.len() == points && out.iter().all(|plane| plane.len() == points));
    assert!(points.is_multiple_of(BLOCK));
    let seed = |ddx, ddy| CDual {
        value: 0.0,
        ddx,
        ddy,
    };
    let planes = PlanesIn {
        x: x.as_ptr(),
        y: y.as_ptr(),
        sx: seed(1.0, 0.0),
        sy: seed(0.0, 1.0),
    };
    let [v, x, y] = out.each_mut().map(|plane| plane.as_mut_ptr());
    // SAFETY: all planes have that many floats, a multiple of every build's block; C keeps no
    // pointer. `batches` left out builds that this processor cannot run.
    unsafe { run(&planes, &PlanesOut { v, x, y }, points) }
}

mod tables {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/c_reference_tables.rs"));
}

pub use tables::points;

/// Every build over many points that this processor can run.
pub fn batches() -> Vec<CBatch> {
    let mut batches = tables::batches();
    batches.retain(|batch| SimdLevel::from_name(batch.level).is_some_and(SimdLevel::is_available));
    batches
}
