//! Scripts for browsers: without types and JSX, and with their imports.

use std::{ops::Range, path::Path};

use oxc::{
    allocator::Allocator,
    codegen::{Codegen, CodegenOptions},
    diagnostics::OxcDiagnostic,
    parser::Parser,
    semantic::SemanticBuilder,
    span::SourceType,
    transformer::{JsxOptions, JsxRuntime, TransformOptions, Transformer},
};

use super::depth::too_deep;
use gangway_files::FilePath;

/// Bytes of a source. The stack must be large enough for any nesting of that length.
pub(super) const LARGEST: usize = 256 << 10;

/// Enough for the deepest source of that length; only used pages take memory.
const STACK: usize = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Language {
    JavaScript,
    Jsx,
    TypeScript,
    Tsx,
}

impl Language {
    /// By file extension.
    pub(super) fn of(file: &str) -> Option<Self> {
        let (_, end) = file.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "js" | "mjs" => Some(Self::JavaScript),
            "jsx" => Some(Self::Jsx),
            "ts" | "mts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            _ => None,
        }
    }

    fn source(self) -> SourceType {
        match self {
            Self::JavaScript => SourceType::mjs(),
            Self::Jsx => SourceType::jsx(),
            Self::TypeScript => SourceType::ts(),
            Self::Tsx => SourceType::tsx(),
        }
    }
}

/// A script with its imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) code: String,
    pub(super) imports: Vec<Import>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The range of the specifier, with its quotes.
    place: Range<usize>,
    pub(super) name: String,
}

impl Script {
    /// The code with these specifiers replaced.
    pub(super) fn with(&self, names: &[Option<String>]) -> String {
        let mut code = String::with_capacity(self.code.len() + 64 * names.len());
        let mut from = 0;
        for (import, name) in self.imports.iter().zip(names) {
            let Some(name) = name else { continue };
            code.push_str(&self.code[from..import.place.start]);
            code.push_str(&serde_json::Value::from(name.as_str()).to_string());
            from = import.place.end;
        }
        code.push_str(&self.code[from..]);
        code
    }
}

/// Transpiles a script for browsers; the error is a script that throws it.
pub(super) fn prepare(
    source: &str,
    file: &FilePath,
    language: Language,
    jsx_source: &str,
) -> Result<Script, String> {
    if language == Language::JavaScript {
        let plain = || Script {
            code: source.to_owned(),
            imports: Vec::new(),
        };
        let names_modules = source.contains("import") || source.contains("export");
        if source.len() > LARGEST || !names_modules || too_deep(source) {
            return Ok(plain());
        }
        // The browser's own error message is better.
        return Ok(deep(|| with_imports(source.to_owned())).unwrap_or_else(plain));
    }
    if source.len() > LARGEST {
        let message = format!(
            "{}: larger than {LARGEST} bytes; split it into several files",
            file.as_str()
        );
        return Err(throwing_script(&message));
    }
    if too_deep(source) {
        return Err(throwing_script(&format!(
            "{}: nested too deeply",
            file.as_str()
        )));
    }
    let made = deep(|| Some(transpile(source, file, language, jsx_source)));
    let busy = || Err(format!("{}: out of memory", file.as_str()));
    made.unwrap_or_else(busy)
        .map_err(|message| throwing_script(&message))
}

/// Whether a script is a module: it imports, exports or awaits at the top level. An invalid one is treated as a classic
/// script, whose error the browser reports.
pub fn is_module(source: &str) -> bool {
    let words = ["import", "export", "await"];
    if !words.iter().any(|word| source.contains(word)) {
        return false;
    }
    if source.len() > LARGEST || too_deep(source) {
        let begins = |line: &str| line.starts_with("import") || line.starts_with("export");
        return source.lines().any(begins);
    }
    let parsed = deep(|| {
        let allocator = Allocator::default();
        let module = Parser::new(&allocator, source, SourceType::mjs()).parse();
        let plain = Parser::new(&allocator, source, SourceType::cjs()).parse();
        let is_good = |errors: &[OxcDiagnostic], panicked: bool| errors.is_empty() && !panicked;
        Some(match is_good(&module.errors, module.panicked) {
            true if module.module_record.has_module_syntax => true,
            // Only a module can await at the top level.
            true => !is_good(&plain.errors, plain.panicked),
            false => false,
        })
    });
    parsed.unwrap_or_default()
}

