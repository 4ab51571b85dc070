//! The report of the argument parser, as one sentence for programs.

/// The message in the parser's report: without its label, its usage line and its hint to the help.
#[must_use]
pub fn usage_message(report: &str) -> String {
    let report = report.trim_start().strip_prefix("error:").unwrap_or(report);
    let paragraphs = report.split("\n\n").map(sentence);
    let wanted = |text: &String| {
        let left_out = ["Usage:", "For more information"];
        !text.is_empty() && !left_out.iter().any(|start| text.starts_with(start))
    };
    paragraphs.filter(wanted).collect::<Vec<_>>().join("; ")
}

/// The lines of a paragraph in one: what follows a colon is a list.
fn sentence(paragraph: &str) -> String {
    let mut lines = paragraph.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| {
        let separator = if text.ends_with(':') { " " } else { ", " };
        format!("{text}{separator}{line}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_what_went_wrong_with_its_hints() {
        let check = |report: &str, message: &str| assert_eq!(usage_message(report), message);
        check(
            "error: unrecognized subcommand 'acounts'\n\n  tip: a similar subcommand exists: 'accounts'\n\n\
             Usage: bankroll [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.\n",
            "unrecognized subcommand 'acounts'; tip: a similar subcommand exists: 'accounts'",
        );
        check(
            "error: the following required arguments were not provided:\n  --from <DIR>\n  <NAME>\n\n\
             Usage: bankroll migrate-books --from <DIR>\n\nFor more information, try '--help'.\n",
            "the following required arguments were not provided: --from <DIR>, <NAME>",
        );
    }
}
