//! Native messaging frames: the length as four bytes in native order, then JSON.

use std::io::{self, BufRead, ErrorKind};

use super::wire::BridgeMessage;

/// Size limit of a frame from the browser.
pub const FROM_BROWSER: usize = 16 << 20;

/// Size limit of a frame to the browser; browsers close the connection at 1 MiB.
pub const TO_BROWSER: usize = 1_000_000;

/// Size limit of a message to the browser, in all its parts.
pub const MESSAGE: usize = 32 << 20;

/// Bytes per part: encoded as a JSON string it may double.
const PART: usize = 450_000;

/// Buffer capacity kept after a large frame.
const KEPT: usize = 256 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum FrameRead {
    /// A frame, which is in the buffer.
    Frame,
    /// The browser closed the pipe between two frames.
    End,
}

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame has {0} bytes; the limit is {FROM_BROWSER}")]
    TooLarge(u32),
    #[error("the browser closed the pipe in the middle of a message")]
    Cut,
    #[error("reading from the browser: {0}")]
    Io(#[from] io::Error),
}

/// Reads the next frame into a buffer, which grows with the received bytes, not with the announced length.
pub fn read(input: &mut impl BufRead, buffer: &mut Vec<u8>) -> Result<FrameRead, FrameError> {
    buffer.clear();
    buffer.shrink_to(KEPT);
    let mut head = [0; 4];
    let mut filled = 0;
    while filled < head.len() {
        match input.read(&mut head[filled..]) {
            Ok(0) if filled == 0 => return Ok(FrameRead::End),
            Ok(0) => return Err(FrameError::Cut),
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let announced = u32::from_ne_bytes(head);
    let length = usize::try_from(announced).unwrap_or(usize::MAX);
    if length > FROM_BROWSER {
        return Err(FrameError::TooLarge(announced));
    }
    let mut left = length;
    while left > 0 {
        let there = match input.fill_buf() {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if there.is_empty() {
            return Err(FrameError::Cut);
        }
        let taken = there.len().min(left);
        buffer.extend_from_slice(&there[..taken]);
        input.consume(taken);
        left -= taken;
    }
    Ok(FrameRead::Frame)
}

fn put(frames: &mut Vec<u8>, json: &str) {
    // No text here is longer than `TO_BROWSER`.
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    frames.extend_from_slice(&length.to_ne_bytes());
    frames.extend_from_slice(json.as_bytes());
}

/// Appends a message as one frame, or as several parts with this number, which the extension joins.
pub fn write(frames: &mut Vec<u8>, json: &str, number: u64) {
    if json.len() <= TO_BROWSER {
        return put(frames, json);
    }
    let pieces = pieces(json);
    let count = pieces.len();
    for (index, piece) in pieces.into_iter().enumerate() {
        let part = BridgeMessage::Part {
            part: format!("p{number}"),
            index,
            count,
            data: piece,
        };
        put(frames, &part.json());
    }
}

/// Cuts between characters.
fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > PART {
        // A character has at most four bytes.
        let cut = (PART - 3..=PART)
            .rev()
            .find(|at| text.is_char_boundary(*at));
        let (piece, rest) = text.split_at(cut.unwrap_or(PART));
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    pieces
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        reason = "a test that cannot go on should say where"
    )]
    use serde_json::{Value, json};

    use super::*;

    fn frames(mut bytes: &[u8]) -> Vec<Value> {
        let (mut found, mut buffer) = (Vec::new(), Vec::new());
        while read(&mut bytes, &mut buffer).unwrap() == FrameRead::Frame {
            assert!(buffer.len() <= TO_BROWSER);
            found.push(serde_json::from_slice(&buffer).unwrap());
        }
        found
    }

    #[test]
    fn a_long_message_is_cut_and_comes_together_again_whatever_is_in_it() {
        for text in [
            "\"\\".repeat(900_000),
            "é€😀".repeat(200_000),
            "x".repeat(1_000_001),
        ] {
            let message = json!({ "type": "x_result", "result": text }).to_string();
            let mut bytes = Vec::new();
            write(&mut bytes, &message, 7);
            let parts = frames(&bytes);
            assert!(parts.len() >= 2);
            let mut whole = String::new();
            for (index, part) in parts.iter().enumerate() {
                assert_eq!(part["type"], "part");
                assert_eq!(part["part"], "p7");
                assert_eq!(part["index"], index);
                assert_eq!(part["count"], parts.len());
                assert!(part["data"].as_str().unwrap().len() <= PART);
                whole += part["data"].as_str().unwrap();
            }
            assert_eq!(whole, message);
        }
    }

    #[test]
    fn what_fits_is_one_frame() {
        let message = format!("\"{}\"", "x".repeat(TO_BROWSER - 2));
        let mut bytes = Vec::new();
        write(&mut bytes, &message, 1);
        assert_eq!(bytes.len(), TO_BROWSER + 4);
    }

    #[test]
    fn a_length_alone_takes_no_memory() {
        let mut buffer = Vec::new();
        let lie = u32::try_from(FROM_BROWSER).unwrap().to_ne_bytes();
        let cut = read(&mut [&lie[..], b"{"].concat().as_slice(), &mut buffer);
        assert!(matches!(cut, Err(FrameError::Cut)));
        assert!(buffer.capacity() < 1024);
        let huge = u32::MAX.to_ne_bytes();
        let refused = read(&mut &huge[..], &mut buffer);
        assert!(matches!(refused, Err(FrameError::TooLarge(u32::MAX))));
    }
}
