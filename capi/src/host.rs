//! The host's callbacks: textures, messages, cancellation.

use crate::argument::Argument;
use crate::guard::Result;
use crate::pointer::read_slice;
use crate::sized_struct::{SizedStruct, read_struct_or_default};
use adumbra::{
    Host, Outcome, Program, SampleRequest, Sampled, Texel, TexelSlopes, host::MessageId,
};
use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::ops::DerefMut;
use std::ptr::{null, null_mut};

/// How far a point came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraOutcome {
    /// The shader returned.
    Finished = 0,
    /// A limit was met: outputs are zero, closures empty; the last fault says why.
    Stopped = 1,
    /// The point waits for a texture.
    Pending = 2,
}

impl From<Outcome> for AdumbraOutcome {
    fn from(outcome: Outcome) -> AdumbraOutcome {
        match outcome {
            Outcome::Finished => AdumbraOutcome::Finished,
            Outcome::Stopped => AdumbraOutcome::Stopped,
            Outcome::Pending => AdumbraOutcome::Pending,
        }
    }
}

/// A host's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraAnswer {
    /// The texel is there.
    Ready = 0,
    /// Not yet: the point waits, and the request is not made again.
    Pending = 1,
    /// The texel is there, and its slopes.
    Sloped = 2,
}

/// A texture request: coordinates, and how both change towards the next pixel along x and y.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraSampleRequest {
    /// Bytes of this struct.
    pub size: u32,
    /// Which texture, by its number among the program's.
    pub texture: u32,
    /// The number of the point: in the batch, 0 to 3 in a quad, 0 for a point alone. It is 0 also
    /// in the request of an evaluator or a parked point.
    pub point: usize,
    /// Coordinate along the texture's width; the image spans 0 to 1.
    pub u: f32,
    /// Coordinate along its height.
    pub v: f32,
    /// du/dx, per pixel.
    pub dudx: f32,
    /// du/dy, per pixel.
    pub dudy: f32,
    /// dv/dx, per pixel.
    pub dvdx: f32,
    /// dv/dy, per pixel.
    pub dvdy: f32,
    /// The level of detail that the shader asks for itself, if `has_level`; the four changes are 0
    /// then.
    pub level: f32,
    /// 1 if the shader asks for a level of detail itself.
    pub has_level: u32,
    /// 1 if the point is evaluated for its neighbours alone; 0 in the request of an evaluator or a
    /// parked point.
    pub is_helper: u32,
    /// Where the slopes of the texel go, if the program was compiled with `texture_slopes` and the
    /// point needs them: ∂/∂u of red, green, blue, alpha, then ∂/∂v of each, per texture, with the
    /// level held. A callback that writes them gives `ADUMBRA_ANSWER_SLOPED`. NULL if they are not
    /// needed, and in the request of an evaluator or a parked point.
    pub slopes: *mut f32,
    /// 1 if the point needs slopes.
    pub wants_slopes: u32,
}

// SAFETY: numbers, of which zeros are some.
unsafe impl SizedStruct for AdumbraSampleRequest {}

impl AdumbraSampleRequest {
    pub(crate) fn new(
        request: &SampleRequest,
        point: usize,
        is_helper: bool,
        slopes: *mut f32,
    ) -> Self {
        AdumbraSampleRequest {
            size: size_of::<AdumbraSampleRequest>() as u32,
            texture: request.texture.0,
            point,
            u: request.u,
            v: request.v,
            dudx: request.dudx,
            dudy: request.dudy,
            dvdx: request.dvdx,
            dvdy: request.dvdy,
            level: request.level.unwrap_or(0.0),
            has_level: u32::from(request.level.is_some()),
            is_helper: u32::from(is_helper),
            slopes,
            wants_slopes: u32::from(request.slopes),
        }
    }
}

