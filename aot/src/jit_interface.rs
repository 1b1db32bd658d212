//! Registers code in memory with debuggers: an object file for each block of code, with a symbol
//! for each kernel, in a list that debuggers read.
//!
//! The protocol is in chapter "JIT Compilation Interface" of GDB's manual; LLDB implements it, too.
//! There is one list for the whole process, so registration is on or off for the whole process.

use crate::code_symbols::{CodeSymbols, NamedSymbol};
use crate::target::Target;
use object::Endianness;
use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether new code is registered.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// Guards the list.
static LIST: Mutex<()> = Mutex::new(());

/// Registers the machine code that this process makes from now on with GDB and LLDB, or stops doing
/// so. Returns whether that is possible, which is where programs are ELF files.
///
/// Debuggers show the kernel names that `perf` shows. Registered code stays registered until it is
/// freed.
///
/// A process has one list of such code for all its compilers. If another one (LLVM's, or a second
/// copy of this library) registers code too, each has a lock of its own. The host then makes sure
/// that they do not register at the same time.
///
/// ```
/// let is_possible = adumbra_aot::register_with_debuggers(true);
/// assert!(is_possible || !cfg!(target_os = "linux"));
/// ```
pub fn register_with_debuggers(whether: bool) -> bool {
    let can = found::interface().is_some();
    IS_ENABLED.store(whether && can, Ordering::Relaxed);
    can
}

/// An entry of the list (`jit_code_entry`).
#[derive(Debug)]
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    file_bytes: u64,
}

/// The first entry of the list, and the last action on it (`jit_descriptor`).
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    changed: *mut Entry,
    first: *mut Entry,
}

/// An action on an entry.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Action {
    Register = 1,
    Unregister = 2,
}

/// The symbols that debuggers look for in a process.
struct Interface {
    descriptor: *mut Descriptor,
    /// Does nothing; debuggers have a breakpoint in it.
    changed: unsafe extern "C" fn(),
}

