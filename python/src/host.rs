//! The host of all points: answers textures, from images or by calling Python, keeps messages, and
//! stops at Ctrl-C or an exception of a callback.

use crate::locks::locked;
use crate::names::unknown;
use crate::planes::numpy_module;
use crate::texture::{PyTexture, TexelSums};
use adumbra::host::MessageId;
use adumbra::sources::Folder;
use adumbra::{Host, Program, SampleRequest, Sampled, Texel, TexelSlopes};
use adumbra_cli::mip_lookup::lookup;
use adumbra_cli::{MAX_ARGUMENT_WORDS, MAX_MESSAGES};
use adumbra_image::{MipPyramid, TextureSettings};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The time between two looks at Ctrl-C, which need the interpreter's lock.
const SIGNAL_PERIOD: Duration = Duration::from_millis(30);

/// What answers the requests of a texture.
enum TextureSource {
    Image(Arc<MipPyramid>),
    Callback(Py<PyAny>),
}

/// The textures of a program, in its order.
pub struct HostTextures {
    sources: Vec<TextureSource>,
}

impl HostTextures {
    /// Those that are given by name; others from the files that the shader names.
    ///
    /// # Errors
    /// If the program has no texture of a name, or one has no image.
    pub fn new(
        py: Python<'_>,
        program: &Program,
        given: Option<&Bound<'_, PyDict>>,
        root: Option<&Path>,
    ) -> PyResult<HostTextures> {
        let declared = program.textures();
        for name in given.iter().flat_map(|given| given.keys()) {
            let name: String = name.extract()?;
            if !declared.iter().any(|texture| texture.name == name) {
                let known = declared.iter().map(|texture| texture.name.as_str());
                let none = format!("the program has no texture `{name}`");
                return Err(unknown(&name, known, &none, &none));
            }
        }
        let mut sources = Vec::with_capacity(declared.len());
        for texture in declared {
            let settings = || {
                let settings = TextureSettings::of_metadata(|name| texture.metadata_str(name));
                settings.map_err(PyValueError::new_err)
            };
            let own = match given {
                Some(given) => given.get_item(&texture.name)?,
                None => None,
            };
            sources.push(match own {
                Some(value) => match value.cast::<PyTexture>() {
                    Ok(texture) => TextureSource::Image(texture.get().pyramid.clone()),
                    Err(_) if value.is_callable() => TextureSource::Callback(value.unbind()),
                    Err(_) => TextureSource::Image(PyTexture::with(&value, settings()?)?.pyramid),
                },
                None => {
                    let file = program.sources().zip(root).map(|(sources, root)| {
                        let settings = settings()?;
                        let read = |name: &str| Ok(root.join(name));
                        let folder = Folder::new(root);
                        let found = sources.read_texture(texture, &folder, read);
                        let found = found.map_err(|refused| crate::diagnostics::compile_error(py, &refused))?;
                        found.map(|path| PyTexture::with(&path.into_pyobject(py)?.into_any(), settings)).transpose()
                    });
                    match file.transpose()?.flatten() {
                        Some(texture) => TextureSource::Image(texture.pyramid),
                        None => {
                            let name = &texture.name;
                            return Err(PyKeyError::new_err(format!(
                                "the texture `{name}` has no image: give one by textures={{\"{name}\": …}}"
                            )));
                        }
                    }
                }
            });
        }
        Ok(HostTextures { sources })
    }

    /// No gradient by any texture.
    pub fn no_sums(&self) -> Vec<Option<TexelSums>> {
        self.sources.iter().map(|_| None).collect()
    }

    /// The pyramid of a texture, by its number.
    pub fn pyramid(&self, texture: usize) -> Option<&Arc<MipPyramid>> {
        match &self.sources[texture] {
            TextureSource::Image(pyramid) => Some(pyramid),
            TextureSource::Callback(_) => None,
        }
    }
}

/// A message of a point.
type PointMessage = (usize, MessageId, Box<[u32]>);