/// The requests that many points of a batch make at one call of the shader: each field as an array
/// of `count` numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraSampleBatch {
    /// Bytes of this struct.
    pub size: u32,
    /// Which texture, by its number among the program's.
    pub texture: u32,
    /// The number of points.
    pub count: usize,
    /// The numbers of the points in the batch, rising.
    pub points: *const usize,
    /// Coordinates along the texture's width; the image spans 0 to 1.
    pub u: *const f32,
    /// Coordinates along its height.
    pub v: *const f32,
    /// du/dx, per pixel.
    pub dudx: *const f32,
    /// du/dy, per pixel.
    pub dudy: *const f32,
    /// dv/dx, per pixel.
    pub dvdx: *const f32,
    /// dv/dy, per pixel.
    pub dvdy: *const f32,
    /// The levels of detail that the shader asks for itself; NULL if it does not.
    pub level: *const f32,
    /// Where the slopes of each texel go, eight without gaps, as in `AdumbraSampleRequest`; NULL if
    /// they are not needed.
    pub slopes: *mut f32,
}

/// Writes red, green, blue, alpha, and slopes where they are needed; gives an `AdumbraAnswer`.
pub type AdumbraSample = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        request: *const AdumbraSampleRequest,
        texel: *mut f32,
    ) -> u32,
>;

/// Writes red, green, blue and alpha for each point without gaps, and an `AdumbraAnswer` for each
/// into `answers`, which are `ADUMBRA_ANSWER_READY` before.
pub type AdumbraSampleMany = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        batch: *const AdumbraSampleBatch,
        texels: *mut f32,
        answers: *mut u8,
    ),
>;

/// Takes the adjoint of a sample, the derivative by each number of its texel: red, green, blue,
/// alpha; after them, if the request wants slopes, the derivatives by these eight. `slopes` of the
/// request is NULL.
pub type AdumbraTextureAdjoint = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        request: *const AdumbraSampleRequest,
        adjoint: *const f32,
    ),
>;

/// Takes a message that a point gives with `printf`; `text` ends with NUL and has `length` bytes
/// before it.
pub type AdumbraTakeMessage = Option<
    unsafe extern "C" fn(user: *mut c_void, point: usize, text: *const c_char, length: usize),
>;

/// Gives a number other than 0 if the point is to be stopped. It is called every few milliseconds,
/// or more often.
pub type AdumbraIsCancelled = Option<unsafe extern "C" fn(user: *mut c_void) -> u32>;

/// The callbacks of an evaluation. All may be NULL: then textures are white, messages and adjoints
/// are lost, and no point is cancelled.
///
/// Callbacks run on the thread that evaluates, those of sums on as many as they have, and must
/// return: no exceptions, no `longjmp`. They run in the library's floating-point environment; a
/// callback that changes it restores it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraHost {
    /// Bytes of this struct.
    pub size: u32,
    /// Passed to the callbacks.
    pub user: *mut c_void,
    /// Answers one request.
    pub sample: AdumbraSample,
    /// Answers the requests of many points at once. If it is NULL, and for helpers of quads,
    /// `sample` is called for each.
    pub sample_many: AdumbraSampleMany,
    /// Takes messages.
    pub message: AdumbraTakeMessage,
    /// Cancels points.
    pub is_cancelled: AdumbraIsCancelled,
    /// Takes the adjoints of samples, for a gradient by a texture.
    pub texture_adjoint: AdumbraTextureAdjoint,
}

// SAFETY: a number, a pointer and functions that may be missing, of which zeros are some.
unsafe impl SizedStruct for AdumbraHost {
    // The first versions had no adjoints.
    const FIRST: usize = offset_of!(AdumbraHost, texture_adjoint);
}

/// Memory for the columns of requests, kept from one sample to the next.
#[derive(Debug, Default)]
pub(crate) struct RequestColumns {
    /// u, v, their four changes, and levels.
    fields: [Vec<f32>; 7],
    texels: Vec<[f32; 4]>,
    /// Along u, then along v.
    slopes: Vec<[[f32; 4]; 2]>,
    answers: Vec<u8>,
}

