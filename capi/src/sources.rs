//! Sources, and the loader of the sources that they include.

use crate::argument::arg;
use crate::diagnostics::{AdumbraDiagnostics, store_diagnostics};
use crate::guard::{Locked, guard, lock_blocking, lock_or_busy};
use crate::pointer::{
    self, borrow, free_locked_handle, optional_out_handle, out_handle, read_name, store_handle,
};
use crate::sized_struct::{SizedStruct, read_struct};
use crate::status::AdumbraStatus;
use adumbra::{
    Sources,
    sources::{Loader, MAX_SOURCE_COUNT},
};
use std::ffi::{CString, c_char, c_void};
use std::sync::Mutex;

/// The sources of one compilation. The first holds the shader, the others what it may use.
#[derive(Debug)]
pub struct AdumbraSources {
    sources: Mutex<Sources>,
}

impl Locked for AdumbraSources {
    type State = Sources;

    fn lock(&self) -> &Mutex<Sources> {
        &self.sources
    }
}

/// The memory for a loader's answer.
#[derive(Debug, Default)]
pub struct AdumbraReply {
    text: Mutex<Option<String>>,
}

impl Locked for AdumbraReply {
    type State = Option<String>;

    fn lock(&self) -> &Mutex<Option<String>> {
        &self.text
    }
}

/// Answers with a source by `adumbra_reply`, and 0; or with the reason why there is none, for
/// people, and another number.
pub type AdumbraLoad = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        name: *const c_char,
        from: *const c_char,
        reply: *mut AdumbraReply,
    ) -> u32,
>;

/// The loader of included sources. Callbacks must return.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraLoader {
    /// Bytes of this struct.
    pub size: u32,
    /// Passed to the callbacks.
    pub user: *mut c_void,
    /// Gives the name of the source that `from` includes as `name`: the same name for the same
    /// source. NULL if it is called as it is included.
    pub resolve: AdumbraLoad,
    /// Gives the source of that name; `from` is NULL.
    pub load: AdumbraLoad,
}

// SAFETY: a number, a pointer and functions that may be missing, of which zeros are some.
unsafe impl SizedStruct for AdumbraLoader {}

impl AdumbraLoader {
    /// Calls one of the callbacks.
    fn ask(
        &self,
        callback: AdumbraLoad,
        name: &str,
        from: Option<&str>,
    ) -> std::result::Result<String, String> {
        let callback = callback.ok_or("the host loads no sources")?;
        let c_text = |text: &str| CString::new(text).map_err(|_| "there is a NUL in its name");
        let name = c_text(name)?;
        let from = from.map(c_text).transpose()?;
        let from = from.as_ref().map_or(std::ptr::null(), |from| from.as_ptr());
        let mut reply = AdumbraReply::default();
        // SAFETY: the caller's function, by its contract; its arguments live until it returns.
        let failed = unsafe { callback(self.user, name.as_ptr(), from, &raw mut reply) };
        let text = lock_blocking(&reply).ok().and_then(|mut text| text.take());
        match failed {
            0 => text.ok_or("the host gave no source in UTF-8".to_owned()),
            _ => Err(text.unwrap_or("the host has none".to_owned())),
        }
    }
}

impl Loader for AdumbraLoader {
    fn resolve(&self, path: &str, from: &str) -> std::result::Result<String, String> {
        match self.resolve {
            None => Ok(path.to_owned()),
            resolve => self.ask(resolve, path, Some(from)),
        }
    }

    fn load(&self, name: &str) -> std::result::Result<String, String> {
        self.ask(self.load, name, None)
    }
}

/// Answers a loader's callback, within it: a string of `length` bytes, which is copied, or one that
/// ends with NUL if the length is `ADUMBRA_TO_NUL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_reply(
    reply: *mut AdumbraReply,
    text: *const c_char,
    length: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (reply, text) = unsafe {
            (
                borrow(arg!(reply))?,
                pointer::read_string(arg!(text), length)?,
            )
        };
        *lock_or_busy(arg!(reply))? = Some(text.to_owned());
        Ok(())
    })
}

/// Makes the sources of a compilation from one source of `length` bytes, which is copied, or one
/// that ends with NUL if the length is `ADUMBRA_TO_NUL`. Diagnostics refer to it by `name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sources_new(
    name: *const c_char,
    text: *const c_char,
    length: usize,
    sources: *mut *mut AdumbraSources,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, name, text) = unsafe {
            let to = out_handle(arg!(sources))?;
            (
                to,
                read_name(arg!(name))?,
                pointer::read_string(arg!(text), length)?,
            )
        };
        let sources = Mutex::new(Sources::new(name, text));
        store_handle(to, AdumbraSources { sources });
        Ok(())
    })
}

/// Adds a source whose functions, structs and constants the first may use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sources_add(
    sources: *mut AdumbraSources,
    name: *const c_char,
    text: *const c_char,
    length: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (sources, name, text) = unsafe {
            let sources = borrow(arg!(sources))?;
            (
                sources,
                read_name(arg!(name))?,
                pointer::read_string(arg!(text), length)?,
            )
        };
        let mut sources = lock_or_busy(arg!(sources))?;
        if sources.iter().len() >= MAX_SOURCE_COUNT {
            let what = format!("has {MAX_SOURCE_COUNT} sources, the most that are allowed");
            return Err(arg!(sources).error(AdumbraStatus::Size, what));
        }
        sources.add(name, text);
        Ok(())
    })
}

/// Adds all sources that these include and that are not there already. If one cannot be loaded
/// nothing is added, and `diagnostics`, unless it is NULL, name it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sources_include(
    sources: *mut AdumbraSources,
    loader: *const AdumbraLoader,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (diagnostics, sources, loader) = unsafe {
            let diagnostics = optional_out_handle(arg!(diagnostics))?;
            (
                diagnostics,
                borrow(arg!(sources))?,
                read_struct(arg!(loader))?,
            )
        };
        let mut sources = lock_or_busy(arg!(sources))?;
        match sources.including(&loader) {
            Ok(all) => {
                *sources = all;
                Ok(())
            }
            Err(found) => {
                store_diagnostics(diagnostics, found);
                Err(AdumbraStatus::Refused.into())
            }
        }
    })
}

/// Frees sources. Programs that were made of them keep what they need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sources_free(sources: *mut AdumbraSources) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(sources)) });
}