/// On targets with ELF files and machine code.
#[cfg(all(
    unix,
    not(target_vendor = "apple"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod found {
    use super::{Descriptor, Interface};

    // Weak, so that they can be linked into a host with another compiler that registers code, LLVM
    // for one: both use one list then.
    std::arch::global_asm!(
        ".pushsection .data.__jit_debug_descriptor, \"aw\"",
        ".weak __jit_debug_descriptor",
        ".type __jit_debug_descriptor, %object",
        ".size __jit_debug_descriptor, 24",
        ".balign 8",
        "__jit_debug_descriptor: .4byte 1, 0, 0, 0, 0, 0",
        ".popsection",
        ".pushsection .text.__jit_debug_register_code, \"ax\"",
        ".weak __jit_debug_register_code",
        ".type __jit_debug_register_code, %function",
        "__jit_debug_register_code: ret",
        ".size __jit_debug_register_code, . - __jit_debug_register_code",
        ".popsection",
    );

    // SAFETY: the assembly above defines both symbols, with the size and type of `Descriptor` and a
    // function without arguments.
    unsafe extern "C" {
        static mut __jit_debug_descriptor: Descriptor;
        fn __jit_debug_register_code();
    }

    pub(super) const fn interface() -> Option<Interface> {
        Some(Interface {
            descriptor: &raw mut __jit_debug_descriptor,
            changed: __jit_debug_register_code,
        })
    }
}

#[cfg(not(all(
    unix,
    not(target_vendor = "apple"),
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod found {
    pub(super) const fn interface() -> Option<super::Interface> {
        None
    }
}

/// The locked list of registered code.
struct List {
    interface: Interface,
    _mine: MutexGuard<'static, ()>,
}

impl List {
    fn lock() -> Option<List> {
        // A panic leaves the list in order: it changes nothing before it.
        let mine = LIST.lock().unwrap_or_else(PoisonError::into_inner);
        Some(List {
            interface: found::interface()?,
            _mine: mine,
        })
    }

    /// Adds an entry.
    ///
    /// # Safety
    /// It lives, file and all, until it is removed, and nothing else changes it.
    unsafe fn add(&mut self, entry: *mut Entry) {
        let descriptor = self.interface.descriptor;
        // SAFETY: the lock is held, as far as this library goes, and all entries live;
        // `register_with_debuggers` asks of the host that other compilers of the process change the
        // list at other times.
        unsafe {
            let first = (*descriptor).first;
            (*entry).next = first;
            if !first.is_null() {
                (*first).previous = entry;
            }
            (*descriptor).first = entry;
            self.notify(Action::Register, entry);
        }
    }

    /// Removes an entry.
    ///
    /// # Safety
    /// It was added.
    unsafe fn remove(&mut self, entry: *mut Entry) {
        let descriptor = self.interface.descriptor;
        // SAFETY: the lock is held, and the entry was added, so its neighbours in the list live.
        unsafe {
            let Entry { next, previous, .. } = *entry;
            if previous.is_null() {
                (*descriptor).first = next;
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
            self.notify(Action::Unregister, entry);
            (*descriptor).changed = ptr::null_mut();
        }
    }

    /// # Safety
    /// It was done, and the entry lives.
    unsafe fn notify(&mut self, action: Action, entry: *mut Entry) {
        // SAFETY: the lock is held, so nothing else writes the descriptor; the function does
        // nothing.
        unsafe {
            (*self.interface.descriptor).action = action as u32;
            (*self.interface.descriptor).changed = entry;
            (self.interface.changed)();
        }
    }
}

/// A registration of code with debuggers, for as long as this lives.
#[derive(Debug)]
pub(crate) struct JitRegistration {
    entry: *mut Entry,
    file: *mut [u8],
}

// SAFETY: the pointers are followed under the list's lock only.
unsafe impl Send for JitRegistration {}
// SAFETY: a shared reference gives no access through the pointers.
unsafe impl Sync for JitRegistration {}

impl JitRegistration {
    /// Registers code of a program of that name, if registration is on.
    pub(crate) fn register(symbols: &CodeSymbols, program: &str) -> Option<JitRegistration> {
        let target = Target::host().filter(|_| IS_ENABLED.load(Ordering::Relaxed))?;
        let file = Box::into_raw(object_file(target, symbols, program).into_boxed_slice());
        let entry = Box::into_raw(Box::new(Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            file: file.cast(),
            file_bytes: file.len() as u64,
        }));
        let registration = JitRegistration { entry, file };
        // SAFETY: entry and file live as long as `registration`, which removes the entry first.
        unsafe { List::lock()?.add(entry) };
        Some(registration)
    }
}

impl Drop for JitRegistration {
    fn drop(&mut self) {
        if let Some(mut list) = List::lock() {
            // SAFETY: `register` added it.
            unsafe { list.remove(self.entry) };
        }
        // SAFETY: both came from `Box::into_raw`, and the list, which had the only other pointers,
        // has them no more.
        unsafe {
            drop(Box::from_raw(self.entry));
            drop(Box::from_raw(self.file));
        }
    }
}

/// An ELF file without code that has the address of the code in memory, and its kernels' symbols.
fn object_file(target: Target, symbols: &CodeSymbols, program: &str) -> Vec<u8> {
    let named: Vec<NamedSymbol> = symbols.named(program).collect();
    let mut file = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut file);
    writer.reserve_file_header();
    let text_name = writer.add_section_name(b".text");
    let text = writer.reserve_section_index();
    writer.reserve_symtab_section_index();
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();
    let names: Vec<StringId> = (named.iter())
        .map(|named| {
            writer.reserve_symbol_index(Some(text));
            writer.add_string(named.name.as_bytes())
        })
        .collect();
    writer.reserve_symtab();
    writer.reserve_strtab().expect(SMALL);
    writer.reserve_shstrtab().expect(SMALL);
    writer.reserve_section_headers();

    let header = FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: match target {
            Target::X86_64 | Target::X86_64Avx512 => elf::EM_X86_64,
            Target::Aarch64 => elf::EM_AARCH64,
        },
        e_entry: 0,
        e_flags: Default::default(),
    };
    writer.write_file_header(&header).expect(SMALL);
    writer.write_null_symbol();
    for (named, name) in named.iter().zip(names) {
        let st_name = writer.string_offset(Some(name));
        writer.write_symbol(&Sym {
            section: Some(text.0),
            st_name,
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
            st_other: Default::default(),
            st_shndx: Default::default(),
            st_value: named.start as u64,
            st_size: named.bytes as u64,
        });
    }
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    let sh_name = writer.section_name_offset(Some(text_name));
    writer.write_section_header(&SectionHeader {
        sh_name,
        sh_type: elf::SHT_NOBITS,
        sh_flags: (elf::SHF_ALLOC | elf::SHF_EXECINSTR),
        sh_addr: symbols.address as u64,
        sh_offset: 0,
        sh_size: symbols.bytes as u64,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 1,
        sh_entsize: 0,
    });
    // All names are global, but for the one that each table begins with.
    writer.write_symtab_section_header(1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    file
}

