//! The least a native messaging host can do: read a frame, parse it, and say its data back.

use std::io::{BufReader, Read, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The response; other messages are only parsed.
#[derive(Deserialize)]
struct Ping<'a> {
    request_id: &'a str,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// Answers until the input ends.
pub fn run() -> anyhow::Result<()> {
    let mut from = BufReader::with_capacity(64 << 10, std::io::stdin().lock());
    let mut to = std::io::stdout().lock();
    let (mut head, mut body, mut answer) = ([0; 4], Vec::new(), Vec::new());
    while from.read_exact(&mut head).is_ok() {
        body.resize(usize::try_from(u32::from_ne_bytes(head))?, 0);
        from.read_exact(&mut body)?;
        let ping: Ping<'_> = serde_json::from_slice(&body)?;
        let (id, data) = (ping.request_id, ping.data);
        answer.clear();
        answer.extend_from_slice(&[0; 4]);
        write!(
            answer,
            r#"{{"type":"ping_result","request_id":"{id}","result":{data}}}"#
        )?;
        let length = u32::try_from(answer.len() - 4)?;
        answer[..4].copy_from_slice(&length.to_ne_bytes());
        to.write_all(&answer)?;
        to.flush()?;
    }
    Ok(())
}