/// Runs work on a large stack; `None` without memory for it.
fn deep<T: Send>(work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, work).ok()?.join().ok()?
    })
}

/// A script that throws the error, so that it appears in the browser's console.
fn throwing_script(message: &str) -> String {
    format!(
        "throw new SyntaxError({});\n",
        serde_json::Value::from(message)
    )
}

fn transpile(
    source: &str,
    file: &FilePath,
    language: Language,
    jsx_source: &str,
) -> Result<Script, String> {
    let allocator = Allocator::default();
    let failed = |errors: &[OxcDiagnostic]| first_error(errors, source, file);
    let parsed = Parser::new(&allocator, source, language.source()).parse();
    if !parsed.errors.is_empty() || parsed.panicked {
        return Err(failed(&parsed.errors));
    }
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new()
        .with_excess_capacity(2.0)
        .build(&program);
    if !semantic.errors.is_empty() {
        return Err(failed(&semantic.errors));
    }
    let options = TransformOptions {
        jsx: jsx(source, jsx_source),
        ..TransformOptions::default()
    };
    let name = file.name().unwrap_or_default();
    let done = Transformer::new(&allocator, Path::new(name), &options)
        .build_with_scoping(semantic.semantic.into_scoping(), &mut program);
    if !done.errors.is_empty() {
        return Err(failed(&done.errors));
    }
    let written = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(name.into()),
            // Deeply nested code would be mostly indentation, and the source map shows the original anyway.
            indent_width: 0,
            ..CodegenOptions::default()
        })
        .build(&program);
    let mut code = written.code;
    if let Some(map) = written.map {
        code.push_str("//# sourceMappingURL=");
        code.push_str(&map.to_data_url());
        code.push('\n');
    }
    let plain = Script {
        code: code.clone(),
        imports: Vec::new(),
    };
    Ok(with_imports(code).unwrap_or(plain))
}

/// The JSX mode. A pragma comment selects the classic runtime, without an import.
fn jsx(source: &str, import_source: &str) -> JsxOptions {
    let classic = source.contains("@jsx ") || source.contains("@jsxRuntime classic");
    let runtime = match classic {
        true => JsxRuntime::Classic,
        false => JsxRuntime::Automatic,
    };
    JsxOptions {
        runtime,
        import_source: (!classic).then(|| import_source.to_owned()),
        ..JsxOptions::default()
    }
}

/// Finds the imports of a script; `None` if it is invalid.
fn with_imports(code: String) -> Option<Script> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &code, SourceType::mjs()).parse();
    if !parsed.errors.is_empty() || parsed.panicked {
        return None;
    }
    let record = &parsed.module_record;
    let fixed = record.requested_modules.values().flatten();
    let fixed = fixed.map(|module| module.span);
    let dynamic = record.dynamic_imports.iter().map(|one| one.module_request);
    let mut imports: Vec<Import> = fixed
        .chain(dynamic)
        .filter_map(|span| import(&code, span.start as usize..span.end as usize))
        .collect();
    imports.sort_by_key(|import| import.place.start);
    imports.dedup_by_key(|import| import.place.start);
    drop(parsed);
    drop(allocator);
    Some(Script { code, imports })
}

/// The string literal at a range, if that is all.
fn import(code: &str, place: Range<usize>) -> Option<Import> {
    let text = code.get(place.clone())?;
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let name = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let plain = !name.contains(['\\', quote, '\n']);
    plain.then(|| Import {
        place,
        name: name.to_owned(),
    })
}

/// The first error, with its position and line.
fn first_error(errors: &[OxcDiagnostic], source: &str, file: &FilePath) -> String {
    let name = file.as_str();
    let Some(error) = errors.first() else {
        return format!("{name}: not a valid script");
    };
    let message = match &error.help {
        Some(help) => format!("{} ({help})", error.message),
        None => error.message.to_string(),
    };
    let labels = error.labels.as_ref();
    let Some(at) = labels.and_then(|labels| labels.first()).map(|l| l.offset()) else {
        return format!("{name}: {message}");
    };
    let before = source.get(..at).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before[start..].chars().count() + 1;
    let text = source[start..].lines().next().unwrap_or_default();
    let shown: String = text.chars().take(200).collect();
    let margin = " ".repeat(line.to_string().len());
    let caret = " ".repeat(column.min(200) - 1);
    format!("{name}:{line}:{column}: {message}\n{line} | {shown}\n{margin} | {caret}^")
}
