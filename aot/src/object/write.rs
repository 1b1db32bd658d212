//! Writes object files for the linker of any system, on any host.

use super::{NONE, VERSION, fingerprint};
use crate::machine_code::{KernelExtent, MachineCode};
use crate::target::Target;
use adumbra_vm::native::{PointCfg, Segment};
use object::write::{
    Object, Relocation, SectionId, StandardSection, Symbol, SymbolId, SymbolSection,
};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind,
    SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use std::fmt;

/// The alignment of code, and of the tables in it.
const CODE_ALIGN: u64 = 64;

/// A processor and an object file format, which is that of a system's linker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    target: Target,
    format: BinaryFormat,
    name: &'static str,
}

impl Platform {
    /// All platforms.
    pub const ALL: [Platform; 6] = [
        Platform::new(Target::X86_64, BinaryFormat::Elf, "x86_64-linux"),
        Platform::new(Target::X86_64, BinaryFormat::MachO, "x86_64-macos"),
        Platform::new(Target::X86_64, BinaryFormat::Coff, "x86_64-windows"),
        Platform::new(Target::Aarch64, BinaryFormat::Elf, "aarch64-linux"),
        Platform::new(Target::Aarch64, BinaryFormat::MachO, "aarch64-macos"),
        Platform::new(Target::Aarch64, BinaryFormat::Coff, "aarch64-windows"),
    ];

    const fn new(target: Target, format: BinaryFormat, name: &'static str) -> Platform {
        Platform {
            target,
            format,
            name,
        }
    }

    /// The host's platform, if it is supported.
    pub fn host() -> Option<Platform> {
        let format = if cfg!(target_vendor = "apple") {
            BinaryFormat::MachO
        } else if cfg!(windows) {
            BinaryFormat::Coff
        } else {
            BinaryFormat::Elf
        };
        let mut all = Platform::ALL.into_iter();
        all.find(|own| Some(own.target) == Target::host() && own.format == format)
    }

    /// The platform of that name.
    pub fn from_name(name: &str) -> Option<Platform> {
        Platform::ALL.into_iter().find(|own| own.name == name)
    }

    /// The name, as in `x86_64-linux`; `linux` also means other systems with ELF files.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A shader to be written into an object.
#[derive(Debug)]
pub struct ShaderObject {
    /// The end of its C name, after `adumbra_object_`; unique in a file.
    pub name: String,
    /// The serialised program.
    pub program: Vec<u8>,
    /// For each set of uniform words of the globals, the units that the machine compiles then.
    pub variants: Vec<(Vec<bool>, Vec<Segment>)>,
    /// The point CFGs that the machine compiles for single points.
    pub point_cfgs: Vec<PointCfg>,
}

/// The code of the named shader is longer than its own jumps reach, or than an object file may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSizeError(pub String);

impl fmt::Display for CodeSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the code of `{}` is too long for an object file", self.0)
    }
}

impl std::error::Error for CodeSizeError {}

/// An object file with these shaders, in order.
///
/// # Errors
///
/// The code of a shader is too long.
pub fn write_object<'a>(
    platform: Platform,
    shaders: impl Iterator<Item = &'a ShaderObject>,
) -> Result<Vec<u8>, CodeSizeError> {
    let mut writer = Writer::new(platform);
    let mut last = "";
    for shader in shaders {
        last = &shader.name;
        let written = writer.shader(shader);
        written.ok_or_else(|| CodeSizeError(last.to_owned()))?;
    }
    let bytes = writer.file.write();
    bytes.map_err(|_| CodeSizeError(last.to_owned()))
}

struct Writer {
    target: Target,
    file: Object<'static>,
    text: SectionId,
    constants: SectionId,
    /// Constants with addresses.
    tables: SectionId,
}

impl Writer {
    fn new(platform: Platform) -> Writer {
        let architecture = match platform.target {
            Target::X86_64 | Target::X86_64Avx512 => Architecture::X86_64,
            Target::Aarch64 => Architecture::Aarch64,
        };
        let mut file = Object::new(platform.format, architecture, Endianness::Little);
        if platform.format == BinaryFormat::Elf {
            // Without this section, linkers assume that the stack has to be executable.
            file.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        }
        Writer {
            target: platform.target,
            text: file.section_id(StandardSection::Text),
            constants: file.section_id(StandardSection::ReadOnlyData),
            tables: file.section_id(StandardSection::ReadOnlyDataWithRel),
            file,
        }
    }