impl RequestColumns {
    fn take(&mut self, requests: &[SampleRequest]) {
        let of = |field: fn(&SampleRequest) -> f32| requests.iter().map(field);
        let fields: [fn(&SampleRequest) -> f32; 7] = [
            |r| r.u,
            |r| r.v,
            |r| r.dudx,
            |r| r.dudy,
            |r| r.dvdx,
            |r| r.dvdy,
            |r| r.level.unwrap_or(0.0),
        ];
        for (column, field) in self.fields.iter_mut().zip(fields) {
            column.clear();
            column.extend(of(field));
        }
        self.texels.clear();
        self.texels.resize(requests.len(), WHITE);
        self.slopes.clear();
        if requests.iter().any(|request| request.slopes) {
            self.slopes.resize(requests.len(), [[0.0; 4]; 2]);
        }
        self.answers.clear();
        self.answers.resize(requests.len(), 0);
    }
}

/// The callbacks as engines know a host. The columns are an evaluator's, or its own.
pub(crate) struct Callbacks<'a, C> {
    host: AdumbraHost,
    program: &'a Program,
    columns: C,
    point: usize,
}

/// The callbacks of an evaluation on several threads.
pub(crate) struct SharedCallbacks<'a> {
    host: AdumbraHost,
    program: &'a Program,
}

// SAFETY: the caller promised that its callbacks may run on several threads at once, with what
// `user` points at.
unsafe impl Sync for SharedCallbacks<'_> {}

impl<'a> SharedCallbacks<'a> {
    /// # Safety
    /// As for [`Callbacks::new`]; several threads may call them at once.
    pub(crate) unsafe fn new(
        host: Argument<*const AdumbraHost>,
        program: &'a Program,
    ) -> Result<SharedCallbacks<'a>> {
        // SAFETY: the caller promises that `host` is NULL or a struct of its size.
        let host = unsafe { read_struct_or_default(host)? };
        Ok(SharedCallbacks { host, program })
    }

    /// Those of one thread.
    pub(crate) fn of_thread(&self) -> Callbacks<'a, Box<RequestColumns>> {
        Callbacks {
            host: self.host,
            program: self.program,
            columns: Box::default(),
            point: 0,
        }
    }
}

impl<'a, C: DerefMut<Target = RequestColumns>> Callbacks<'a, C> {
    /// # Safety
    /// As for [`read_struct_or_default`]; the callbacks are functions of the types that the struct
    /// says, and return.
    pub(crate) unsafe fn new(
        host: Argument<*const AdumbraHost>,
        program: &'a Program,
        columns: C,
    ) -> Result<Callbacks<'a, C>> {
        Ok(Callbacks {
            // SAFETY: the caller promises that `host` is NULL or a struct of its size.
            host: unsafe { read_struct_or_default(host)? },
            program,
            columns,
            point: 0,
        })
    }

    fn ask(&mut self, request: &SampleRequest, is_helper: bool) -> Sampled {
        let Some(sample) = self.host.sample else {
            return Texel::flat(WHITE).into();
        };
        let (mut texel, mut slopes) = (WHITE, [[0.0; 4]; 2]);
        let place = match request.slopes {
            true => slopes.as_flattened_mut().as_mut_ptr(),
            false => null_mut(),
        };
        let request = AdumbraSampleRequest::new(request, self.point, is_helper, place);
        // SAFETY: the caller's function, by its contract; request, texel and slopes live until it
        // returns.
        let answer = unsafe { sample(self.host.user, &raw const request, texel.as_mut_ptr()) };
        sampled(answer, texel, slopes)
    }
}

/// What textures are without a callback.
const WHITE: [f32; 4] = [1.0; 4];

fn sampled(answer: u32, texel: [f32; 4], [u, v]: [[f32; 4]; 2]) -> Sampled {
    const READY: u32 = AdumbraAnswer::Ready as u32;
    const SLOPED: u32 = AdumbraAnswer::Sloped as u32;
    match answer {
        READY => Sampled::Ready(texel),
        SLOPED => Sampled::Sloped(texel, TexelSlopes { u, v }),
        _ => Sampled::Pending,
    }
}

