//! Reads the header of a GGUF file and checks that the file is complete. Nothing in it is trusted before it was
//! checked.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use super::{
    blocks::bytes_of,
    figures::{Figure, Figures},
};

/// Far more than any model has.
const MAX_KEYS: u64 = 1 << 16;
const MAX_TENSORS: u64 = 1 << 20;

/// Vocabulary entries; the largest today has about 2^18.
const MAX_STRINGS: u64 = 1 << 24;

/// A key or a short text; anything longer is skipped.
const MAX_TEXT: u64 = 1 << 16;

/// Nested arrays are allowed, but not used in practice.
const MAX_DEPTH: u8 = 3;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gguf {
    /// The version of the format.
    pub version: u32,
    /// For example `llama`.
    pub architecture: String,
    /// The name from its authors.
    pub name: Option<String>,
    /// The context window that it was trained for, in tokens.
    pub context_length: Option<u64>,
    pub has_chat_template: bool,
    /// The number of parameters.
    pub parameters: u64,
}

/// Why a file cannot be used: a verb phrase that follows its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);

impl Gguf {
    /// Reads the header of a file.
    pub fn read(path: &Path) -> Result<Self, Unusable> {
        let broken = |error: io::Error| Unusable(format!("cannot be read: {error}"));
        // Opening anything but a file (a pipe, say) could block forever.
        if !std::fs::metadata(path).map_err(broken)?.is_file() {
            return Err(Unusable("is not a file".into()));
        }
        let file = File::open(path).map_err(broken)?;
        let length = file.metadata().map_err(broken)?.len();
        Self::parse(file, length)
    }

    /// Reads the header of a file of `length` bytes.
    pub fn parse(source: impl Read + Seek, length: u64) -> Result<Self, Unusable> {
        let mut head = Head {
            source: BufReader::with_capacity(1 << 16, source),
            at: 0,
            length,
        };
        let mut magic = [0; 4];
        let whole = head.fill(&mut magic).is_ok();
        if !whole || magic != *b"GGUF" {
            return Err(Unusable("is not a GGUF file".into()));
        }
        let version = head.u32()?;
        if version.swap_bytes() < 1 << 16 && version >= 1 << 16 {
            let reason = "is a big-endian GGUF file; only little-endian ones are supported";
            return Err(Unusable(reason.into()));
        }
        if !(2..=3).contains(&version) {
            return Err(Unusable(format!(
                "is a GGUF file of version {version}; only 2 and 3 are supported; convert it again with a current llama.cpp"
            )));
        }
        let tensors = head.count("tensors", MAX_TENSORS)?;
        let keys = head.count("keys", MAX_KEYS)?;
        let mut found = GgufInfo::default();
        for _ in 0..keys {
            found.take(&mut head)?;
        }
        found.into_gguf(version, &mut head, tensors)
    }
}

#[derive(Default)]
struct GgufInfo {
    architecture: Option<String>,
    name: Option<String>,
    template: bool,
    alignment: Option<u64>,
    splits: Option<u64>,
    figures: Figures,
}

impl GgufInfo {
    fn take(&mut self, head: &mut Head<impl Read + Seek>) -> Result<(), Unusable> {
        let key = head.text()?.unwrap_or_default();
        let kind = head.u32()?;
        match (key.as_str(), kind) {
            ("general.architecture", STRING) => self.architecture = head.text()?,
            ("general.name", STRING) => self.name = head.text()?,
            ("tokenizer.chat_template", STRING) => self.template = head.skip_text()? > 0,
            ("general.alignment", _) => self.alignment = head.number(kind)?,
            ("split.count", _) => self.splits = head.number(kind)?,
            ("tokenizer.ggml.tokens", ARRAY) => {
                if head.skip_array(MAX_DEPTH)? == 0 {
                    return Err(damaged("its vocabulary is empty"));
                }
            }
            (key, _) if self.figures.wants(key) => {
                if let Some(figure) = head.figure(kind)? {
                    self.figures.add(key.to_owned(), figure);
                }
            }
            _ => head.skip(kind, MAX_DEPTH)?,
        }
        Ok(())
    }

    fn into_gguf(
        self,
        version: u32,
        head: &mut Head<impl Read + Seek>,
        tensors: u64,
    ) -> Result<Gguf, Unusable> {
        let Some(architecture) = self.architecture.filter(|name| !name.is_empty()) else {
            return Err(Unusable("has no architecture".into()));
        };
        if let Some(splits) = self.splits.filter(|splits| *splits > 1) {
            return Err(Unusable(format!(
                "is one of {splits} parts; merge them first with llama-gguf-split --merge"
            )));
        }
        if let Some(fault) = self.figures.fault(&architecture) {
            return Err(damaged(&fault));
        }
        if tensors == 0 {
            return Err(Unusable("contains no weights".into()));
        }
        let alignment = self.alignment.unwrap_or(32);
        if !alignment.is_power_of_two() || alignment > 1 << 20 {
            return Err(damaged("its alignment is not a power of two"));
        }
        let (mut parameters, mut end) = (0_u64, 0_u64);
        for _ in 0..tensors {
            let (numbers, last) = head.tensor()?;
            parameters = parameters
                .checked_add(numbers)
                .ok_or_else(|| damaged("its tensors are too large"))?;
            end = end.max(last);
        }
        let start = head.at.next_multiple_of(alignment);
        let expected = start
            .checked_add(end)
            .ok_or_else(|| damaged("its tensors are too large"))?;
        if expected > head.length {
            return Err(Unusable(format!(
                "is truncated: {} bytes are expected, but it has {}",
                grouped(expected),
                grouped(head.length)
            )));
        }
        Ok(Gguf {
            version,
            context_length: self.figures.count(&architecture, "context_length"),
            architecture,
            name: self.name,
            has_chat_template: self.template,
            parameters,
        })
    }
}

