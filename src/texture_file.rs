//! The file of a texture, which the metadata of its declaration names.

use crate::diagnostics::Diagnostics;
use crate::program::Texture;
use crate::sources::{Loader, Sources};
use adumbra_ir::{Code, Diagnostic};

impl Sources {
    /// Reads the file of a texture; `None` if its metadata has none. The file is found as what its
    /// source includes is, and `read` is given its name in the loader.
    ///
    /// These are the [`Program::sources`](crate::Program::sources) of the texture's program.
    /// Bytecode has none: give sources with the bytecode's own name, and files are found from its
    /// folder.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, sources::Folder};
    /// let source = r#"texture2d wood <<< file = "../oak.png" >>>; shader s(out color c) { c = texture2d_sample<wood>(0.5, 0.5); }"#;
    /// let sources = Sources::new("floor/s.adu", source);
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// let wood = &program.textures()[0];
    /// let file = sources.read_texture(wood, &Folder::new("assets"), |name| Ok(name.to_owned()));
    /// assert_eq!(file?, Some("oak.png".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Code::TextureNotFound`] at its declaration if the loader refuses the path, the file cannot
    /// be read, or the source is not here.
    pub fn read_texture<T>(
        &self,
        texture: &Texture,
        loader: &dyn Loader,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Diagnostics> {
        let Some(file) = texture.metadata_str(Texture::FILE) else {
            return Ok(None);
        };
        let found = match self.get(texture.span.file) {
            Some(source) => loader.resolve(file, source.name()),
            None => Err("bytecode does not name the included source that declares it".to_owned()),
        };
        found.and_then(|name| read(&name)).map(Some).map_err(|why| {
            let name = &texture.name;
            let message = format!("the file `{file}` of the texture `{name}` cannot be read: {why}");
            let missing = Diagnostic::new(Code::TextureNotFound, texture.span, message)
                .here("declared here")
                .help(format!(
                    "write a path that can be read; a relative one begins at the folder of this source. `adumbra image` takes another by `--texture {name}=FILE`"
                ));
            Diagnostics::new(vec![missing], self)
        })
    }
}