impl<C: DerefMut<Target = RequestColumns>> Host for Callbacks<'_, C> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.ask(request, false)
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.ask(request, true)
    }

    fn sample_batch(
        &mut self,
        points: &[usize],
        requests: &[SampleRequest],
        answers: &mut [Sampled],
    ) {
        let (Some(sample), [first, ..]) = (self.host.sample_many, requests) else {
            for ((&point, request), answer) in points.iter().zip(requests).zip(answers) {
                self.at_point(point);
                *answer = self.sample(request);
            }
            return;
        };
        self.columns.take(requests);
        let [u, v, dudx, dudy, dvdx, dvdy, level] = self.columns.fields.each_ref().map(Vec::as_ptr);
        let batch = AdumbraSampleBatch {
            size: size_of::<AdumbraSampleBatch>() as u32,
            texture: first.texture.0,
            count: requests.len(),
            points: points.as_ptr(),
            u,
            v,
            dudx,
            dudy,
            dvdx,
            dvdy,
            level: if first.level.is_some() { level } else { null() },
            slopes: match self.columns.slopes.as_mut_slice() {
                [] => null_mut(),
                slopes => slopes.as_flattened_mut().as_flattened_mut().as_mut_ptr(),
            },
        };
        // SAFETY: the caller's function, by its contract; the columns are as long as the batch
        // says, and live until it returns.
        unsafe {
            let texels = self.columns.texels.as_flattened_mut().as_mut_ptr();
            let answers = self.columns.answers.as_mut_ptr();
            sample(self.host.user, &raw const batch, texels, answers);
        }
        let given = self.columns.texels.iter().zip(&self.columns.answers);
        for (i, (answer, (&texel, &given))) in answers.iter_mut().zip(given).enumerate() {
            let slopes = self.columns.slopes.get(i).copied().unwrap_or_default();
            *answer = sampled(given.into(), texel, slopes);
        }
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        let Some(take) = self.host.texture_adjoint else {
            return;
        };
        let TexelSlopes { u, v } = adjoint.slopes.unwrap_or_default();
        let numbers = [adjoint.numbers, u, v];
        let request = AdumbraSampleRequest::new(request, self.point, false, null_mut());
        // SAFETY: the caller's function, by its contract; request and numbers live until it
        // returns.
        unsafe {
            let numbers = numbers.as_flattened().as_ptr();
            take(self.host.user, &raw const request, numbers);
        }
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        let Some(take) = self.host.message else {
            return;
        };
        let mut text = self.program.messages()[message.index()].render(args);
        let length = text.len();
        text.push('\0');
        // SAFETY: the caller's function, by its contract; the string lives until it returns.
        unsafe { take(self.host.user, self.point, text.as_ptr().cast(), length) }
    }

    fn is_cancelled(&mut self) -> bool {
        // SAFETY: the caller's function, by its contract.
        let ask = self
            .host
            .is_cancelled
            .map(|ask| unsafe { ask(self.host.user) });
        ask.is_some_and(|answer| answer != 0)
    }
}

/// The texel that a caller brings for a point that waited, and its slopes unless they are NULL.
///
/// # Safety
/// As for [`read_slice`], of four numbers, and of eight.
pub(crate) unsafe fn read_texel(
    texel: Argument<*const f32>,
    slopes: Argument<*const f32>,
) -> Result<Texel> {
    // SAFETY: the caller promises four numbers there.
    let numbers = four(unsafe { read_slice(texel, 4)? });
    let slopes = match slopes.value.is_null() {
        true => None,
        false => {
            // SAFETY: the caller promises eight numbers there.
            let all = unsafe { read_slice(slopes, 8)? };
            let (u, v) = (four(&all[..4]), four(&all[4..]));
            Some(TexelSlopes { u, v })
        }
    };
    Ok(Texel { numbers, slopes })
}

fn four(numbers: &[f32]) -> [f32; 4] {
    std::array::from_fn(|channel| numbers[channel])
}
