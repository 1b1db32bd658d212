//! The threads that read tiles, and their queue.

use super::Shared;
use super::tile::TileLoad;
use crate::texture::{TileBytes, TiledFile};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Textures that a thread keeps open.
const OPEN_FILES: usize = 4;

/// The tiled textures that a thread has opened last.
#[derive(Debug, Default)]
pub(super) struct OpenFiles {
    /// The texture of each, the last used one at the end.
    files: Vec<(u32, TileBytes)>,
}

impl OpenFiles {
    /// The bytes of a texture.
    pub(super) fn open(&mut self, texture: u32, of: &TiledFile) -> io::Result<&mut TileBytes> {
        let file = match self.files.iter().position(|(of, _)| *of == texture) {
            Some(at) => self.files.remove(at),
            None => (texture, of.open_bytes()?),
        };
        if self.files.len() == OPEN_FILES {
            self.files.remove(0);
        }
        Ok(&mut self.files.push_mut(file).1)
    }
}

/// Reads that are to be done, first come, first served.
#[derive(Debug, Default)]
pub(super) struct LoadQueue {
    state: Mutex<QueueState>,
    /// A read was added, or the queue closed.
    changed: Condvar,
    /// A read was finished.
    finished: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    loads: VecDeque<Arc<TileLoad>>,
    is_closed: bool,
    /// Number of reads that were finished.
    finished: u64,
    /// Number of reads that are queued or under way.
    open: usize,
}

impl LoadQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, load: Arc<TileLoad>) {
        let mut state = self.state();
        state.loads.push_back(load);
        state.open += 1;
        self.changed.notify_one();
    }

    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Number of reads that were finished.
    pub(super) fn finished(&self) -> u64 {
        self.state().finished
    }

    /// Waits until more reads than that were finished, or none is under way; whether more were.
    pub(super) fn wait(&self, finished: u64) -> bool {
        let mut state = self.state();
        while state.finished == finished && state.open > 0 {
            let woken = self.finished.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.finished != finished
    }

    /// The next read; `None` when the queue is closed.
    fn next(&self) -> Option<Arc<TileLoad>> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(load) = state.loads.pop_front() {
                return Some(load);
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self) {
        let mut state = self.state();
        state.finished += 1;
        state.open -= 1;
        self.finished.notify_all();
    }
}

/// Starts a thread that reads tiles until the queue is closed.
pub(super) fn start(shared: Arc<Shared>) -> io::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("texture loader".to_owned());
    thread.spawn(move || {
        let mut files = OpenFiles::default();
        while let Some(load) = shared.queue.next() {
            shared.load(&load, &mut files);
            shared.queue.finish();
        }
    })
}