/// What the hosts of all threads share.
pub struct SharedHost<'a> {
    textures: &'a HostTextures,
    /// By texture, the gradient by its texels, if it is asked for.
    sums: Mutex<Vec<Option<TexelSums>>>,
    /// The thread that looks at Ctrl-C: the one that called.
    caller: ThreadId,
    is_stopped: AtomicBool,
    error: Mutex<Option<PyErr>>,
    messages: Mutex<(Vec<PointMessage>, usize)>,
}

impl<'a> SharedHost<'a> {
    /// A host with these textures, and the gradients that are asked for.
    pub fn new(textures: &'a HostTextures, sums: Vec<Option<TexelSums>>) -> SharedHost<'a> {
        SharedHost {
            textures,
            sums: Mutex::new(sums),
            caller: std::thread::current().id(),
            is_stopped: AtomicBool::new(false),
            error: Mutex::default(),
            messages: Mutex::default(),
        }
    }

    /// The host of a thread.
    pub fn for_thread(&self) -> PointHost<'_> {
        let sums = locked(&self.sums);
        PointHost {
            shared: self,
            sums: sums
                .iter()
                .map(|sums| sums.as_ref().map(TexelSums::empty))
                .collect(),
            watches: std::thread::current().id() == self.caller,
            watched: Instant::now(),
            point: 0,
            messages: Vec::new(),
            words: 0,
            more: 0,
        }
    }

    /// Stops all points; the first error counts.
    fn stop(&self, error: PyErr) {
        locked(&self.error).get_or_insert(error);
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Messages as text, by point and in order, with the number of further ones; and gradients.
    ///
    /// # Errors
    /// What has stopped the points.
    pub fn finish(self, py: Python<'_>, program: &Program) -> PyResult<Finished> {
        if let Some(error) = self
            .error
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            return Err(error);
        }
        // A signal that came after the last look.
        py.check_signals()?;
        let (mut kept, mut more) = self
            .messages
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        kept.sort_by_key(|(point, ..)| *point);
        more += kept.len().saturating_sub(MAX_MESSAGES);
        kept.truncate(MAX_MESSAGES);
        let messages = PyList::empty(py);
        for (point, message, args) in kept {
            messages.append((point, program.messages()[message.index()].render(&args)))?;
        }
        Ok(Finished {
            messages: messages.unbind(),
            more,
            sums: self
                .sums
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        })
    }
}

/// What hosts leave.
pub struct Finished {
    /// Pairs of a point and a text.
    pub messages: Py<PyList>,
    /// How many further ones there were.
    pub more: usize,
    /// By texture, the gradient by its texels.
    pub sums: Vec<Option<TexelSums>>,
}

/// The host of one thread. What it has it adds to the shared host in the end.
pub struct PointHost<'a> {
    shared: &'a SharedHost<'a>,
    sums: Vec<Option<TexelSums>>,
    /// Whether it looks at Ctrl-C.
    watches: bool,
    watched: Instant,
    point: usize,
    messages: Vec<PointMessage>,
    words: usize,
    more: usize,
}

impl PointHost<'_> {
    /// Asks Python for the texels of many requests.
    fn call(
        &self,
        callback: &Py<PyAny>,
        requests: &[SampleRequest],
        answers: &mut [Sampled],
    ) -> PyResult<()> {
        Python::attach(|py| {
            let floats = requests
                .iter()
                .flat_map(|at| [at.u, at.v, at.dudx, at.dudy, at.dvdx, at.dvdy]);
            let floats: Vec<f32> = floats.collect();
            let floats = PyArray1::from_vec(py, floats).reshape([requests.len(), 6])?;
            let levels = requests
                .iter()
                .map(|request| request.level)
                .collect::<Option<Vec<f32>>>();
            let answer = match levels {
                None => callback.call1(py, (floats,))?,
                Some(levels) => {
                    let levels = [("level", PyArray1::from_vec(py, levels))];
                    let levels = PyDict::from_sequence(&levels.into_pyobject(py)?.into_any())?;
                    callback.call(py, (floats,), Some(&levels))?
                }
            };
            read_answers(answer.bind(py), requests.len(), answers)
        })
    }

    /// The answers of requests of one texture.
    fn answer(&self, requests: &[SampleRequest], answers: &mut [Sampled]) {
        let Some(first) = requests.first() else {
            return;
        };
        match &self.shared.textures.sources[first.texture.index()] {
            TextureSource::Image(pyramid) => {
                for (request, answer) in requests.iter().zip(answers) {
                    *answer = lookup(pyramid, request).into();
                }
            }
            TextureSource::Callback(callback) => {
                answers.fill(Texel::flat([0.0; 4]).into());
                // After an error nothing more is asked.
                if !self.shared.is_stopped.load(Ordering::Relaxed)
                    && let Err(error) = self.call(callback, requests, answers)
                {
                    self.shared.stop(error);
                }
            }
        }
    }
}

