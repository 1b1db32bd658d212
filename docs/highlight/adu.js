// Highlights `adu` blocks. Made from the keyword table in `frontend/src/token_kind.rs`:
// `ADUMBRA_BLESS=1 cargo test -p adumbra-cli --test command docs::highlight` writes it.
hljs.registerLanguage("adu", (hljs) => ({
  keywords: {
    keyword: "struct shader const in out inout no_diff if else for while do switch case default break continue return",
    type: "void bool int uint float float2 float3 float4 float2x2 float3x3 float4x4 closure texture2d shader_resource color normal point vec2 vec3 vec4 vector",
    built_in: "global_value make_closure texture2d_sample texture2d_sample_grad texture2d_sample_level texture2d_sample_alpha texture2d_sample_alpha_grad texture2d_sample_alpha_level",
    literal: "true false",
  },
  contains: [
    hljs.C_LINE_COMMENT_MODE,
    hljs.C_BLOCK_COMMENT_MODE,
    hljs.QUOTE_STRING_MODE,
    { className: "number", begin: /\b0x[0-9a-fA-F]+|(\b\d+\.?\d*|\B\.\d+)([eE][-+]?\d+)?[fFuU]?/ },
    { className: "meta", begin: /#include\b/ },
  ],
}));

// The page's script has run before this one, without the language.
for (const block of document.querySelectorAll("code.language-adu")) {
  hljs.highlightBlock(block);
}
