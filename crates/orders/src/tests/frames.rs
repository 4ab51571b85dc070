//! The length of a frame is checked before anything is allocated.

use std::io::{self, Cursor, ErrorKind, Read};

use crate::{FRAME_BYTES_MAX, frame};

fn read(bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    frame::read(&mut Cursor::new(bytes))
}

#[test]
fn frames_follow_each_other() {
    let mut stream = Vec::new();
    frame::write(&mut stream, b"one").unwrap();
    frame::write(&mut stream, &[7; FRAME_BYTES_MAX]).unwrap();
    assert_eq!(stream[..7], [0, 0, 0, 3, b'o', b'n', b'e']);
    let mut stream = Cursor::new(stream);
    assert_eq!(frame::read(&mut stream).unwrap().unwrap(), b"one");
    assert_eq!(frame::read(&mut stream).unwrap().unwrap(), [7; FRAME_BYTES_MAX]);
    assert_eq!(frame::read(&mut stream).unwrap(), None);
}

#[test]
fn illegal_lengths_are_refused_before_reading() {
    for length in [0, FRAME_BYTES_MAX as u32 + 1, u32::MAX] {
        let error = read(&length.to_be_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{length}");
    }
    for body in [vec![], vec![0; FRAME_BYTES_MAX + 1]] {
        let error = frame::write(&mut Vec::new(), &body).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn a_truncated_frame_is_an_error() {
    for bytes in [&[0][..], &[0, 0, 0], &[0, 0, 0, 3], &[0, 0, 0, 3, 1, 2]] {
        assert_eq!(read(bytes).unwrap_err().kind(), ErrorKind::UnexpectedEof, "{bytes:?}");
    }
}

#[test]
fn a_stream_that_delivers_byte_by_byte_is_read() {
    struct Slow(Cursor<Vec<u8>>, bool);
    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = into.len().min(1);
            self.0.read(&mut into[..length])
        }
    }
    let mut stream = Slow(Cursor::new(vec![0, 0, 0, 2, 5, 6]), false);
    assert_eq!(frame::read(&mut stream).unwrap().unwrap(), [5, 6]);
}
