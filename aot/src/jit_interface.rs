//! What debuggers are told of code that is in no file: for each piece of it an object file in memory, with a symbol for each kernel, in a list that they follow, as chapter "JIT
//! Compilation Interface" of GDB's manual says; LLDB follows it, too. There is one list for the whole process, so whether code is told of is said for the whole process.

use crate::code_symbols::{CodeSymbols, NamedSymbol};
use crate::target::Target;
use object::Endianness;
use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether code that is made now is told of.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Whoever changes the list has it.
static LIST: Mutex<()> = Mutex::new(());

/// From now on GDB and LLDB are told of the machine code that this process makes, or no more: they know kernels by the names that `perf` knows. What they were told stays until
/// that code goes. Says whether they can be told at all, which is where programs are ELF files.
///
/// A process has one list of such code for all its compilers. Where another one (LLVM's, or a second copy of this library) tells of code too, the host sees to it that they do not do so at the
/// same time: each has a lock of its own.
///
/// ```
/// let can_be_told = adumbra_aot::tell_debuggers(true);
/// assert!(can_be_told || !cfg!(target_os = "linux"));
/// ```
pub fn register_with_debuggers(whether: bool) -> bool {
    let can = found::interface().is_some();
    IS_TOLD.store(whether && can, Ordering::Relaxed);
    can
}

/// One of the list.
#[derive(Debug)]
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    file_bytes: u64,
}

/// Where the list begins, and what was done to it last.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    changed: *mut Entry,
    first: *mut Entry,
}

/// What was done to an entry.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Action {
    Register = 1,
    Unregister = 2,
}

/// What debuggers look for in a process.
struct Interface {
    descriptor: *mut Descriptor,
    /// Does nothing; debuggers stop there, and look.
    changed: unsafe extern "C" fn(),
}

/// Where programs are ELF files, and code is made.
#[cfg(all(
    unix,
    not(target_vendor = "apple"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod found {
    use super::{Descriptor, Interface};

    // Weak, so that they can be linked into a host that has another compiler which tells debuggers, LLVM for one: both use one list then.
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

    // SAFETY: both stand above.
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

/// The list of those that debuggers know, for whoever changes it.
struct List {
    interface: Interface,
    _mine: MutexGuard<'static, ()>,
}

impl List {
    fn lock() -> Option<List> {
        // Whoever panicked there left no half of anything.
        let mine = LIST.lock().unwrap_or_else(PoisonError::into_inner);
        Some(List {
            interface: found::interface()?,
            _mine: mine,
        })
    }

    /// Adds an entry.
    ///
    /// # Safety
    /// It lives, file and all, until it is removed, and nobody else changes it.
    unsafe fn add(&mut self, entry: *mut Entry) {
        let descriptor = self.interface.descriptor;
        // SAFETY: the list is ours for now, as far as this library goes, and what is in it lives; `register_with_debuggers` asks of the host that other compilers of the process
        // change it at other times.
        unsafe {
            let first = (*descriptor).first;
            (*entry).next = first;
            if !first.is_null() {
                (*first).previous = entry;
            }
            (*descriptor).first = entry;
            self.tell(Action::Register, entry);
        }
    }

    /// Removes an entry.
    ///
    /// # Safety
    /// It was added.
    unsafe fn remove(&mut self, entry: *mut Entry) {
        let descriptor = self.interface.descriptor;
        // SAFETY: as above: the list is ours.
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
            self.tell(Action::Unregister, entry);
            (*descriptor).changed = ptr::null_mut();
        }
    }

    /// # Safety
    /// It was done, and the entry lives.
    unsafe fn tell(&mut self, action: Action, entry: *mut Entry) {
        // SAFETY: the list is ours; the function does nothing.
        unsafe {
            (*self.interface.descriptor).action = action as u32;
            (*self.interface.descriptor).changed = entry;
            (self.interface.changed)();
        }
    }
}

/// A piece of code that debuggers know of for as long as this lives.
#[derive(Debug)]
pub(crate) struct JitRegistration {
    entry: *mut Entry,
    file: *mut [u8],
}

// SAFETY: what is behind the pointers is used by who has the list alone.
unsafe impl Send for JitRegistration {}
// SAFETY: as above.
unsafe impl Sync for JitRegistration {}

impl JitRegistration {
    /// Tells debuggers of code of a program of that name, if they are to know.
    pub(crate) fn register(symbols: &CodeSymbols, program: &str) -> Option<JitRegistration> {
        let target = Target::host().filter(|_| IS_TOLD.load(Ordering::Relaxed))?;
        let file = Box::into_raw(object_file(target, symbols, program).into_boxed_slice());
        let entry = Box::into_raw(Box::new(Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            file: file.cast(),
            file_bytes: file.len() as u64,
        }));
        let told = JitRegistration { entry, file };
        // SAFETY: both live as long as `told`, which removes the entry first.
        unsafe { List::lock()?.add(entry) };
        Some(told)
    }
}

impl Drop for JitRegistration {
    fn drop(&mut self) {
        if let Some(mut list) = List::lock() {
            // SAFETY: it was added.
            unsafe { list.remove(self.entry) };
        }
        // SAFETY: boxes they were, and the list was the only other that knew of them.
        unsafe {
            drop(Box::from_raw(self.entry));
            drop(Box::from_raw(self.file));
        }
    }
}

/// An ELF file that has no code, but says where it is in memory, and what its kernels are called.
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
            Target::X86_64 => elf::EM_X86_64,
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

/// Why writing it does not fail.
const SMALL: &str = "it has a line for each kernel, and no code";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::DifferentialCase;
    use crate::native_compiler::NativeCompiler;
    use adumbra_vm::native::{CompileUnit, NativeBackend};
    use object::{Object, ObjectSection, ObjectSymbol};
    use std::slice;

    /// The files that debuggers know, as they would read them.
    fn known() -> Vec<Vec<u8>> {
        let list = List::lock().unwrap();
        let mut files = Vec::new();
        let mut previous = ptr::null_mut();
        // SAFETY: the list is ours for now.
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

    /// What `perf` would be told by the file whose names begin so.
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
        assert!(found.next().is_none(), "it is told of once");
        first
    }

    /// Code of a program of that name, if it can be made.
    fn made(program: &str) -> Option<NativeCompiler> {
        let native = NativeCompiler::new(program)?;
        let units =
            [3, 5].map(|terms| CompileUnit::Segment(DifferentialCase::sum(terms, false).segment));
        native.translate(&[true], &units).unwrap();
        Some(native)
    }

    /// One test, since whether debuggers are told is the process's.
    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn debuggers_know_what_perf_knows_while_it_is_there() {
        let Some(before) = made("before") else { return };
        if !register_with_debuggers(true) {
            return;
        }
        let told = ["first", "second"].map(|program| (program, made(program).unwrap()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..50).for_each(|_| drop(made("fleeting"))));
            }
        });
        register_with_debuggers(false);
        let after = made("after").unwrap();

        let files = known();
        for (program, native) in &told {
            let map = native.perf_map();
            assert!(map.lines().count() >= 2, "{map}");
            assert_eq!(lines(&files, program), Some(map));
        }
        for program in ["fleeting", "before", "after"] {
            assert_eq!(lines(&files, program), None);
        }
        let [(first, gone), (second, stays)] = told;
        drop((before, gone, after));
        let files = known();
        assert_eq!(lines(&files, first), None);
        assert_eq!(lines(&files, second), Some(stays.perf_map()));
        drop(stays);
        assert_eq!(lines(&known(), second), None);
    }
}