/// Reads what a callback has answered: four numbers for each request, or twelve, with the slopes
/// along u and v.
fn read_answers(answer: &Bound<'_, PyAny>, count: usize, answers: &mut [Sampled]) -> PyResult<()> {
    let py = answer.py();
    let converted;
    let array = match answer.cast::<PyArray2<f32>>() {
        Ok(array) => array,
        Err(_) => {
            let numpy = numpy_module(py)?;
            let floats = numpy::dtype::<f32>(py);
            converted = numpy.call_method1(intern!(py, "asarray"), (answer, floats))?;
            converted.cast::<PyArray2<f32>>().map_err(|_| {
                let message = "a texture's callback answers with an array (n, 4) of floats";
                PyTypeError::new_err(message)
            })?
        }
    };
    let array = array.try_readonly()?;
    let texels = array.as_array();
    let width = texels.ncols();
    if texels.nrows() != count || !matches!(width, 4 | 12) {
        return Err(PyValueError::new_err(format!(
            "a texture's callback answers {count} requests with an array of shape ({count}, 4), or ({count}, 12) with slopes, not {:?}",
            texels.shape()
        )));
    }
    for (at, answer) in answers.iter_mut().enumerate() {
        let four = |first: usize| [0, 1, 2, 3].map(|number| texels[[at, first + number]]);
        *answer = match width {
            4 => Sampled::Ready(four(0)),
            _ => Sampled::Sloped(
                four(0),
                TexelSlopes {
                    u: four(4),
                    v: four(8),
                },
            ),
        };
    }
    Ok(())
}

impl Host for PointHost<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let mut answers = [Texel::flat([0.0; 4]).into()];
        self.answer(std::slice::from_ref(request), &mut answers);
        let [answer] = answers;
        answer
    }

    fn sample_batch(&mut self, _: &[usize], requests: &[SampleRequest], answers: &mut [Sampled]) {
        self.answer(requests, answers);
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        if let Some(sums) = &mut self.sums[request.texture.index()] {
            sums.add(request, adjoint);
        }
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        let is_full =
            self.messages.len() >= MAX_MESSAGES || self.words + args.len() > MAX_ARGUMENT_WORDS;
        match is_full {
            true => self.more += 1,
            false => {
                self.words += args.len();
                self.messages.push((self.point, message, args.into()));
            }
        }
    }

    fn is_cancelled(&mut self) -> bool {
        if self.watches && self.watched.elapsed() >= SIGNAL_PERIOD {
            self.watched = Instant::now();
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                self.shared.stop(error);
            }
        }
        self.shared.is_stopped.load(Ordering::Relaxed)
    }
}

impl Drop for PointHost<'_> {
    fn drop(&mut self) {
        if !self.messages.is_empty() || self.more > 0 {
            let mut all = locked(&self.shared.messages);
            all.0.append(&mut self.messages);
            all.1 += self.more;
        }
        let mut whole = locked(&self.shared.sums);
        for (whole, own) in whole.iter_mut().zip(&self.sums) {
            if let (Some(whole), Some(own)) = (whole, own) {
                whole.join(own);
            }
        }
    }
}