const FLOAT: u32 = 6;
const DOUBLE: u32 = 12;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// A cursor in the header that knows the length of the file.
struct Head<S> {
    source: BufReader<S>,
    at: u64,
    length: u64,
}

impl<S: Read + Seek> Head<S> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unusable> {
        self.within(bytes.len() as u64)?;
        self.source.read_exact(bytes).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                return cut_in_head();
            }
            Unusable(format!("cannot be read: {error}"))
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Checks that this many bytes are left.
    fn within(&self, bytes: u64) -> Result<(), Unusable> {
        if bytes > self.length.saturating_sub(self.at) {
            return Err(cut_in_head());
        }
        Ok(())
    }

    fn pass(&mut self, bytes: u64) -> Result<(), Unusable> {
        self.within(bytes)?;
        let moved = match i64::try_from(bytes) {
            Ok(near) => self.source.seek_relative(near),
            Err(_) => {
                let target = SeekFrom::Start(self.at + bytes);
                self.source.seek(target).map(|_| ())
            }
        };
        moved.map_err(|error| Unusable(format!("cannot be read: {error}")))?;
        self.at += bytes;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, Unusable> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn u64(&mut self) -> Result<u64, Unusable> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn count(&mut self, what: &str, most: u64) -> Result<u64, Unusable> {
        let count = self.u64()?;
        if count > most {
            return Err(damaged(&format!("it has {count} {what}")));
        }
        Ok(count)
    }

    /// A text, or `None` when it is too long to be kept.
    fn text(&mut self) -> Result<Option<String>, Unusable> {
        let length = self.u64()?;
        self.within(length)?;
        if length > MAX_TEXT {
            self.pass(length)?;
            return Ok(None);
        }
        // At most MAX_TEXT, so it fits.
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Skips a text; returns its length.
    fn skip_text(&mut self) -> Result<u64, Unusable> {
        let length = self.u64()?;
        self.pass(length)?;
        Ok(length)
    }

    /// An unsigned integer; `None` for other types.
    fn number(&mut self, kind: u32) -> Result<Option<u64>, Unusable> {
        let wide = match kind {
            0..=5 | 10 | 11 => size_of_value(kind)?,
            _ => {
                self.skip(kind, MAX_DEPTH)?;
                return Ok(None);
            }
        };
        let mut bytes = [0; 8];
        let used = &mut bytes[..wide as usize];
        self.fill(used)?;
        let negative = matches!(kind, 1 | 3 | 5 | 11) && used.last().is_some_and(|b| *b > 127);
        Ok((!negative).then(|| u64::from_le_bytes(bytes)))
    }

    /// A number of any type; `None` for other types.
    fn figure(&mut self, kind: u32) -> Result<Option<Figure>, Unusable> {
        Ok(match kind {
            FLOAT => Some(Figure::Real(f32::from_bits(self.u32()?).into())),
            DOUBLE => Some(Figure::Real(f64::from_bits(self.u64()?))),
            _ => self.number(kind)?.map(Figure::Count),
        })
    }

    fn skip(&mut self, kind: u32, depth: u8) -> Result<(), Unusable> {
        match kind {
            STRING => self.skip_text().map(|_| ()),
            ARRAY => self.skip_array(depth).map(|_| ()),
            _ => self.pass(size_of_value(kind)?),
        }
    }

    /// Skips an array; returns its length.
    fn skip_array(&mut self, depth: u8) -> Result<u64, Unusable> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(damaged("its arrays are nested too deeply"));
        };
        let kind = self.u32()?;
        if kind != STRING && kind != ARRAY {
            let entries = self.u64()?;
            let bytes = entries.checked_mul(size_of_value(kind)?);
            self.pass(bytes.ok_or_else(cut_in_head)?)?;
            return Ok(entries);
        }
        let most = if kind == STRING { MAX_STRINGS } else { 1 << 10 };
        let entries = self.count("entries of an array", most)?;
        for _ in 0..entries {
            self.skip(kind, depth)?;
        }
        Ok(entries)
    }

    /// The size of the next tensor in numbers, and the offset of its end.
    fn tensor(&mut self) -> Result<(u64, u64), Unusable> {
        self.skip_text()?;
        let dimensions = self.u32()?;
        if dimensions > 8 {
            return Err(damaged("a tensor has too many dimensions"));
        }
        let (mut numbers, mut row) = (1_u64, 1);
        for dimension in 0..dimensions {
            let size = self.u64()?;
            row = if dimension == 0 { size } else { row };
            numbers = numbers
                .checked_mul(size)
                .ok_or_else(|| damaged("a tensor has an impossible size"))?;
        }
        let kind = self.u32()?;
        let offset = self.u64()?;
        let bytes = bytes_of(kind, row, numbers)
            .ok_or_else(|| damaged("a tensor has an impossible size"))?;
        let end = offset.checked_add(bytes);
        Ok((
            numbers,
            end.ok_or_else(|| damaged("a tensor has an impossible size"))?,
        ))
    }
}

fn size_of_value(kind: u32) -> Result<u64, Unusable> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(damaged(&format!("it has a value of unknown type {kind}"))),
    }
}

fn cut_in_head() -> Unusable {
    Unusable("is truncated: it ends before the weights".into())
}

fn damaged(how: &str) -> Unusable {
    Unusable(format!("is damaged: {how}"))
}

/// With thousands separators.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
