//! Any bytes, any decoder of the log: they are refused, or they are the one encoding of what was read. A bundle that is
//! read is also verified, which may not panic whatever it says.

#![no_main]

use bankroll_poker::log::{ActionEnvelope, Bundle, EventReceipt};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let bundle = Bundle::decode(bytes).ok();
    let written = [
        ActionEnvelope::decode(bytes).ok().map(|value| value.encode()),
        EventReceipt::decode(bytes).ok().map(|value| value.encode()),
        bundle.as_ref().map(Bundle::encode),
    ];
    for again in written.into_iter().flatten() {
        assert_eq!(again, bytes);
    }
    let _ = bundle.map(|bundle| bundle.verify(None));
});
