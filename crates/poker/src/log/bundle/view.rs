//! A bundle for other programs to read: envelopes taken apart, bytes in hexadecimal, chips in decimal strings.

use serde::Serialize;

use super::Bundle;
use crate::log::{ActionEnvelope, Checkpoint, Cosignature, EnvelopeError, EventReceipt, LogHash, event_id};

/// A bundle taken apart. It is for reading: only the file itself can be verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundleView<'a> {
    pub format: &'static str,
    pub events: Vec<EventView<'a>>,
    pub checkpoint: &'a Checkpoint,
    /// What players signed of the end.
    pub cosignatures: &'a [Cosignature],
}

/// An event taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventView<'a> {
    pub id: LogHash,
    pub envelope: ActionEnvelope,
    /// The operator's receipt for it.
    pub receipt: &'a EventReceipt,
}

impl Bundle {
    /// The bundle taken apart.
    ///
    /// # Errors
    /// If an event is no envelope.
    pub fn view(&self) -> Result<BundleView<'_>, EnvelopeError> {
        let mut events = Vec::new();
        for entry in &self.entries {
            let envelope = ActionEnvelope::decode(&entry.envelope.0)?;
            events.push(EventView { id: event_id(&entry.envelope.0), envelope, receipt: &entry.receipt });
        }
        let (checkpoint, cosignatures) = (&self.checkpoint, self.cosignatures.as_slice());
        Ok(BundleView { format: "bankroll hand 1", events, checkpoint, cosignatures })
    }
}
