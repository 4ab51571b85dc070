//! Frames: a length of four bytes, then that many bytes. The caller provides the stream.

use std::io::{self, ErrorKind, Read, Write};

/// The longest frame; an order with sixteen approvals is much shorter.
pub const FRAME_BYTES_MAX: usize = 16 * 1024;

/// Writes one frame.
///
/// # Errors
/// Those of the stream, and `InvalidInput` for a body that is too long or empty.
pub fn write(stream: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).ok().filter(|_| is_legal(body.len()));
    let length = length.ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
    // In one call, so that a peer is not woken for the length alone.
    stream.write_all(&[&length.to_be_bytes(), body].concat())?;
    stream.flush()
}

/// Reads one frame; `None` if the stream ends before it begins.
///
/// The length is checked before anything is allocated.
///
/// # Errors
/// Those of the stream, `UnexpectedEof` in the middle of a frame, and `InvalidData` for a length that is not legal.
pub fn read(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let (first, rest) = length.split_at_mut(1);
    loop {
        match stream.read(first) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.read_exact(rest)?;
    let length = usize::try_from(u32::from_be_bytes(length)).ok().filter(|length| is_legal(*length));
    let mut body = vec![0; length.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))?];
    stream.read_exact(&mut body)?;
    Ok(Some(body))
}

const fn is_legal(length: usize) -> bool {
    length >= 1 && length <= FRAME_BYTES_MAX
}