    /// `None` if its code is too long.
    fn shader(&mut self, shader: &ShaderObject) -> Option<()> {
        let name = &shader.name;
        let program = self.constant(&format!("{name}.program"), &shader.program);
        let mut variants = Table::default();
        for (number, (uniform, units)) in shader.variants.iter().enumerate() {
            let code = self.target.compile_batch(units, false)?;
            let names = format!("{name}.{number}");
            self.variant(&mut variants, &names, fingerprint(units), uniform, &code);
        }
        let count = shader.variants.len();
        let variants = self.table(
            &format!("{name}.variants"),
            variants,
            SymbolScope::Compilation,
        );
        let mut points = Table::default();
        let code = self.target.compile_points(&shader.point_cfgs, false)?;
        let names = format!("{name}.points");
        self.variant(
            &mut points,
            &names,
            fingerprint(&shader.point_cfgs),
            &[],
            &code,
        );
        let points = self.table(&names, points, SymbolScope::Compilation);
        let mut whole = Table::default();
        whole.bytes.extend(VERSION.to_le_bytes());
        let target = Target::ALL.iter().position(|&own| own == self.target);
        let target = target.expect("it is one of all") as u32;
        whole.bytes.extend(target.to_le_bytes());
        whole.list(program, shader.program.len());
        whole.list(variants, count);
        whole.address(points);
        self.table(
            &format!("adumbra_object_{name}"),
            whole,
            SymbolScope::Dynamic,
        );
        Some(())
    }

    /// Adds a variant, whose symbols have this prefix.
    fn variant(
        &mut self,
        to: &mut Table,
        names: &str,
        fingerprint: u64,
        uniform: &[bool],
        code: &MachineCode,
    ) {
        let at = self
            .file
            .append_section_data(self.text, &code.bytes, CODE_ALIGN);
        let bytes = code.bytes.len() as u64;
        let whole = format!("{names}.code");
        let whole = self.symbol(&whole, SymbolKind::Text, self.text, at, 0);
        let mut entries = Vec::new();
        for (number, kernel) in code.kernels.iter().enumerate() {
            entries.extend(kernel.map_or(NONE, |own| own.start as u32).to_le_bytes());
            if let Some(KernelExtent { start, end, .. }) = *kernel {
                let (begin, size) = (at + start as u64, (end - start) as u64);
                let kernel = format!("{names}.kernel{number}");
                self.symbol(&kernel, SymbolKind::Text, self.text, begin, size);
            }
        }
        let flags: Vec<u8> = uniform.iter().copied().map(u8::from).collect();
        let words = self.constant(&format!("{names}.uniform"), &flags);
        let entries = self.constant(&format!("{names}.entries"), &entries);
        to.number(fingerprint);
        to.list(words, uniform.len());
        to.address(whole);
        to.number(bytes);
        to.list(entries, code.kernels.len());
    }

    /// Bytes without relocations.
    fn constant(&mut self, name: &str, bytes: &[u8]) -> SymbolId {
        let at = self.file.append_section_data(self.constants, bytes, 8);
        self.symbol(
            name,
            SymbolKind::Data,
            self.constants,
            at,
            bytes.len() as u64,
        )
    }

    fn symbol(
        &mut self,
        name: &str,
        kind: SymbolKind,
        section: SectionId,
        at: u64,
        size: u64,
    ) -> SymbolId {
        self.file.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value: at,
            size,
            kind,
            scope: SymbolScope::Compilation,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        })
    }

    fn table(&mut self, name: &str, table: Table, scope: SymbolScope) -> SymbolId {
        let at = self.file.append_section_data(self.tables, &table.bytes, 8);
        for (offset, symbol) in table.addresses {
            let relocation = Relocation {
                offset: at + offset,
                symbol,
                addend: 0,
                flags: RelocationFlags::Generic {
                    kind: RelocationKind::Absolute,
                    encoding: RelocationEncoding::Generic,
                    size: 64,
                },
            };
            let added = self.file.add_relocation(self.tables, relocation);
            added.expect("every format knows addresses of 64 bits");
        }
        let size = table.bytes.len() as u64;
        let id = self.symbol(name, SymbolKind::Data, self.tables, at, size);
        self.file.symbol_mut(id).scope = scope;
        id
    }
}

/// A table of numbers and addresses, eight bytes each.
#[derive(Default)]
struct Table {
    bytes: Vec<u8>,
    /// The offsets of symbols' addresses.
    addresses: Vec<(u64, SymbolId)>,
}

impl Table {
    fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn address(&mut self, symbol: SymbolId) {
        self.addresses.push((self.bytes.len() as u64, symbol));
        self.number(0);
    }

    /// The address of a list, and its length.
    fn list(&mut self, first: SymbolId, count: usize) {
        self.address(first);
        self.number(count as u64);
    }
}
