//! Letting the writer go first.

/// Lets every other thread go before the calling one. Whoever reads much beside a writer on a machine with few cores does this
/// first: the writer is woken for every call, and each time would have to wait until a reader's turn is over.
///
/// Where the system cannot do that for one thread, nothing happens.
#[cfg(target_os = "linux")]
pub fn give_way() {
    // On Linux this is about the calling thread. If it is refused, nothing is lost but time.
    let _ = rustix::process::setpriority_process(None, 19);
}

/// Lets every other thread go before the calling one, where the system can do that for one thread: not here.
#[cfg(not(target_os = "linux"))]
pub const fn give_way() {}
