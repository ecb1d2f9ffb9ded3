//! UTF-8 decoding of a stream.

use super::FileError;

/// Decodes chunks of UTF-8; an incomplete character waits for the next chunk.
#[derive(Debug, Default)]
pub struct Utf8Pieces {
    /// An incomplete character, at most three bytes.
    carried: Vec<u8>,
    /// Bytes decoded so far.
    passed: u64,
}

impl Utf8Pieces {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes what is complete; invalid UTF-8 is an error with its offset.
    pub fn push(&mut self, bytes: &[u8]) -> Result<String, FileError> {
        let mut text = std::mem::take(&mut self.carried);
        text.reserve_exact(bytes.len());
        text.extend_from_slice(bytes);
        let not_text = |offset| FileError::NotText { offset };
        // Validated once in the common case.
        let text = match String::from_utf8(text) {
            Ok(text) => text,
            Err(torn) => {
                let (wrong, mut text) = (torn.utf8_error(), torn.into_bytes());
                let whole = wrong.valid_up_to();
                let offset = self.passed + whole as u64;
                if wrong.error_len().is_some() {
                    return Err(not_text(offset));
                }
                self.carried = text.split_off(whole);
                String::from_utf8(text).map_err(|_| not_text(offset))?
            }
        };
        self.passed += text.len() as u64;
        Ok(text)
    }

    /// Ends the stream; an incomplete character is an error.
    pub fn end(self) -> Result<(), FileError> {
        match self.carried.is_empty() {
            true => Ok(()),
            false => Err(FileError::NotText {
                offset: self.passed,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a ä € 𝄞 — z";

    #[test]
    fn text_comes_whole_wherever_it_is_cut() {
        for first in 0..=TEXT.len() {
            for second in first..=TEXT.len() {
                let mut pieces = Utf8Pieces::new();
                let mut read = String::new();
                let bytes = TEXT.as_bytes();
                for piece in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    read += &pieces.push(piece).unwrap();
                }
                pieces.end().unwrap();
                assert_eq!(read, TEXT);
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error_that_says_where() {
        let mut pieces = Utf8Pieces::new();
        assert_eq!(pieces.push("ab€".as_bytes()).unwrap(), "ab€");
        assert_eq!(pieces.push(&[b'c', 0xe2]).unwrap(), "c");
        assert_eq!(
            pieces.push(b"(").unwrap_err(),
            FileError::NotText { offset: 6 }
        );
    }

    #[test]
    fn a_character_that_is_cut_off_at_the_end_is_an_error() {
        let mut pieces = Utf8Pieces::new();
        assert_eq!(pieces.push(&[b'a', 0xf0, 0x9d]).unwrap(), "a");
        assert_eq!(pieces.end().unwrap_err(), FileError::NotText { offset: 1 });
    }
}