/// The reason why writing it does not fail.
const SMALL: &str = "it has a line for each kernel, and no code";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::DifferentialCase;
    use crate::native_compiler::NativeCompiler;
    use adumbra_vm::SimdLevel;
    use adumbra_vm::native::{NativeBackend, SegmentKey};
    use object::{Object, ObjectSection, ObjectSymbol};
    use std::slice;

    /// The registered files, as debuggers would read them.
    fn known() -> Vec<Vec<u8>> {
        let list = List::lock().unwrap();
        let mut files = Vec::new();
        let mut previous = ptr::null_mut();
        // SAFETY: the lock is held, and registered entries and their files live.
        unsafe {
            let mut at = (*list.interface.descriptor).first;
            while !at.is_null() {
                assert_eq!((*at).previous, previous);
                let file = slice::from_raw_parts((*at).file, (*at).file_bytes as usize);
                files.push(file.to_vec());
                (previous, at) = (at, (*at).next);
            }
        }
        files
    }

    /// The `perf` map of the file whose names have this prefix.
    fn lines(files: &[Vec<u8>], program: &str) -> Option<String> {
        let mut found = files.iter().filter_map(|file| {
            let file = object::File::parse(&**file).unwrap();
            let text = file.section_by_name(".text").unwrap().address();
            let symbols = file.symbols().map(|own| {
                let name = own.name().unwrap();
                format!("{:x} {:x} {name}\n", text + own.address(), own.size())
            });
            let lines: String = symbols.collect();
            lines.contains(&format!(" {program}::")).then_some(lines)
        });
        let first = found.next();
        assert!(found.next().is_none(), "it is registered once");
        first
    }

    /// Code of a program of that name, if it can be made.
    fn made(program: &str) -> Option<NativeCompiler> {
        let native = NativeCompiler::new(program)?;
        let units = [3, 5].map(|terms| DifferentialCase::sum(terms, false).segment);
        native
            .compile_batch(SimdLevel::best(), &SegmentKey::default(), &units)
            .unwrap();
        Some(native)
    }

    /// One test, since registration is on or off for the process.
    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn debugger_symbols_match_perf_map() {
        let Some(before) = made("before") else { return };
        if !register_with_debuggers(true) {
            return;
        }
        let compiled = ["first", "second"].map(|program| (program, made(program).unwrap()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..50).for_each(|_| drop(made("fleeting"))));
            }
        });
        register_with_debuggers(false);
        let after = made("after").unwrap();

        let files = known();
        for (program, native) in &compiled {
            let map = native.perf_map();
            assert!(map.lines().count() >= 2, "{map}");
            assert_eq!(lines(&files, program), Some(map));
        }
        for program in ["fleeting", "before", "after"] {
            assert_eq!(lines(&files, program), None);
        }
        let [(first, gone), (second, stays)] = compiled;
        drop((before, gone, after));
        let files = known();
        assert_eq!(lines(&files, first), None);
        assert_eq!(lines(&files, second), Some(stays.perf_map()));
        drop(stays);
        assert_eq!(lines(&known(), second), None);
    }
}
