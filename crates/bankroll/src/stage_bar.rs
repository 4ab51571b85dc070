//! The progress of a command that goes through the journal in several stages.

use bankroll_roles::audit;
use bankroll_store::AuditProgress;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error that names the stage; none with `--json`.
pub struct StageBar(ProgressBar);

impl StageBar {
    pub fn new(json: bool) -> anyhow::Result<Self> {
        let bar = if json { ProgressBar::hidden() } else { ProgressBar::no_length() };
        bar.set_style(style()?);
        Ok(Self(bar))
    }

    pub fn show(&self, stage: &'static str, progress: AuditProgress) {
        self.0.set_message(stage);
        self.0.set_length(progress.rows_total);
        self.0.set_position(progress.rows);
    }

    pub fn end(self) {
        self.0.finish_and_clear();
    }
}

fn style() -> anyhow::Result<ProgressStyle> {
    let template = "{msg:24} {wide_bar} {human_pos}/{human_len} {rate}/s {eta}";
    Ok(ProgressStyle::with_template(template)?.with_key("rate", audit::rate))
}
